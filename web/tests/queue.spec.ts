import type { Locator, Page } from '@playwright/test';
import type { Role } from '../src/studio/rights';
import { expect, expectAccessible, expectFits, expectNews, faces, open, test } from './fixtures';
import type { Mock } from './mock/mock';

// The queue by hand: what is to come is moved, inserted, removed, held and released, and what that breaks is said before.

const rotation = (page: Page) => page.locator('section[aria-labelledby=rotation]');
const rows = (page: Page) => rotation(page).locator('[data-place]');
const row = (page: Page, title: string) => rows(page).filter({ hasText: title }).first();
const bar = (page: Page) => rotation(page).locator('.bar');
const titles = (page: Page, n = 8) => rows(page).evaluateAll((all, most) => all.slice(0, most).map((one) => one.querySelector('.names bdi')?.textContent ?? ''), n);
const orders = (mock: Mock) => mock.hand.taken.map(({ order, body }) => ({ order, ...body }));

/** The page is told of another rotation. */
const told = (mock: Mock) => (mock.scene = { ...mock.scene, builtAt: Date.now() });

// What is to come in the stand-in, from the first.
const coming = ['ZAP', 'شاي بالنعناع', 'نشرة التاسعة', 'Slow River', 'رمل وبحر (Remix)', 'إعلان', 'شمس الصعيد', 'Second Balcony', 'صوت أثير'];

/** Opens the studio as somebody who is logged in. */
async function as(page: Page, mock: Mock, role: Role, path = '/studio', language: 'ar' | 'en' = 'en'): Promise<void> {
  const kept = mock.people.add(role, role);
  const answer = await page.request.post('/api/session', { data: { login: kept.person.login, password: kept.password } });
  expect(answer.status()).toBe(200);
  await open(page, path, language);
  if (path === '/studio') await expect(rows(page).first()).toBeVisible();
}

/** The middle of the grip of a row. */
async function grip(page: Page, title: string): Promise<{ x: number; y: number }> {
  const handle = row(page, title).locator('.grip');
  await handle.scrollIntoViewIfNeeded();
  return middle(handle);
}
async function middle(one: Locator): Promise<{ x: number; y: number; height: number }> {
  const { x, y, width, height } = (await one.boundingBox())!;
  return { x: x + width / 2, y: y + height / 2, height };
}

/** Takes a row up with the mouse. */
async function take(page: Page, title: string): Promise<void> {
  await row(page, title).locator('.grip').hover();
  await page.mouse.down();
}

/** Carries what is taken up before another row, until the page says so: the list may have moved since that was looked for. */
async function aim(page: Page, title: string, says: string | RegExp, to = (y: number) => page.mouse.move(700, y, { steps: 6 })): Promise<void> {
  await expect(async () => {
    const { y, height } = await middle(row(page, title));
    await to(y - height / 2 + 3);
    await expect(rotation(page).locator('.aim')).toContainText(says, { timeout: 2000 });
    expect(Math.abs((await middle(row(page, title))).y - y)).toBeLessThan(height / 3); // it is the place still
  }).toPass();
}

test.use({ viewport: { width: 1440, height: 1000 } });

test('a row is carried by the mouse, done at once where it breaks nothing, and taken back', async ({ page, mock }) => {
  await as(page, mock, 'presenter');
  expect(await titles(page, 9)).toEqual(coming);
  await take(page, 'Second Balcony');
  await aim(page, 'رمل وبحر', 'It breaks no rule.');
  expect(await titles(page, 9)).toEqual(coming); // the rows stand still under the pointer
  await page.mouse.up();
  await expectNews(page, 'Second Balcony was moved.');
  await expect.poll(() => titles(page, 6)).toEqual([...coming.slice(0, 4), 'Second Balcony', 'رمل وبحر (Remix)']);
  expect(orders(mock)).toEqual([{ order: 'POST queue/edit', version: '1', op: 'move', position: 45, to: 42 }]);
  await expect(rotation(page).getByText('8 held by hand')).toBeVisible();
  await expect(row(page, 'Second Balcony')).toHaveClass(/locked/);

  await page.getByRole('log').getByRole('button', { name: 'Undo' }).click();
  await expectNews(page, 'Undone.');
  await expect.poll(() => titles(page, 9)).toEqual(coming);
  await expect(rotation(page).getByText(/held by hand/)).toHaveCount(0);
});

test('what a place breaks is said beside it on the way, and asked about when it is let go', async ({ page, mock }) => {
  await as(page, mock, 'presenter');
  await take(page, 'شمس الصعيد');
  await aim(page, 'شاي بالنعناع', /نشرة التاسعة.* at \d+:\d\d would be \d mins? late/);
  await page.mouse.up();
  await expect(bar(page)).toContainText('Move anyway?');
  expect(mock.hand.taken).toEqual([]);
  await bar(page).getByRole('button', { name: 'Cancel' }).click();
  await expect(bar(page)).toHaveCount(0);
  expect(await titles(page, 9)).toEqual(coming);

  await take(page, 'شمس الصعيد');
  await aim(page, 'شاي بالنعناع', /نشرة التاسعة/);
  await page.keyboard.press('Escape'); // on the way nothing has happened
  await page.mouse.up();
  expect(await titles(page, 9)).toEqual(coming);
  expect(mock.hand.taken).toEqual([]);
});

test('by keys a row is moved step by step as one order, asked about, held, removed and released', async ({ page, mock }) => {
  await as(page, mock, 'presenter');
  await expect(rotation(page).getByText('Alt with ↑ or ↓ moves')).toBeVisible();
  await row(page, 'إعلان').focus();
  await expect(row(page, 'إعلان')).toHaveAttribute('aria-keyshortcuts', /Alt\+ArrowUp/);
  await page.keyboard.press('ArrowDown');
  await expect(row(page, 'شمس الصعيد')).toBeFocused();
  let answer = (): void => {};
  mock.hand.gate = new Promise((done) => (answer = done));
  await page.keyboard.press('Alt+ArrowUp');
  await page.keyboard.press('Alt+ArrowUp');
  await expect(rotation(page).getByRole('status').last()).toContainText('شمس الصعيد');
  answer();
  await expectNews(page, /شمس الصعيد.? was moved/);
  expect(orders(mock)).toEqual([{ order: 'POST queue/edit', version: '1', op: 'move', position: 44, to: 42 }]); // two steps are one order
  await expect(row(page, 'شمس الصعيد')).toBeFocused();
  expect((await titles(page, 6)).slice(3)).toEqual(['Slow River', 'شمس الصعيد', 'رمل وبحر (Remix)']);

  for (let i = 0; i < 3; i++) await page.keyboard.press('Alt+ArrowUp');
  await expect(bar(page)).toContainText('Move anyway?');
  await page.keyboard.press('Escape');
  await expect(bar(page)).toHaveCount(0);
  await expect(row(page, 'شمس الصعيد')).toBeFocused();
  for (let i = 0; i < 3; i++) await page.keyboard.press('Alt+ArrowUp');
  await expect(bar(page)).toContainText('Move anyway?');
  await page.keyboard.press('Enter');
  await expect.poll(() => mock.hand.files(2)).toEqual(['ZAP', 'شمس الصعيد']);
  await expect(row(page, 'شمس الصعيد')).toBeFocused();

  await row(page, 'Slow River').focus();
  await page.keyboard.press('Delete');
  await expectNews(page, 'Slow River was removed.');
  await expect.poll(() => titles(page, 5)).not.toContain('Slow River');
  await row(page, 'Second Balcony').focus();
  await page.keyboard.press('l');
  await expectNews(page, 'Held by hand up to Second Balcony.');
  await expect(rotation(page).getByText('Held by hand up to here')).toBeVisible();
  await page.keyboard.press('l');
  await expectNews(page, 'Released.');
  await expect(row(page, 'Second Balcony')).not.toHaveClass(/locked/);
  await page.keyboard.press('Enter');
  await expect(rotation(page).getByText('Why it was chosen')).toBeVisible();
  await page.keyboard.press('Control+z');
  await expectNews(page, 'Undone.');
  await expect(row(page, 'Second Balcony')).toHaveClass(/locked/);
  await rotation(page).getByRole('button', { name: 'Release what is held by hand' }).first().click(); // above the list, as below what is held
  await expect.poll(() => mock.hand.held).toBe(0);
});

test('the newest place alone is judged, however late an older answer comes', async ({ page, mock }) => {
  await as(page, mock, 'presenter');
  let answer = (): void => {};
  mock.hand.gate = new Promise((done) => (answer = done));
  await row(page, 'شمس الصعيد').focus();
  await page.keyboard.press('Alt+ArrowUp');
  await expect.poll(() => mock.hand.checks.length).toBe(1);
  await page.keyboard.press('Alt+ArrowUp');
  await expect.poll(() => mock.hand.checks.length).toBe(2);
  expect(mock.hand.taken).toEqual([]);
  answer();
  await expectNews(page, /شمس الصعيد.? was moved/);
  expect(orders(mock)).toEqual([{ order: 'POST queue/edit', version: '1', op: 'move', position: 44, to: 42 }]);
});

test('a queue that changed meanwhile keeps what was meant: the same file at the same neighbour', async ({ page, mock }) => {
  await as(page, mock, 'presenter');
  // Elsewhere the first two were taken away: another version, other positions.
  mock.hand.rebuild((entries) => entries.slice(2));
  await row(page, 'Second Balcony').focus();
  await page.keyboard.press('Alt+ArrowUp');
  await expectNews(page, 'Second Balcony was moved.');
  await expect.poll(() => mock.hand.files(7)).toEqual(['نشرة التاسعة', 'Slow River', 'رمل وبحر (Remix)', 'إعلان', 'Second Balcony', 'شمس الصعيد', 'صوت أثير']);
  await expect.poll(() => titles(page, 2)).toEqual(['نشرة التاسعة', 'Slow River']);
});

test('an edit that comes too late is done where it was meant, and says so; where nothing can be changed that is said', async ({ page, mock }) => {
  await as(page, mock, 'presenter');
  await page.route('**/api/station/queue/edit', async (route) => {
    mock.hand.rebuild((entries) => entries.slice(1)); // between the question and the order
    await route.continue();
  }, { times: 1 });
  await row(page, 'Second Balcony').focus();
  await page.keyboard.press('Alt+ArrowUp');
  await expectNews(page, 'The queue changed in the meantime. Second Balcony keeps its neighbours.');
  await expect.poll(() => mock.hand.files(7)).toEqual(['شاي بالنعناع', 'نشرة التاسعة', 'Slow River', 'رمل وبحر (Remix)', 'إعلان', 'Second Balcony', 'شمس الصعيد']);

  mock.hand.closed = true;
  await row(page, 'Slow River').locator('.more').click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await expectNews(page, 'the rotation is being rebuilt');
  expect(mock.hand.files(3)).toContain('Slow River');
});

test('the orders of a row: next, now, another place, held to here', async ({ page, mock }) => {
  await as(page, mock, 'presenter');
  await row(page, 'Second Balcony').getByRole('button', { name: /Options for/ }).click();
  const menu = page.getByRole('menu', { name: /Second Balcony/ });
  await expect(menu.getByRole('menuitem').first()).toBeFocused();
  await expect(menu.getByRole('menuitem', { name: 'Play now' })).toContainText('Ends what is on the air. No undo.');
  await page.keyboard.press('Escape');
  await expect(menu).toHaveCount(0);

  await row(page, 'Second Balcony').getByRole('button', { name: /Options for/ }).click();
  await menu.getByRole('menuitem', { name: 'Move to…' }).click();
  const place = bar(page).getByRole('combobox');
  await expect(place).toBeFocused();
  await place.selectOption('4');
  await expect(bar(page)).toContainText('It breaks no rule.');
  await expect(bar(page)).toContainText(/Airs at \d+:\d\d/);
  expect(mock.hand.taken).toEqual([]);
  await bar(page).getByRole('button', { name: 'Put it here' }).click();
  await expect.poll(() => mock.hand.files(5).at(-1)).toBe('Second Balcony');

  await row(page, 'صوت أثير').getByRole('button', { name: /Options for/ }).click();
  await page.getByRole('menuitem', { name: 'Hold to here' }).click();
  await expectNews(page, /Held by hand up to .?صوت أثير/);
  await row(page, 'Second Balcony').getByRole('button', { name: 'Play Second Balcony now: ends what is on the air, without undo' }).click();
  await expectNews(page, 'On the air:');
  expect(mock.control.taken).toEqual([{ order: 'POST play', body: { category: 'english', file: 'music/english/Second_Balcony.mp3' } }]);
});

test('the orders of an open row are that song’s, however the queue is counted by then', async ({ page, mock }) => {
  await as(page, mock, 'presenter');
  await row(page, 'Second Balcony').locator('.more').click();
  const menu = page.getByRole('menu', { name: /Second Balcony/ });
  await expect(menu).toBeVisible();
  mock.hand.rebuild((entries) => entries.slice(2)); // elsewhere: every position is another one
  told(mock);
  await expect.poll(() => titles(page, 1)).toEqual(['نشرة التاسعة']);
  await menu.getByRole('menuitem', { name: 'Remove' }).click();
  await expectNews(page, 'Second Balcony was removed.');
  expect(mock.hand.files(8)).not.toContain('Second Balcony');
  expect(mock.hand.files(5)).toEqual(['نشرة التاسعة', 'Slow River', 'رمل وبحر (Remix)', 'إعلان', 'شمس الصعيد']);

  await row(page, 'Slow River').locator('.more').click();
  await expect(page.getByRole('menu', { name: /Slow River/ })).toBeVisible();
  mock.hand.rebuild((entries) => entries.filter(({ title }) => title !== 'Slow River'));
  told(mock);
  await expect(page.getByRole('menu')).toHaveCount(0); // there is nothing left to do it to
  await expectNews(page, 'the place of Slow River is gone');
});

test('what a pointer carries is that song, though the queue changes under it', async ({ page, mock }) => {
  await as(page, mock, 'presenter');
  await take(page, 'Second Balcony');
  mock.hand.rebuild((entries) => entries.slice(2));
  told(mock);
  await expect.poll(() => titles(page, 1)).toEqual(['نشرة التاسعة']);
  await aim(page, 'رمل وبحر', 'It breaks no rule.');
  await page.mouse.up();
  await expectNews(page, 'Second Balcony was moved.');
  await expect.poll(() => mock.hand.files(5)).toEqual(['نشرة التاسعة', 'Slow River', 'Second Balcony', 'رمل وبحر (Remix)', 'إعلان']);
});

test('nothing is done before the station has said what it breaks, however soon it is confirmed', async ({ page, mock }) => {
  await as(page, mock, 'presenter');
  let answer = (): void => {};
  mock.hand.gate = new Promise((done) => (answer = done));
  await row(page, 'شمس الصعيد').focus();
  for (let i = 0; i < 5; i++) await page.keyboard.press('Alt+ArrowUp');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await expect.poll(() => mock.hand.checks.length).toBeGreaterThan(0);
  expect(mock.hand.taken).toEqual([]);
  answer();
  await expect(bar(page)).toContainText('Move anyway?');
  expect(mock.hand.taken).toEqual([]);
  await page.keyboard.press('Escape');

  await row(page, 'Second Balcony').locator('.more').click();
  await page.getByRole('menuitem', { name: 'Move to…' }).click();
  await bar(page).getByRole('combobox').selectOption('4');
  await bar(page).getByRole('combobox').press('Enter'); // what breaks nothing is done as soon as that is known
  await expectNews(page, 'Second Balcony was moved.');
});

test('earlier and later go on by the keyboard, past an hour as well', async ({ page, mock }) => {
  await as(page, mock, 'presenter');
  await row(page, 'Second Balcony').locator('.more').click();
  await page.getByRole('menuitem', { name: 'Move to…' }).click();
  const earlier = bar(page).getByRole('button', { name: 'Earlier' });
  await earlier.focus();
  for (let place = 6; place >= 0; place--) {
    await page.keyboard.press('Enter');
    await expect(rotation(page).locator('li.pending')).toHaveAttribute('data-place', String(place));
    await expect(earlier).toBeFocused();
  }
  await page.keyboard.press('Enter'); // there is no earlier place
  await expect(earlier).toBeFocused();
  expect(mock.hand.taken).toEqual([]);
});

test('keys of a row are not those of the buttons in it', async ({ page, mock }) => {
  await as(page, mock, 'presenter');
  await row(page, 'Slow River').getByRole('button', { name: /^Why/ }).focus();
  for (const key of ['Delete', 'Backspace', 'l']) await page.keyboard.press(key);
  await row(page, 'Slow River').focus();
  await page.keyboard.press('Backspace');
  await page.keyboard.press('Alt+ArrowDown');
  await expectNews(page, 'Slow River was moved.');
  expect(mock.hand.taken.map(({ body }) => body['op'])).toEqual(['move']);
});

test('what was done without a name of its own, and by a key that is nobody’s, is told so', async ({ page, mock }) => {
  mock.hand.heldBy = 'station key';
  await as(page, mock, 'presenter');
  await row(page, 'Slow River').focus();
  await page.keyboard.press('l');
  await expect(rotation(page).getByText('Held up to here by the station key')).toBeVisible();
  await expect(rotation(page).getByRole('button', { name: /^Undo: The queue was held\. By the station key/ })).toBeVisible();
});

test('a refusal that the station words in both languages is told in the page’s', async ({ page, mock }) => {
  await as(page, mock, 'presenter', '/studio', 'ar');
  await page.route('**/api/station/queue/edit', (route) => route.fulfill({ status: 409, contentType: 'application/problem+json', body: JSON.stringify({ status: 409, title: 'Conflict', detail: 'at most 50 entries are held', reason: { code: 'full', en: 'At most 50 are held.', ar: 'يُثبَّت ٥٠ مقطعًا على الأكثر.' } }) }));
  await row(page, 'Slow River').focus();
  await page.keyboard.press('l');
  await expectNews(page, 'يُثبَّت ٥٠ مقطعًا على الأكثر.');
});

test('from the search a track is put next, or where its place is chosen, by the keyboard alone', async ({ page, mock }) => {
  await as(page, mock, 'presenter');
  await page.getByRole('button', { name: 'Play now…' }).click();
  await page.keyboard.type('balcony');
  await expect(page.getByRole('option').first()).toContainText('Second Balcony');
  await expect(page.getByRole('dialog').getByRole('status')).toContainText('matches');
  await page.keyboard.press('Shift+Enter');
  await expectNews(page, /would be \d mins? late/); // it is put before the news
  await page.getByRole('button', { name: 'Play next anyway' }).click();
  await expectNews(page, 'Second Balcony airs next.');
  await expect.poll(() => titles(page, 1)).toEqual(['Second Balcony']);

  await page.getByRole('button', { name: 'Play now…' }).click();
  await page.keyboard.type('balcony');
  await expect(page.getByRole('option').first()).toContainText('Second Balcony');
  await expect(page.getByRole('dialog').getByRole('status')).toContainText('matches');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Alt+Enter');
  await expect(bar(page).getByRole('combobox')).toBeFocused();
  await bar(page).getByRole('combobox').selectOption('6');
  await expect(bar(page)).toContainText('It breaks no rule.');
  await bar(page).getByRole('combobox').press('Enter');
  await expectNews(page, 'Second Balcony was inserted.');
  await expect.poll(() => mock.hand.files(7).at(-1)).toBe('Second Balcony');
});

test('from a row of the library, of a playlist and of what aired a track is put on the air in one press', async ({ page, mock }) => {
  const { id } = mock.lists.add({ name: 'Friday' }, mock.lists.paths(4));
  await as(page, mock, 'presenter', '/studio#/library');
  const track = page.locator('[data-path="english/Slow_River.mp3"]');
  await track.scrollIntoViewIfNeeded();
  await track.getByRole('button', { name: /^Play Slow River now/ }).click();
  await expect.poll(() => mock.control.taken).toEqual([{ order: 'POST play', body: { category: 'english', file: 'english/Slow_River.mp3' } }]);
  await expectNews(page, 'On the air:');
  await expect(page).toHaveURL(/#\/library$/); // the row itself was not opened

  await page.goto(`/studio#/library/playlists/${id}`);
  await page.locator('[data-item]').first().getByRole('button', { name: /next$/ }).click();
  await expect.poll(() => mock.hand.checks.length).toBeGreaterThan(0);
  await page.goto('/studio#/listeners');
  await expect(page.locator('tr .onto').first().getByRole('button', { name: /next$/ })).toBeVisible();
});

test('by a finger a row is carried, and every order is large enough for a thumb', async ({ browser, mock }) => {
  const context = await browser.newContext({ baseURL: mock.url, viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true, reducedMotion: 'reduce' });
  const page = await context.newPage();
  mock.control.key = '';
  await open(page, '/studio', 'ar');
  await rows(page).nth(6).waitFor();
  await row(page, 'Slow River').scrollIntoViewIfNeeded();
  for (const button of await row(page, 'Slow River').locator('.more, .grip').all()) {
    const { width, height } = (await button.boundingBox())!;
    expect(Math.min(width, height)).toBeGreaterThanOrEqual(44);
  }
  const from = await grip(page, 'إعلان');
  const touch = await context.newCDPSession(page);
  const at = (y: number) => [{ x: from.x, y }];
  await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: at(from.y) });
  await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: at(from.y - 8) });
  await aim(page, 'رمل وبحر', 'لا يخالف أي قاعدة.', async (y) => void (await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: at(y) })));
  await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  await expect.poll(() => mock.hand.files(6).slice(4)).toEqual(['إعلان', 'رمل وبحر (Remix)']);

  await row(page, 'Slow River').locator('.more').tap();
  const menu = page.getByRole('menu');
  const { y, height } = (await menu.boundingBox())!;
  expect(Math.round(y + height)).toBe(740); // at the foot, where the thumb is
  for (const item of await menu.getByRole('menuitem').all()) expect((await item.boundingBox())!.height).toBeGreaterThanOrEqual(44);
  await menu.getByRole('menuitem', { name: 'نقل إلى…' }).tap();
  await bar(page).waitFor();
  await expectFits(page);
  await context.close();
});

test('who only looks sees what is held and no orders', async ({ page, mock }) => {
  mock.hand.held = 3;
  void mock.hand.entries;
  mock.hand.held = 3;
  mock.hand.heldBy = 'Samira';
  await as(page, mock, 'viewer');
  await expect(rotation(page).getByText('Held up to here by Samira')).toBeVisible();
  await expect(rotation(page).getByText('3 held by hand')).toBeVisible();
  await expect(rotation(page).locator('.more, .grip, .air')).toHaveCount(0);
  await expect(rotation(page).getByRole('button', { name: 'Release' })).toHaveCount(0);
  await expect(rows(page).first()).not.toHaveAttribute('tabindex');
  await page.goto('/studio#/library');
  await expect(page.locator('[data-path]').first()).toBeVisible();
  await expect(page.getByRole('button', { name: /^Play / })).toHaveCount(0);
});

test('before anybody has said who they are, the first order asks, and is done then', async ({ page, mock }) => {
  await open(page, '/studio', 'en');
  await expect(rows(page).nth(5)).toBeVisible();
  await row(page, 'Second Balcony').focus();
  await page.keyboard.press('Alt+ArrowUp');
  const door = page.getByRole('dialog', { name: 'The station’s key' });
  await door.getByLabel('Station key').fill(mock.control.key);
  await door.getByLabel('Station key').press('Enter');
  await expectNews(page, 'Second Balcony was moved.');
});

test('imaging is called by what it is, not by its placeholder', async ({ page, mock }) => {
  mock.hand.rebuild((entries) => entries.map((entry) => (entry.category === 'sweepers' ? { ...entry, title: 'Break', artist: 'Break', file: 'sweepers/SWP_VOX_20260406T130507_6ef99803.mp3' } : entry)));
  await as(page, mock, 'viewer');
  await expect(row(page, 'Sweeper over a song · 6ef9')).toBeVisible();
  await expect(rotation(page).getByText('Break')).toHaveCount(0);
});

for (const [language, theme] of faces) {
  test(`axe: the queue by hand, ${language}, ${theme}`, async ({ page, mock }) => {
    await page.emulateMedia({ colorScheme: theme });
    await as(page, mock, 'presenter', '/studio', language);
    await row(page, 'Slow River').focus();
    await page.keyboard.press('l');
    await expect(rotation(page).locator('.heldto')).toBeVisible();
    await row(page, 'شمس الصعيد').focus();
    for (let i = 0; i < 4; i++) await page.keyboard.press('Alt+ArrowUp');
    await expect(bar(page).getByRole('button')).toHaveCount(2);
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await row(page, 'Second Balcony').locator('.more').click();
    await expect(page.getByRole('menu')).toBeVisible();
    await expectAccessible(page);
    await page.getByRole('menuitem', { name: /Move to…|نقل إلى…/ }).click();
    await expect(bar(page).getByRole('combobox')).toBeVisible();
    await expectAccessible(page);
    await expectFits(page);
  });
}
