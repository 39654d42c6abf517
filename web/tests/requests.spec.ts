import type { Page } from '@playwright/test';
import { expect, expectAccessible, expectFits, faces, open, test } from './fixtures';

// Listeners ask for songs on the home page.

const minute = 60_000;
const dialog = (page: Page) => page.locator('dialog:has(#request-title)');
const songs = (page: Page) => dialog(page).locator('li[data-file]');
const field = (page: Page) => dialog(page).getByRole('searchbox');
const mine = (page: Page) => page.locator('section[aria-labelledby=my-requests]');
const queue = (page: Page) => page.locator('section[aria-labelledby=requests]');

/** The home page with the dialog open and its songs there. */
async function openRequests(page: Page, language: 'ar' | 'en' = 'en'): Promise<void> {
  await open(page, '/', language);
  await page.getByRole('button', { name: language === 'en' ? 'Request a song' : 'اطلب أغنية' }).click();
  await expect(songs(page).first()).toBeVisible();
}

/** Asks for a song of the list, the first unless told. */
async function ask(page: Page, at = 0): Promise<void> {
  await songs(page).nth(at).getByRole('button').click();
  await dialog(page).getByRole('button', { name: 'Send the request' }).click();
}

/** A moment as the page writes it. */
const clockOf = (page: Page, at: number) => page.evaluate((moment) => new Intl.DateTimeFormat('en-GB', { hour: 'numeric', minute: '2-digit' }).format(moment), at);

test('a song is found in either script as it is typed, by artist with nothing typed, and further by asking for more', async ({ page }) => {
  await openRequests(page);
  await expect(songs(page)).toHaveCount(20);
  await expect(dialog(page).getByRole('status').filter({ hasText: '45 songs' })).toBeVisible();
  await dialog(page).getByRole('button', { name: 'More songs' }).click();
  await expect(songs(page)).toHaveCount(40);
  await dialog(page).getByRole('button', { name: 'More songs' }).click();
  await expect(songs(page)).toHaveCount(45);
  await expect(dialog(page).getByRole('button', { name: 'More songs' })).toHaveCount(0);
  await field(page).pressSequentially('fairuz');
  await expect(songs(page).first()).toContainText('فيروز');
  await field(page).fill('فيروز');
  await expect(songs(page).first()).toContainText('نسم علينا الهوى');
  await field(page).fill('slow');
  await expect(songs(page).first()).toContainText('<b>Slow River</b>'); // text, never markup
  await field(page).fill('nothing of the kind');
  await expect(dialog(page)).toContainText('No song here fits');
  await expect(dialog(page).getByRole('status').filter({ hasText: 'No songs found' })).toBeVisible();
});

test('a late answer to older words does not replace that to the newer ones', async ({ page, mock }) => {
  await openRequests(page);
  let free = () => undefined as void;
  mock.requests.held = { words: 'f', until: new Promise((done) => (free = done)) };
  await field(page).fill('f');
  await expect.poll(() => mock.requests.searched).toContain('f');
  await field(page).fill('lights');
  await expect(songs(page).first()).toContainText('Harbour Lights');
  free();
  await field(page).fill('lantern');
  await expect.poll(() => mock.requests.searched).toContain('lantern');
  await expect(songs(page).first()).toContainText('Harbour Lights');
  await expect(songs(page).filter({ hasText: 'فيروز' })).toHaveCount(0);
});

test('what is asked for is confirmed with when it will air, which the event keeps true until it airs', async ({ page, mock }) => {
  await openRequests(page);
  await field(page).fill('fairuz');
  await expect(songs(page)).toHaveCount(7);
  await songs(page).first().getByRole('button', { name: /^Request .*نسم علينا الهوى.* by .*فيروز/ }).click();
  await dialog(page).getByLabel('Your name (optional)').fill('سلمى');
  await dialog(page).getByLabel('A note for the studio (optional)').fill('لأمي');
  await dialog(page).getByRole('button', { name: 'Send the request' }).click();
  await expect(dialog(page).getByRole('heading', { name: 'Your request is in' })).toBeFocused();
  await expect(dialog(page).locator('.when')).toHaveText('Finding it a place. The time will show here.');
  expect(mock.requests.posted).toMatchObject([{ file: 'music/arabic_hits/0.mp3', name: 'سلمى', note: 'لأمي' }]);
  const at = Date.now() + 25 * minute;
  mock.requests.become(1, 'planned', { expectedAt: at });
  await expect(dialog(page).locator('.when')).toContainText(`On the air at about ${await clockOf(page, at)}, in 25 min`);
  const sooner = at - 8 * minute;
  mock.requests.become(1, 'planned', { expectedAt: sooner });
  await expect(dialog(page).locator('.when')).toContainText(await clockOf(page, sooner));
  await expect(dialog(page).getByRole('status').filter({ hasText: await clockOf(page, sooner) })).toHaveCount(1); // and is read out
  await dialog(page).getByRole('button', { name: 'Close' }).last().click();
  await expect(page.getByRole('button', { name: 'Request a song' })).toBeFocused();
  await expect(mine(page)).toContainText(`On the air at about ${await clockOf(page, sooner)}`);
  mock.requests.become(1, 'aired');
  await expect(mine(page)).toContainText('Went on the air at');
  await expect(mine(page).getByRole('button')).toHaveCount(0);
  await page.reload();
  await expect(mine(page)).toContainText('Went on the air at'); // it is known by the device, and so is the name
  expect(await page.evaluate(() => localStorage.getItem('athir.name'))).toBe('سلمى');
});

test('a rule is said in the page’s language with the time from which the song may be asked for', async ({ page, mock }) => {
  const at = new Date(Date.now() + 50 * minute).setSeconds(0, 0);
  const { rules } = mock.requests;
  rules.set('music/arabic_hits/0.mp3', { allowed: false, code: 'aired', en: 'x', ar: 'س', at });
  rules.set('music/arabic_hits/1.mp3', { allowed: false, code: 'coming', en: 'x', ar: 'س', at });
  rules.set('music/arabic_hits/2.mp3', { allowed: false, code: 'of_tomorrow', en: 'A rule of tomorrow, from 21:10', ar: 'قاعدة جديدة، من 21:10' });
  await openRequests(page);
  await expect(songs(page).nth(0)).toContainText(`Played recently. Again from ${await clockOf(page, at)}`);
  await expect(songs(page).nth(1)).toContainText(`Coming up at about ${await clockOf(page, at)}`);
  await expect(songs(page).nth(2)).toContainText('A rule of tomorrow, from 21:10');
  await expect(songs(page).nth(0).getByRole('button')).toHaveCount(0);
  // One that came to stand against it after the search.
  rules.set('music/arabic_hits/3.mp3', { allowed: false, code: 'artist_aired', en: 'x', ar: 'س', at });
  await ask(page, 3);
  await expect(dialog(page).getByRole('alert')).toContainText(`This artist was just on. From ${await clockOf(page, at)}`);
  await dialog(page).getByRole('button', { name: 'Choose another song' }).click();
  await expect(songs(page).nth(3).locator('[data-code=artist_aired]')).toBeVisible();
  await dialog(page).getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Switch to Arabic' }).click();
  await page.getByRole('button', { name: 'اطلب أغنية' }).click();
  const arabic = await page.evaluate((moment) => new Intl.DateTimeFormat('ar-EG-u-nu-arab', { hour: 'numeric', minute: '2-digit', hour12: true }).format(moment), at);
  await expect(songs(page).nth(0)).toContainText(`أُذيعت مؤخرًا، ويمكن طلبها من ${arabic}`);
  await expect(songs(page).nth(2)).toContainText('قاعدة جديدة، من ٢١:١٠');
});

test('one’s own is taken back once it is said twice, and the turn stays used', async ({ page, mock }) => {
  await openRequests(page);
  await ask(page);
  await expect(dialog(page).getByRole('heading', { name: 'Your request is in' })).toBeVisible();
  await dialog(page).getByRole('button', { name: /^Take back/ }).click();
  await expect(dialog(page).getByRole('group')).toContainText('It still counts');
  await dialog(page).getByRole('button', { name: 'Keep it' }).click();
  await dialog(page).getByRole('button', { name: /^Take back/ }).click();
  await dialog(page).getByRole('button', { name: 'Take back', exact: true }).click();
  await expect(dialog(page).locator('.when')).toHaveText('Taken back');
  await expect(dialog(page).getByRole('status').filter({ hasText: 'Taken back' })).toHaveCount(1);
  expect(mock.requests.list).toMatchObject([{ status: 'cancelled' }]);
  await dialog(page).getByRole('button', { name: 'Request another song' }).click();
  await expect(dialog(page).locator('.rule')).toContainText('You have just asked for a song. Your next request is from');
  await expect(songs(page).getByRole('button')).toHaveCount(0);
});

test('a refusal is shown with the studio’s word as it comes', async ({ page, mock }) => {
  await openRequests(page);
  await ask(page);
  await expect(dialog(page).getByRole('heading', { name: 'Your request is in' })).toBeVisible();
  await page.keyboard.press('Escape');
  mock.requests.become(1, 'refused', { word: 'ليست ضمن برنامج اليوم' });
  await expect(mine(page)).toContainText('The studio cannot play it');
  await expect(mine(page)).toContainText('The studio says: ليست ضمن برنامج اليوم');
});

test('a double press, a lost answer and another try ask once', async ({ page, mock }) => {
  await openRequests(page);
  await songs(page).first().getByRole('button').click();
  mock.requests.loseAnswer = true;
  await dialog(page).getByRole('button', { name: 'Send the request' }).dblclick();
  // The queue, asked at once, has it: nothing is left to try.
  await expect(dialog(page).getByRole('heading', { name: 'Your request is in' })).toBeVisible();
  expect(mock.requests.list).toHaveLength(1);
  expect(new Set(mock.requests.posted.map(({ id }) => id)).size).toBe(1);
});

test('without an answer, or with too many requests, another try is the same request', async ({ page, mock }) => {
  await openRequests(page);
  await songs(page).first().getByRole('button').click();
  mock.requests.refusal = { status: 503, body: { status: 503, detail: 'starting' } };
  await dialog(page).getByRole('button', { name: 'Send the request' }).click();
  await expect(dialog(page).getByRole('alert')).toContainText('Something is wrong at the station');
  mock.requests.refusal = { status: 429, body: { status: 429, detail: 'too many' }, retryAfter: 3 };
  await dialog(page).getByRole('button', { name: 'Try again' }).click();
  await expect(dialog(page).getByRole('alert')).toContainText('That was a lot at once. Again in 3 s');
  mock.apiDown = true;
  await dialog(page).getByRole('button', { name: 'Try again' }).click();
  await expect(dialog(page).getByRole('alert')).toContainText('No answer from the station');
  mock.apiDown = false;
  await dialog(page).getByRole('button', { name: 'Try again' }).click();
  await expect(dialog(page).getByRole('heading', { name: 'Your request is in' })).toBeVisible();
  expect(mock.requests.list).toHaveLength(1);
  expect(new Set(mock.requests.posted.map(({ id }) => id)).size).toBe(1);
});

test('what the station does not take is said, and may be changed', async ({ page, mock }) => {
  await openRequests(page);
  await songs(page).first().getByRole('button').click();
  mock.requests.refusal = { status: 422, body: { status: 422, detail: 'validation failed', errors: [{ location: 'body.note', message: 'contains a link' }] } };
  await dialog(page).getByLabel('A note for the studio (optional)').fill('www.example.org');
  await dialog(page).getByRole('button', { name: 'Send the request' }).click();
  await expect(dialog(page).getByRole('alert')).toContainText('Links are off here');
  await dialog(page).getByLabel('A note for the studio (optional)').fill('');
  await dialog(page).getByRole('button', { name: 'Send the request' }).click();
  await expect(dialog(page).getByRole('heading', { name: 'Your request is in' })).toBeVisible();
});

test('the studio closes the door and opens it: the page follows, and a full list says so', async ({ page, mock }) => {
  await openRequests(page);
  await expect(songs(page).first().getByRole('button')).toBeVisible();
  mock.requests.setOpen(false);
  await expect(dialog(page).locator('[data-rule=closed]')).toContainText('not taking requests right now');
  await expect(songs(page).getByRole('button')).toHaveCount(0);
  mock.requests.setOpen(true);
  await expect(songs(page).first().getByRole('button')).toBeVisible();
  const at = Date.now() + 9 * minute;
  for (let i = 0; i < mock.requests.places; i++) mock.requests.add(i + 10, '', i ? {} : { status: 'planned', expectedAt: at });
  mock.requests.tell();
  await expect(dialog(page).locator('[data-rule=full]')).toContainText(`The list of requests is full. Try again from ${await clockOf(page, at)}.`);
});

test('everybody sees what comes up by request, and who asked for it', async ({ page, mock }) => {
  mock.requests.add(2, 'منى', {});
  mock.requests.add(3, '', { status: 'planned', expectedAt: Date.now() + 30 * minute });
  mock.requests.add(4, '<i>Adam</i>', { status: 'planned', expectedAt: Date.now() + 10 * minute });
  await open(page, '/', 'en');
  const rows = queue(page).locator('li');
  await expect(rows).toHaveCount(3);
  await expect(rows.nth(0)).toContainText('Requested by <i>Adam</i>'); // as they will air
  await expect(rows.nth(1)).toContainText('Requested by a listener');
  await expect(rows.nth(2)).toContainText('time to be set');
  mock.requests.become(3, 'aired');
  await expect(rows).toHaveCount(2);
});

test('a station that takes no requests shows nothing of them', async ({ page, mock }) => {
  mock.requests.enabled = false;
  await open(page, '/', 'en');
  await expect.poll(() => mock.count('/api/requests')).toBeGreaterThan(0);
  await expect(page.getByRole('heading', { name: 'Coming up', exact: true })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Request a song' })).toHaveCount(0);
  await expect(queue(page)).toHaveCount(0);
});

test('songs that cannot be loaded are asked for again', async ({ page, mock }) => {
  mock.requests.searchDown = true;
  await open(page, '/', 'en');
  await page.getByRole('button', { name: 'Request a song' }).click();
  await expect(dialog(page).getByRole('alert')).toContainText('The songs could not be loaded.');
  mock.requests.searchDown = false;
  await dialog(page).getByRole('button', { name: 'Try again' }).click();
  await expect(songs(page)).toHaveCount(20);
});

test('the keyboard does it all, and stays within', async ({ page, mock }) => {
  mock.requests.rules.set('music/arabic_hits/1.mp3', { allowed: false, code: 'asked', en: 'x', ar: 'س' });
  await open(page, '/', 'en');
  await page.getByRole('button', { name: 'Request a song' }).focus();
  await page.keyboard.press('Enter');
  await expect(field(page)).toBeFocused();
  await expect(songs(page).first()).toBeVisible();
  await page.keyboard.press('ArrowDown');
  await expect(songs(page).nth(0).getByRole('button')).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await expect(songs(page).nth(2).getByRole('button')).toBeFocused(); // past what may not be asked for
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await expect(field(page)).toBeFocused();
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement === document.body || document.activeElement?.closest('dialog') !== null)).toBe(true);
  }
  await field(page).focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Space'); // chooses, and does not start the player
  await expect(dialog(page).getByRole('heading', { name: 'Your request' })).toBeFocused();
  await expect(page.locator('.play')).not.toHaveAttribute('data-state', /playing|connecting/);
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Request a song' })).toBeFocused();
});

for (const [language, colorScheme] of faces) {
  test(`axe finds nothing in requests, and a small phone holds them: ${language} ${colorScheme}`, async ({ page, mock }) => {
    mock.requests.rules.set('music/arabic_hits/1.mp3', { allowed: false, code: 'aired', en: 'x', ar: 'س', at: Date.now() + 50 * minute });
    mock.requests.add(9, 'منى', { status: 'planned', expectedAt: Date.now() + 30 * minute });
    await page.emulateMedia({ colorScheme });
    await openRequests(page, language);
    await expectAccessible(page);
    await expectFits(page);
    await songs(page).first().getByRole('button').click();
    await expect(dialog(page).locator('[data-view=submit]')).toBeVisible();
    await expectAccessible(page);
    await dialog(page).locator('[type=submit]').click();
    await expect(dialog(page).locator('[data-view=granted]')).toBeVisible();
    await expectAccessible(page);
    await expectFits(page);
    await page.keyboard.press('Escape');
    mock.requests.become(2, 'refused', { word: 'ليست ضمن برنامج اليوم' });
    await expect(mine(page).locator('.word')).toBeVisible();
    await expectAccessible(page);
    await expectFits(page);
  });
}
