import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { expect, expectAccessible, expectFits, expectNews, faces, open, test } from './fixtures';
import type { Mock } from './mock/mock';

// The listeners' figures in the studio: the curve and what aired beneath, tracks, devices and countries, royalties.

const curve = (page: Page) => page.locator('section[aria-labelledby=listeners-chart]');
const stage = (page: Page) => page.getByRole('slider');
const rows = (page: Page) => page.locator('tbody tr:not(.opened)');

async function openFigures(page: Page, mock: Mock, part = '', language: 'ar' | 'en' = 'en'): Promise<void> {
  mock.control.key = '';
  await open(page, `/studio#/listeners${part && `/${part}`}`, language);
  await expect(part ? page.locator(`#figures-${part}`) : stage(page)).toBeVisible();
}

/** Spans that the station was asked for, in hours. */
function spans(page: Page): number[] {
  const asked: number[] = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.pathname === '/api/telemetry/listeners') asked.push(Math.round((Number(url.searchParams.get('to')) - Number(url.searchParams.get('from'))) / 3_600_000));
  });
  return asked;
}

async function downloaded(page: Page, press: () => Promise<void>): Promise<{ name: string; text: string }> {
  const coming = page.waitForEvent('download');
  await press();
  const file = await coming;
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') };
}

test('the curve is read by the keyboard, with what was on beneath it, and a gap is a gap', async ({ page, mock }) => {
  await openFigures(page, mock);
  await expect(stage(page)).toHaveAttribute('aria-valuetext', /^Listeners over time: [\d.]+ on average, \d+ at the peak\.$/);
  await expect(page.locator('.band [data-block=music]').first()).toBeVisible();
  expect(((await page.locator('path.average').getAttribute('d')) ?? '').match(/M/g)).toHaveLength(2); // half an hour was not counted
  await stage(page).focus();
  await page.keyboard.press('End');
  const newest = await stage(page).getAttribute('aria-valuetext');
  expect(newest).toMatch(/ on average, \d+ to \d+, \d+ came, \d+ left, On the air: /);
  await page.keyboard.press('ArrowLeft');
  await expect(stage(page)).not.toHaveAttribute('aria-valuetext', newest as string);
  await page.keyboard.press('ArrowRight');
  await expect(stage(page)).toHaveAttribute('aria-valuetext', newest as string);
  await expect(curve(page).locator('.readout')).toContainText('On the air:');
  await page.keyboard.press('Escape');
  await expect(stage(page)).toHaveAttribute('aria-valuetext', /^Listeners over time/);
  // A pointer over what was not counted says so: three hours and a quarter before now.
  const box = (await stage(page).boundingBox())!;
  await page.mouse.move(box.x + box.width * (1 - 3.25 / 24), box.y + 40);
  await expect(curve(page).locator('.readout')).toContainText('Nothing was counted here.');
});

test('spans are chosen, zoomed, and dragged; what is seen is as fine as it is kept', async ({ page, mock }) => {
  const asked = spans(page);
  await openFigures(page, mock);
  const kind = curve(page).locator('header p');
  await expect(kind).toHaveText('by minute');
  await curve(page).getByRole('button', { name: '7 days' }).click();
  await expect(kind).toHaveText('by hour');
  await expect(curve(page)).toContainText('Zoom in to a day or less to see what aired.');
  await curve(page).getByRole('button', { name: 'Year' }).click();
  await expect(kind).toHaveText('by day');
  await curve(page).getByRole('button', { name: 'Hour', exact: true }).click();
  await expect(kind).toHaveText('by minute');
  await expect(page.locator('.band bdi').first()).toBeVisible(); // titles, where there is room
  await expect(curve(page).getByRole('button', { name: 'Later' })).toBeDisabled();
  await curve(page).getByRole('button', { name: 'Earlier' }).click();
  await expect(curve(page).getByRole('button', { name: 'Hour', exact: true })).toHaveAttribute('aria-pressed', 'false');
  await expect(curve(page).getByRole('button', { name: 'Later' })).toBeEnabled();
  const before = asked.length;
  await stage(page).focus();
  await page.keyboard.press('-');
  await expect.poll(() => asked.length).toBeGreaterThan(before);
  expect(asked.at(-1)).toBe(4); // two hours, and half as much on either side
  // Dragged to the right, what was before comes into sight; once it rests, the station is asked.
  const first = await page.locator('.axis span').first().textContent();
  const box = (await stage(page).boundingBox())!;
  await page.mouse.move(box.x + 100, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 60, box.y + 60, { steps: 6 });
  await page.mouse.up();
  await expect(page.locator('.axis span').first()).not.toHaveText(first as string);
  const shown = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10);
  await curve(page).getByLabel('One day').fill(shown);
  await expect(kind).toHaveText('by hour');
  await expect.poll(() => asked.at(-1)).toBeGreaterThan(40);
});

test('a finger taps to point and two pinch', async ({ browser, baseURL, mock }) => {
  mock.control.key = '';
  const context = await browser.newContext({ baseURL: baseURL as string, locale: 'en-GB', hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } });
  const page = await context.newPage();
  await open(page, '/studio#/listeners', 'en');
  await expect(page.locator('.band span').first()).toBeVisible();
  const box = (await stage(page).boundingBox())!;
  await page.touchscreen.tap(box.x + box.width / 2, box.y + 50);
  await expect(curve(page).locator('.readout')).toContainText(/came, \d+ left/);
  const kind = await page.locator('.axis span').allTextContents();
  await stage(page).evaluate((node, { x, width, y }) => {
    node.setPointerCapture = () => undefined; // these fingers are made up
    const finger = (type: string, id: number, at: number) => node.dispatchEvent(new PointerEvent(type, { pointerId: id, pointerType: 'touch', clientX: at, clientY: y + 50, bubbles: true, button: 0 }));
    finger('pointerdown', 1, x + width * 0.4);
    finger('pointerdown', 2, x + width * 0.6);
    finger('pointermove', 1, x + width * 0.1);
    finger('pointermove', 2, x + width * 0.9);
    finger('pointerup', 1, x + width * 0.1);
    finger('pointerup', 2, x + width * 0.9);
  }, box);
  await expect.poll(() => page.locator('.axis span').allTextContents()).not.toEqual(kind);
  await expect(page.locator('.ranges [aria-pressed=true]')).toHaveCount(0);
  await context.close();
});

test('the curve is a table too, and a file', async ({ page, mock }) => {
  await openFigures(page, mock);
  await curve(page).getByRole('button', { name: 'Hour', exact: true }).click();
  await expect(page.locator('.band bdi').first()).toBeVisible();
  await curve(page).getByRole('button', { name: 'Show as table' }).click();
  const table = curve(page).getByRole('table', { name: /^Listeners, / });
  await expect(table.getByRole('columnheader')).toHaveText(['When', 'Average', 'Least', 'Most', 'Came', 'Left', 'On the air']);
  await expect(table.locator('tbody tr').first()).toContainText(/\d/);
  const { name, text } = await downloaded(page, () => curve(page).getByRole('button', { name: 'Download (CSV)' }).click());
  expect(name).toMatch(/^listeners-\d{4}-\d\d-\d\d-minute\.csv$/);
  const lines = text.trim().split('\r\n');
  expect(lines.length).toBeGreaterThan(50);
  expect(lines.length).toBeLessThan(64);
  expect(text).not.toMatch(/(^|,)"?=SUM/m); // what would be a formula is text
});

test('tracks are sorted, searched and opened, and of too few nothing is claimed', async ({ page, mock }) => {
  await openFigures(page, mock, 'tracks');
  await expect(rows(page)).toHaveCount(50);
  await page.getByRole('button', { name: 'Kept' }).click();
  await expect(page.getByRole('columnheader', { name: 'Kept' })).toHaveAttribute('aria-sort', 'descending');
  await expect(rows(page).first()).toContainText('100%');
  expect(mock.operator.figures.asked).toHaveLength(1); // all of them are here
  await page.getByRole('button', { name: 'Show more' }).click();
  await expect(rows(page)).toHaveCount(130);
  await expect(rows(page).last()).not.toContainText('%');
  await expect(page.getByText('too few to say').first()).toBeVisible();
  await expect(page.getByText('not counted').first()).toBeVisible();
  const seek = page.getByLabel('Find in titles, artists and files');
  await seek.fill('slow river</b> 3');
  await expect(rows(page).first()).toContainText('<b>Slow River</b> 3'); // text, never markup
  const { text } = await downloaded(page, () => page.getByRole('button', { name: 'Download (CSV)' }).click());
  expect(text.trim().split('\r\n').length - 1).toBe(await rows(page).count());
  await seek.fill('=hyper');
  const whole = await downloaded(page, () => page.getByRole('button', { name: 'Download (CSV)' }).click());
  expect(whole.text).toContain(`"'=HYPERLINK(""x"")"`);
  await seek.fill('');
  await page.getByRole('combobox', { name: 'Category' }).selectOption('english');
  await expect.poll(() => mock.operator.figures.asked.at(-1)).toContain('category=english');
  const known = mock.library.tracks.find((track) => track.file.plays > 1)!;
  mock.operator.figures.tracks = [{ ...mock.operator.figures.tracks[0]!, file: known.path, title: 'Known' }];
  await page.getByRole('combobox', { name: 'Category' }).selectOption('');
  await page.getByRole('button', { name: 'Airings of Known' }).click();
  await expect(page.locator('.airings li').first()).toContainText(/at the start, \d+ came, \d+ left/);
  await expect(page.locator('.airings').getByRole('link', { name: 'Open in the library' })).toHaveAttribute('href', `#/library/track/${encodeURIComponent(known.path)}`);
});

test('a long list is asked for in another order under its table, which stays, and so does the focus', async ({ page, mock }) => {
  mock.operator.figures.most = 60;
  await openFigures(page, mock, 'tracks');
  await expect(rows(page)).toHaveCount(50);
  await expect(page.getByText('Only 60 tracks are listed.')).toHaveCount(1);
  let give = () => undefined as void;
  mock.operator.figures.held = new Promise((done) => (give = done));
  await page.getByRole('button', { name: 'Kept' }).click();
  await page.getByRole('button', { name: 'Left' }).click();
  await expect.poll(() => mock.operator.figures.asked.length).toBe(2);
  expect(mock.operator.figures.asked.at(-1)).toContain('sort=left');
  await expect(rows(page)).toHaveCount(50);
  await expect(page.getByRole('button', { name: 'Left' })).toBeFocused();
  give();
  await expect(page.getByRole('columnheader', { name: 'Left' })).toHaveAttribute('aria-sort', 'descending');
  await expect(rows(page)).toHaveCount(50);
});

test('a login that ends is asked for, and not told as silence', async ({ page, mock }) => {
  await page.clock.install();
  await openFigures(page, mock, 'crowd');
  await expect(page.locator('[data-part=EG]')).toBeVisible();
  mock.operator.figures.fails = 401;
  await page.clock.runFor(301_000);
  await expect(page.getByRole('main').getByRole('button', { name: 'Open' })).toBeVisible();
  await expect(page.getByText('The station is not answering')).toHaveCount(0);
});

test('an answer that comes late does not stand over a newer one, and what fails is tried again', async ({ page, mock }) => {
  let give = () => undefined as void;
  mock.operator.figures.held = new Promise((done) => (give = done));
  await openFigures(page, mock, 'tracks');
  await expect.poll(() => mock.operator.figures.asked.length).toBe(1);
  await expect(page.getByText('Loading…')).toBeVisible();
  const all = mock.operator.figures.tracks;
  mock.operator.figures.tracks = [{ ...all[1]!, title: 'The newer answer' }];
  await page.getByRole('button', { name: '30 days' }).click();
  await expect(rows(page)).toHaveCount(1);
  give();
  await page.getByRole('button', { name: 'Airings of The newer answer' }).click(); // time in which the older would have come
  await expect(rows(page)).toHaveCount(1);
  mock.operator.figures.fails = 503;
  await page.getByRole('button', { name: 'Year' }).click();
  await expect(page.getByText('The figures cannot be loaded at the moment.')).toBeVisible();
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(rows(page)).toHaveCount(1);
  mock.operator.figures.tracks = [];
  await page.getByRole('button', { name: '7 days' }).click();
  await expect(page.getByText('No track aired in this span')).toBeVisible();
});

test('devices and countries are told in the page’s language, and how to have countries where there are none', async ({ page, mock }) => {
  await openFigures(page, mock, 'crowd', 'ar');
  await expect(page.locator('[data-part=EG]')).toContainText('مصر');
  await expect(page.locator('[data-part=EG]')).toContainText('٦٤٪');
  await expect(page.locator('[data-part=speaker]')).toContainText('سماعات ذكية');
  await page.getByRole('button', { name: 'عرض الكل' }).click();
  await expect(page.locator('[data-part=ZZ]')).toContainText('غير معروف');
  const { text } = await downloaded(page, () => page.getByRole('button', { name: 'تنزيل (CSV)' }).click());
  expect(text).toContain('مصر');
  mock.operator.figures.crowd = { ...mock.operator.figures.crowd, countries: [], geo: { on: false, file: '/data/geo.mmdb', problem: 'open /data/geo.mmdb: no such file' } };
  await page.getByRole('button', { name: '٧ أيام' }).click();
  await expect(page.locator('[data-geo=off] code')).toHaveText(['geoip_file', 'athir.yaml']);
  expect(await page.locator('[data-geo=off] code').first().evaluate((code) => getComputedStyle(code).direction)).toBe('ltr');
  await expect(page.getByText('open /data/geo.mmdb: no such file')).toBeVisible();
});

test('royalties are of the last month, tell what is missing, and are downloaded in the form’s own columns', async ({ page, mock }) => {
  await openFigures(page, mock, 'royalties');
  const now = new Date();
  const last = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1)).toISOString().slice(0, 7);
  const month = page.getByLabel('Month');
  await expect.poll(() => mock.operator.figures.asked[0]).toBe(`royalties?month=${last}`);
  await expect(page.getByText(/is not over/)).toHaveCount(0);
  await expect(page.getByText('A performance is one recording heard by one listener')).toBeVisible();
  await expect(page.getByText(/^For 1 hr 30 mins? nobody was counted/)).toBeVisible();
  await page.getByRole('button', { name: /^Artist: \d/ }).click();
  await expect(rows(page)).toHaveCount(Number(((await page.getByRole('button', { name: /^Artist: / }).textContent()) ?? '').replace(/\D/g, '')));
  await page.getByLabel('Listeners as').selectOption('hours');
  const report = await downloaded(page, () => page.getByRole('button', { name: 'Download (CSV)' }).click());
  expect([report.name, mock.operator.figures.asked.at(-1)]).toEqual([`report-of-use-${last}.csv`, `royalties?month=${last}&form=soundexchange&format=csv&measure=hours&transmission=A`]);
  const before = mock.operator.figures.asked.length;
  await page.locator('label', { hasText: /^Form/ }).locator('select').selectOption('cue');
  await expect(rows(page).first()).toBeVisible();
  expect(mock.operator.figures.asked).toHaveLength(before); // the figures are the same for either form
  const { name, text } = await downloaded(page, () => page.getByRole('button', { name: 'Download (CSV)' }).click());
  expect(name).toBe(`cue-sheet-${last}.csv`);
  expect(text).toContain('Title,Performer');
  await month.selectOption({ index: 0 });
  await expect(page.getByText(/is not over: this is what aired so far/)).toBeVisible();
  mock.operator.figures.firstMonth = '2999-01';
  await month.selectOption({ index: 5 });
  await expect(page.getByText('No music aired in this month')).toBeVisible();
});

test('a report that cannot be downloaded says why', async ({ page, mock }) => {
  await openFigures(page, mock, 'royalties');
  await expect(rows(page).first()).toBeVisible();
  mock.operator.figures.fails = 503;
  await page.getByRole('button', { name: 'Download (CSV)' }).click();
  await expectNews(page, 'Part of the station is down.');
});

test('figures that want a key ask for it', async ({ page, mock }) => {
  await open(page, '/studio#/listeners/crowd', 'en');
  await page.getByRole('main').getByRole('button', { name: 'Open' }).click();
  await page.getByLabel('Station key').fill(mock.control.key);
  await page.keyboard.press('Enter');
  await expect(page.locator('[data-part=EG]')).toContainText('Egypt');
});

for (const [language, colorScheme] of faces) {
  test(`axe finds nothing in the figures, and they fit a phone: ${language} ${colorScheme}`, async ({ page, mock }) => {
    await page.emulateMedia({ colorScheme });
    await openFigures(page, mock, '', language);
    await curve(page).locator('.ranges button').first().click();
    await expect(page.locator('.band bdi').first()).toBeVisible();
    await stage(page).focus();
    await page.keyboard.press('End');
    await curve(page).locator('.after button').first().click();
    await expectAccessible(page, 'section[aria-labelledby=listeners-chart]');
    await expectFits(page);
    for (const part of ['tracks', 'crowd', 'royalties']) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.evaluate((hash) => (location.hash = hash), `#/listeners/${part}`);
      await expect(page.locator('tbody tr, [data-part]').first()).toBeVisible();
      if (part === 'tracks') await page.locator('.row').first().click();
      await expectAccessible(page);
      await expectFits(page);
    }
    mock.operator.figures.crowd = { ...mock.operator.figures.crowd, countries: [], geo: { on: false } };
    await page.evaluate(() => (location.hash = '#/listeners/crowd'));
    await expect(page.locator('[data-geo=off]')).toBeVisible();
    await expectAccessible(page);
  });
}
