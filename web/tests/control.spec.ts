import type { Page } from '@playwright/test';
import { expect, expectAccessible, expectNews, faces, open, stopClock, test } from './fixtures';

const rotation = (page: Page) => page.locator('section[aria-labelledby=rotation]');
const toasts = (page: Page) => page.getByRole('log');

async function give(page: Page, key: string): Promise<void> {
  const door = page.getByRole('dialog', { name: 'The station’s key' });
  await door.getByLabel('Station key').fill(key);
  await door.getByLabel('Station key').press('Enter');
}

test('looking asks for no key; the first order does, and goes through once the key is right', async ({ page, mock }) => {
  await open(page, '/studio', 'en');
  await expect(rotation(page).locator('ol li')).toHaveCount(120);
  expect(mock.asked.filter((path) => path.startsWith('/api/station/') && path !== '/api/station/queue')).toEqual([]); // which everybody may look at here
  await expect(page.getByRole('dialog')).toHaveCount(0);

  await page.getByRole('button', { name: 'Skip' }).click();
  await give(page, 'a wrong one');
  await expect(page.getByRole('alert')).toHaveText('This is not the station’s key.');
  expect(mock.control.taken).toEqual([]);
  await give(page, mock.control.key);
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expectNews(page, 'On the air: ZAP');
  expect(mock.control.taken.map((t) => t.order)).toEqual(['POST skip']);
  expect(await page.evaluate(() => [sessionStorage.length, localStorage.getItem('athir.station-key')])).toEqual([1, null]);

  await page.reload();
  await page.getByRole('button', { name: 'Skip' }).click();
  await expectNews(page, /On the air: .?شاي بالنعناع/);
});

test('a remembered key stays on the device, and a stale one is asked for again', async ({ page, mock }) => {
  await open(page, '/studio', 'en');
  await page.getByRole('button', { name: 'Rebuild' }).click();
  await page.getByLabel('Remember on this device').check();
  await give(page, mock.control.key);
  await expectNews(page, 'The rotation was rebuilt.');
  expect(await page.evaluate(() => [localStorage.getItem('athir.station-key'), sessionStorage.length])).toEqual([mock.control.key, 0]);
  mock.control.key = 'another';
  await page.getByRole('button', { name: 'Rebuild' }).click();
  await expect(page.getByRole('alert')).toHaveText('The saved key is no longer valid.');
  await page.keyboard.press('Escape');
  await expectNews(page, 'Nothing was done');
  expect(await page.evaluate(() => localStorage.getItem('athir.station-key'))).toBeNull();
});

test('too many wrong keys: the door says how long it stays shut, and opens again', async ({ page, mock }) => {
  mock.control.patience = 1;
  mock.control.waitSeconds = 600;
  await page.clock.install(); // the wait passes when the test says so, however slow the machine is
  await open(page, '/studio', 'en');
  await page.getByRole('button', { name: 'Rebuild' }).click();
  await give(page, 'one');
  await expect(page.getByRole('alert')).toHaveText('This is not the station’s key.'); // the door takes one at a time
  await give(page, 'two');
  await expect(page.getByRole('alert')).toContainText(/Too many wrong keys.*min/);
  await expect(page.getByRole('button', { name: 'Open' })).toBeDisabled();
  mock.control.forgive();
  await page.clock.fastForward(601_000);
  await expect(page.getByRole('button', { name: 'Open' })).toBeEnabled();
  await give(page, mock.control.key);
  await expectNews(page, 'The rotation was rebuilt.');
});

test('skip is seen to wait until the new track is heard', async ({ page, mock }) => {
  mock.control.key = '';
  mock.heardAfterMs = Infinity;
  await open(page, '/studio', 'en');
  await page.getByRole('button', { name: 'Skip' }).click();
  await expect(page.getByText('Waiting to hear it…')).toBeVisible();
  await page.getByRole('button', { name: 'Skip' }).dispatchEvent('click'); // impatience orders nothing twice
  mock.hear();
  await expectNews(page, 'On the air: ZAP');
  await expect(page.getByText('Waiting to hear it…')).toBeHidden();
  expect(mock.control.taken).toHaveLength(1);
});

test('while a live broadcast is on, skip and play are closed and say why', async ({ page, mock }) => {
  mock.control.live = true;
  await open(page, '/studio', 'en');
  await expect(page.getByRole('button', { name: 'Skip' })).toBeDisabled();
  await expect(page.getByRole('button', { name: 'Play now…' })).toBeDisabled();
  await expect(page.getByText('A live broadcast is on the air')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Rebuild' })).toBeEnabled();
});

test('a refusal is told in the problem’s own words, as text', async ({ page, mock }) => {
  mock.control.key = '';
  mock.control.refusal = { status: 409, body: { title: 'Conflict', detail: '<img src=x onerror=alert(1)> a live broadcast is on the air' } };
  await open(page, '/studio', 'en');
  await page.getByRole('button', { name: 'Skip' }).click();
  await expectNews(page, 'Not possible at the moment.');
  await expectNews(page, '<img src=x onerror=alert(1)> a live broadcast');
  await page.getByRole('button', { name: 'Close' }).click();
  await expect(toasts(page).locator('li')).toHaveCount(0);
});

test('an order that nobody answers is said, never swallowed', async ({ page, mock }) => {
  mock.control.key = '';
  await page.addInitScript(() => {
    const own = globalThis as { asking?: number };
    const ask = fetch;
    own.asking = 0;
    globalThis.fetch = async (...request) => {
      own.asking = (own.asking ?? 0) + 1;
      return ask(...request).finally(() => (own.asking = (own.asking ?? 0) - 1));
    };
  });
  await page.clock.install();
  await open(page, '/studio', 'en');
  await expect(rotation(page).locator('ol li')).toHaveCount(120);
  mock.apiDown = true;
  await page.getByRole('button', { name: 'Skip' }).click();
  await expectNews(page, 'The control plane did not answer.');
  await expect(page.getByRole('button', { name: 'Try again' })).toBeVisible();
  await stopClock(page); // the button alone asks again
  // What the page asked in the minute that passed must not find the station back.
  await expect.poll(() => page.evaluate(() => (globalThis as { asking?: number }).asking)).toBe(0);
  await expect(page.getByRole('button', { name: 'Try again' })).toBeVisible();
  mock.apiDown = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.clock.runFor(1);
  await expect(page.getByRole('button', { name: 'Try again' })).toBeHidden();
});

test('a track is found and put on the air by the keyboard alone', async ({ page, mock }) => {
  await open(page, '/studio', 'en');
  const order = page.getByRole('button', { name: 'Play now…' });
  const focused = (): Promise<boolean> => order.evaluate((button) => button === document.activeElement);
  for (let i = 0; i < 30 && !(await focused()); i++) await page.keyboard.press('Tab'); // past the sections, however many there are
  await expect(order).toBeFocused();
  await page.keyboard.press('Enter');
  const search = page.getByRole('combobox', { name: 'Search the library' });
  await expect(search).toBeFocused();
  await expect(page.getByRole('option')).toHaveCount(10); // what the planner would choose of each category
  await page.keyboard.type('river');
  await expect(page.getByRole('option').first()).toContainText('Slow River');
  await expect(page.getByRole('dialog').getByRole('status')).toContainText('matches'); // of the whole word
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('option').nth(2)).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Enter');
  await expect(page.getByLabel('Station key')).toBeFocused(); // asked for once the station has refused
  await page.keyboard.type(mock.control.key);
  await page.keyboard.press('Enter');
  await expectNews(page, 'On the air:');
  expect(mock.control.taken).toEqual([{ order: 'POST play', body: { category: 'english', file: 'music/english/Slow_River_37.mp3' } }]);
});

test('a search that is answered late leaves the choice on the track that the arrow keys put it on', async ({ page }) => {
  let answer = (): void => {};
  const late = new Promise<void>((done) => (answer = done));
  await page.route(/\?q=river&/, async (route) => (await late, route.continue()));
  await open(page, '/studio', 'en');
  await page.getByRole('button', { name: 'Play now…' }).click();
  const search = page.getByRole('combobox', { name: 'Search the library' });
  await search.fill('rive');
  await expect(page.getByRole('option').nth(2)).toContainText('Slow River');
  await search.fill('river');
  await search.press('ArrowDown');
  await search.press('ArrowDown');
  await expect(page.getByRole('option').nth(2)).toHaveAttribute('aria-selected', 'true');
  answer();
  await expect(page.getByRole('dialog').getByRole('status')).toContainText('matches');
  await expect(page.getByRole('option').nth(2)).toHaveAttribute('aria-selected', 'true');
});

test('an entry of the queue says why it stands there, what gave way for it and when it is due', async ({ page, mock }) => {
  await open(page, '/studio', 'en');
  const rows = rotation(page).locator('ol > li');
  await expect(rows).toHaveCount(120);
  await expect(rotation(page).getByRole('heading', { level: 3, name: 'Aired' })).toHaveCount(1);
  await expect(rotation(page).getByRole('heading', { level: 3, name: /^From \d{1,2}:\d\d/ }).first()).toBeVisible();
  await expect(rows.nth(41)).toContainText('Rules relaxed: Artist separation, Same hour');
  await expect(rotation(page).getByText(/^due \d{1,2}:\d\d:00$/).first()).toBeAttached();
  await expect(rotation(page).getByText(/Clock: .?سهرة النيل/).first()).toBeAttached();
  await expect(rotation(page).getByText(/Votes .?\+7/).first()).toBeAttached();
  await rows.nth(41).getByRole('button', { name: /^Why/ }).click();
  await expect(rows.nth(41)).toContainText('turn 3; one of 214 in');
  await expect(rows.nth(41)).toContainText('31 tracks');
  await expect(rows.nth(41)).toContainText('songs by one artist are kept apart');
  await expect(rows.nth(41)).toContainText('such as music/arabic_hits/<b>ليل</b>.mp3'); // text, never markup
  // A rule of a later station is said in its own words once a control has opened.
  mock.control.key = '';
  await page.getByRole('button', { name: 'Rebuild' }).click();
  await expect(rows.nth(41)).toContainText('drums wait for noon');
});

test('the queue follows the air, but never against the reader', async ({ page, mock }) => {
  await open(page, '/studio', 'en');
  const current = rotation(page).locator('[aria-current]');
  await expect(current).toContainText('يا مسافر وحدك');
  mock.scene = { ...mock.scene, index: 5, startedAt: Date.now() };
  await expect(current).toContainText('شاي بالنعناع');
  await expect(current).toBeInViewport();
  const reading = rotation(page).locator('ol > li').nth(90);
  await reading.scrollIntoViewIfNeeded();
  const back = rotation(page).getByRole('button', { name: 'Back to what is on the air' });
  await expect(back).toBeVisible();
  mock.scene = { ...mock.scene, index: 7, startedAt: Date.now() };
  await expect(current).toContainText('Slow River');
  await expect(reading).toBeInViewport();
  await expect(current).not.toBeInViewport();
  await back.click();
  await expect(current).toBeInViewport();
  await expect(back).toBeHidden();
});

for (const [language, colorScheme] of faces) {
  test(`axe finds nothing in what opens over the studio: ${language} ${colorScheme}`, async ({ page, mock }) => {
    await page.emulateMedia({ colorScheme });
    mock.scene.entries = 50; // axe reads the whole page each time
    await page.clock.install();
    await open(page, '/studio', language);
    await expect(rotation(page).locator('ol > li')).toHaveCount(50);
    await rotation(page).locator('ol > li').nth(41).locator('.ask').click();
    await expect(rotation(page).locator('.passed')).toBeVisible();
    await expectAccessible(page, 'section[aria-labelledby=rotation] li:has(.passed)');
    await page.locator('.orders button').nth(1).click();
    await page.getByRole('combobox').fill('ليل');
    await expect(page.getByRole('option').first()).toContainText('ليل');
    await expectAccessible(page, 'dialog[open]');
    await page.keyboard.press('Enter');
    await expect(page.locator('#station-key')).toBeVisible();
    await expectAccessible(page, 'dialog[open]');
    await stopClock(page); // the news stays
    await page.keyboard.press('Escape');
    mock.control.refusal = { status: 409, body: { detail: 'no' } };
    mock.control.key = '';
    await page.locator('.orders button').first().click();
    await expect(toasts(page).locator('li')).toHaveCount(2);
    await page.clock.resume(); // axe needs it
    await expectAccessible(page, '.toasts');
  });
}
