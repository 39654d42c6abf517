import type { Locator, Page } from '@playwright/test';
import { expect, expectAccessible, expectFits, expectNews, faces, open, test } from './fixtures';
import { cart, wall } from './mock/carts';
import type { Mock } from './mock/mock';

const sara = 'LIVE5f0c91aa';
const panel = (page: Page): Locator => page.locator('section[aria-labelledby=live-carts]');
const place = (page: Page, slot: number): Locator => panel(page).locator(`[data-slot="${slot}"]`);

/** The section of a station that needs no key, with a wall, and something live where air says so. */
async function openWall(page: Page, mock: Mock, { language = 'en', live = true, filled = true }: { language?: 'ar' | 'en'; live?: boolean; filled?: boolean } = {}): Promise<void> {
  mock.control.key = '';
  if (filled) [mock.carts.version, mock.carts.pages] = [3, wall()];
  if (live) mock.live.take(sara);
  await open(page, '/studio#/live', language);
  await expect(panel(page)).toHaveAttribute('data-wall', !filled ? 'empty' : live ? 'open' : 'closed');
}

test('a press, a click and a key are heard, each once, and what plays shows how far it is', async ({ page, mock }) => {
  await openWall(page, mock);
  await place(page, 1).getByRole('button', { name: 'تصفيق' }).click();
  await expect(place(page, 1)).toHaveClass(/\bon\b/);
  await expect(place(page, 1).locator('.facts')).toContainText('left');
  await page.keyboard.press('x');
  await expect(place(page, 2)).toHaveClass(/\bon\b/);
  await page.keyboard.press('4');
  await page.keyboard.press('4'); // pressed twice means twice
  await expect.poll(() => mock.carts.playing.filter(({ slot }) => slot === 4).length).toBe(2);
  const fires = mock.carts.taken.filter(({ order }) => order === 'POST fire');
  expect(fires.map(({ body }) => [body.page, body.slot])).toEqual([[0, 1], [0, 2], [0, 4], [0, 4]]);
  expect(new Set(fires.map(({ body }) => body.request)).size).toBe(4);
  await expect(place(page, 2).locator('.name')).toHaveText('Wrong answer <b>buzzer</b>'); // text, never markup
  await place(page, 4).getByRole('button', { name: /^Stop .*خلفية المسابقة/ }).click();
  await expect.poll(() => mock.carts.playing.filter(({ slot }) => slot === 4).length).toBe(0);
});

test('keys go by their place on an Arabic keyboard, and none counts while something is typed', async ({ page, mock }) => {
  await openWall(page, mock);
  await page.evaluate(() => dispatchEvent(new KeyboardEvent('keydown', { key: 'ء', code: 'KeyX', bubbles: true, cancelable: true })));
  await page.evaluate(() => dispatchEvent(new KeyboardEvent('keydown', { key: '١', code: 'Digit1', bubbles: true, cancelable: true })));
  await expect.poll(() => mock.carts.taken.map(({ body }) => body.slot)).toEqual([2, 0]);
  await page.locator('section[aria-labelledby=live-show] input').first().fill('12x');
  await page.keyboard.press('1');
  await page.keyboard.press('Control+1');
  await page.locator('section[aria-labelledby=live-sources]').getByRole('button', { name: /address/i }).first().click();
  await page.locator('dialog[open] h2').click();
  await page.keyboard.press('1');
  await expect(page.locator('dialog[open]')).toBeVisible();
  expect(mock.carts.taken).toHaveLength(2);
});

test('Escape twice stops all, and once does nothing', async ({ page, mock }) => {
  await openWall(page, mock);
  await page.keyboard.press('1');
  await page.keyboard.press('4');
  await expect(place(page, 4)).toHaveClass(/\bon\b/);
  const escape = (times: number) => page.evaluate((times) => {
    for (let i = 0; i < times; i++) dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', code: 'Escape' }));
  }, times);
  await escape(1);
  await page.keyboard.press('x'); // by the time that this is heard a stop would have been sent
  await expect.poll(() => mock.carts.taken.map(({ order }) => order)).toEqual(['POST fire', 'POST fire', 'POST fire']);
  await escape(2);
  await expect.poll(() => mock.carts.playing.length).toBe(0);
  expect(mock.carts.taken.at(-1)).toEqual({ order: 'POST stop', body: {} });
  await expect(panel(page).getByRole('button', { name: 'Stop all' })).toBeDisabled();
});

test('a press whose answer was lost is sent again by its name and heard once', async ({ page, mock }) => {
  await openWall(page, mock);
  mock.carts.lost = 1;
  await place(page, 1).getByRole('button', { name: 'تصفيق' }).click();
  await expect.poll(() => mock.carts.taken.length).toBe(2);
  expect(mock.carts.taken[0]?.body).toEqual(mock.carts.taken[1]?.body);
  expect(mock.carts.playing).toHaveLength(1);
});

test('while nothing is live the buttons are closed, say why, and are heard by the studio alone', async ({ page, mock }) => {
  await openWall(page, mock, { live: false });
  await expect(panel(page)).toContainText('nothing live is on the air');
  await expect(place(page, 1).getByRole('button', { name: /^تصفيق/ })).toBeDisabled();
  await page.keyboard.press('1');
  const listen = place(page, 1).getByRole('button', { name: /^Listen to .*تصفيق.* alone$/ });
  await listen.click();
  await expect.poll(() => mock.asked.filter((path) => path.endsWith('/audio/ticket')).length).toBe(1);
  expect(mock.carts.taken).toEqual([]);
  mock.live.take(sara);
  await expect(panel(page)).toHaveAttribute('data-wall', 'open');
  await expect(place(page, 1).getByRole('button', { name: /^تصفيق/ })).toBeEnabled();
  // What ends between two looks is told by the station's word.
  mock.carts.refusal = { status: 409, detail: 'nothing live is on the air: put a source on the air first' };
  await place(page, 1).getByRole('button', { name: /^تصفيق/ }).click();
  await expectNews(page, 'Not heard: nothing live is on the air any more.');
});

test('a file that is gone and one that cannot be played say so on their buttons', async ({ page, mock }) => {
  await openWall(page, mock);
  await expect(place(page, 9)).toContainText('file missing');
  await expect(place(page, 9).getByRole('button', { name: /جرس/ })).toBeDisabled();
  await expect(place(page, 12)).toContainText('cannot be played');
  await page.keyboard.press('b');
  expect(mock.carts.taken).toEqual([]);
});

test('an empty wall explains itself and is set up from the library: searched, added, dragged, saved', async ({ page, mock }) => {
  await openWall(page, mock, { filled: false, live: false });
  await expect(panel(page)).toContainText('A cart is a button');
  await panel(page).getByRole('button', { name: 'Set up the wall' }).click();
  await panel(page).getByRole('searchbox').fill('jingles');
  const short = panel(page).locator('.search li').filter({ has: page.getByRole('button') });
  await short.nth(0).getByRole('button').click();
  await expect(place(page, 0).getByRole('button')).toHaveAccessibleName(/^Edit/);
  await short.nth(1).dragTo(place(page, 7).getByRole('button'));
  await expect(place(page, 7).getByRole('button')).toHaveAccessibleName(/^Edit/);
  await expect(place(page, 7).locator('kbd')).toHaveText('2'); // each has the next free key
  await panel(page).getByRole('searchbox').fill('arabic_hits');
  await expect(panel(page).locator('.search li').first()).toContainText('longer than a minute');
  await expect(panel(page).locator('.search').getByRole('button')).toHaveCount(0);
  await panel(page).getByRole('button', { name: 'Save the wall' }).click();
  await expect(panel(page)).toHaveAttribute('data-wall', 'closed');
  const { order, body } = mock.carts.taken[0] as { order: string; body: { version: number; pages: { name: string; carts: { slot: number; key: string }[] }[] } };
  expect([order, body.version, body.pages.map(({ name }) => name)]).toEqual(['PUT ', 0, ['Page 1']]);
  expect(body.pages[0]?.carts.map(({ slot, key }) => [slot, key])).toEqual([[0, '1'], [7, '2']]);
});

test('a cart is edited: label, colour, key, level, loop and place; a taken key is not offered', async ({ page, mock }) => {
  await openWall(page, mock);
  await panel(page).getByRole('button', { name: 'Edit the wall' }).click();
  await place(page, 1).getByRole('button').click();
  const dialog = page.getByRole('dialog', { name: 'Edit this cart' });
  await dialog.getByRole('textbox', { name: 'Label' }).fill('Applause');
  await dialog.getByLabel('Green').check();
  await expect(dialog.locator('select').first().locator('option', { hasText: 'X' })).toBeDisabled();
  await dialog.locator('select').first().selectOption('a');
  await dialog.locator('select').last().selectOption('3');
  await dialog.getByRole('slider').fill('-9');
  await dialog.getByLabel('Play again and again').check();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await expect(place(page, 3)).toContainText('Applause');
  await expect(place(page, 1).getByRole('button')).toHaveAccessibleName('Place 2, empty: choose a file');
  await place(page, 3).getByRole('button').dragTo(place(page, 0).getByRole('button')); // they change places
  await expect(place(page, 0)).toContainText('Applause');
  await expect(place(page, 3)).toContainText('الافتتاح');
  await page.keyboard.press('2'); // no key fires while the wall is edited
  await place(page, 9).getByRole('button').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Take it off the wall' }).click();
  await panel(page).getByRole('button', { name: 'Save the wall' }).click();
  await expectNews(page, 'The wall is saved');
  expect(mock.carts.taken).toHaveLength(1);
  const { order, body } = mock.carts.taken[0] as { order: string; body: { version: number; pages: { carts: { slot: number }[] }[] } };
  expect([order, body.version, body.pages.length]).toEqual(['PUT ', 3, 2]);
  expect(body.pages[0]?.carts[0]).toEqual({ slot: 0, file: 'jingles/1.mp3', label: 'Applause', colour: 'green', gainDb: -9, key: 'a', loop: true });
  expect(body.pages[0]?.carts.map(({ slot }) => slot)).toEqual([0, 2, 3, 4, 6, 7, 12]);
});

test('who saves over another is told, and chooses', async ({ page, mock }) => {
  await openWall(page, mock);
  await panel(page).getByRole('button', { name: 'Edit the wall' }).click();
  await panel(page).getByLabel('Name of this page').fill('Thursday');
  // Before the next look the station refuses; from then on the page says so by itself.
  mock.carts.refusal = { status: 409, detail: 'the cart wall was changed meanwhile' };
  await panel(page).getByRole('button', { name: 'Save the wall' }).click();
  [mock.carts.version, mock.carts.pages] = [4, [{ name: 'Theirs', carts: [cart(0, 'Theirs')] }]];
  await expect(panel(page).getByRole('alert')).toContainText('Somebody else changed the wall');
  await panel(page).getByRole('button', { name: 'Save mine over it' }).click();
  await expect(panel(page).getByRole('tab', { name: 'Thursday' })).toBeVisible();
  await expect.poll(() => mock.carts.taken.map(({ body }) => body.version)).toEqual([3, 4]);
  await panel(page).getByRole('button', { name: 'Edit the wall' }).click();
  mock.carts.version = 9;
  mock.carts.pages = [{ name: 'Theirs', carts: [cart(0, 'Theirs')] }];
  await expect(panel(page).getByRole('alert')).toContainText('Somebody else changed the wall');
  await expect(panel(page).getByRole('button', { name: 'Save the wall' })).toBeDisabled();
  await panel(page).getByRole('button', { name: 'Show theirs' }).click();
  await expect(place(page, 0)).toContainText('Theirs');
});

test('a draft is there again after another section was looked at, and is saved', async ({ page, mock }) => {
  await openWall(page, mock);
  await panel(page).getByRole('button', { name: 'Edit the wall' }).click();
  await panel(page).getByLabel('Name of this page').fill('Thursday');
  await page.evaluate(() => (location.hash = '#/library'));
  await expect(panel(page)).toHaveCount(0);
  await page.evaluate(() => (location.hash = '#/live'));
  await expect(panel(page)).toHaveAttribute('data-wall', 'edited');
  await expect(panel(page).getByLabel('Name of this page')).toHaveValue('Thursday');
  await panel(page).getByRole('button', { name: 'Save the wall' }).click();
  await expect(panel(page)).toHaveAttribute('data-wall', 'open');
  expect(mock.carts.taken.map(({ order, body }) => [order, body.version])).toEqual([['PUT ', 3]]);
  // What was saved is no draft any more.
  await page.evaluate(() => (location.hash = '#/library'));
  await expect(panel(page)).toHaveCount(0);
  await page.evaluate(() => (location.hash = '#/live'));
  await expect(panel(page)).toHaveAttribute('data-wall', 'open');
});

test('keys are turned off on a device, and Escape twice stops all still', async ({ page, mock }) => {
  await openWall(page, mock);
  await panel(page).getByRole('button', { name: 'Keys: on' }).click();
  await page.keyboard.press('1');
  await expect(place(page, 1).getByRole('button', { name: /تصفيق/ })).not.toHaveAttribute('aria-keyshortcuts');
  await page.reload();
  await expect(panel(page).getByRole('button', { name: 'Keys: off' })).toBeVisible();
  await page.keyboard.press('1');
  await place(page, 4).getByRole('button').first().click();
  await expect(place(page, 4)).toHaveClass(/\bon\b/);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await expect.poll(() => mock.carts.taken.map(({ order, body }) => [order, body.slot])).toEqual([['POST fire', 4], ['POST stop', undefined]]);
  await panel(page).getByRole('button', { name: 'Keys: off' }).click();
  await page.keyboard.press('1');
  await expect(place(page, 0)).toHaveClass(/\bon\b/);
});

test('pages are tabs that the arrow keys turn, and each has keys of its own', async ({ page, mock }) => {
  await openWall(page, mock);
  await panel(page).getByRole('tab', { name: 'سهرة الخميس' }).focus();
  await page.keyboard.press('ArrowRight');
  await expect(panel(page).getByRole('tab', { name: 'Effects' })).toBeFocused();
  await page.keyboard.press('1');
  await expect.poll(() => mock.carts.taken.at(-1)?.body).toMatchObject({ page: 1, slot: 0 });
});

for (const [role, edits, fires] of [['programme', true, true], ['presenter', false, true], ['viewer', false, false]] as const) {
  test(`what a ${role} may do with the wall`, async ({ page, mock }) => {
    [mock.carts.version, mock.carts.pages] = [3, wall()];
    mock.live.take(sara);
    const somebody = mock.people.add(role, role);
    expect((await page.request.post('/api/session', { data: { login: somebody.person.login, password: somebody.password } })).status()).toBe(200);
    await open(page, '/studio#/live', 'en');
    await expect(place(page, 1)).toBeVisible();
    await expect(panel(page).getByRole('button', { name: 'Edit the wall' })).toHaveCount(edits ? 1 : 0);
    await expect(panel(page).getByRole('button', { name: 'Stop all' })).toHaveCount(fires ? 1 : 0);
    await expect(place(page, 1).getByRole('button', { name: /^تصفيق/ })).toBeEnabled({ enabled: fires });
    await page.keyboard.press('1');
    await (fires ? expect(place(page, 0)).toHaveClass(/\bon\b/) : expect(panel(page)).toContainText('takes the right to the air'));
    expect(mock.carts.taken).toHaveLength(fires ? 1 : 0);
  });
}

for (const [language, theme] of faces) {
  test(`the wall is accessible, also as it is edited, and fits a phone: ${language}, ${theme}`, async ({ page, mock }) => {
    await page.emulateMedia({ colorScheme: theme });
    await openWall(page, mock, { language });
    await page.keyboard.press('4');
    await expect(place(page, 4)).toHaveClass(/\bon\b/);
    await expectAccessible(page, 'section[aria-labelledby=live-carts]');
    await expectFits(page);
    for (const button of await panel(page).getByRole('button').all()) {
      const box = await button.boundingBox();
      if (box) expect(Math.round(box.height), await button.textContent() ?? '').toBeGreaterThanOrEqual(44);
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    await panel(page).getByRole('button', { name: language === 'ar' ? 'تعديل اللوحة' : 'Edit the wall' }).click();
    await place(page, 1).getByRole('button').click();
    await expect(page.locator('dialog[open]')).toBeVisible();
    await expectAccessible(page);
    await expectFits(page);
  });
}
