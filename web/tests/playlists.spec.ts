import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { expect, expectAccessible, expectFits, expectNews, open, test } from './fixtures';
import type { Mock } from './mock/mock';
import type { Role } from '../src/studio/rights';

// The station's own playlists in the studio: making, filling, moving, when they play, changes.

const row = (page: Page, name: string) => page.locator('[data-list]').filter({ hasText: name });
const grid = (page: Page) => page.getByRole('grid', { name: 'Songs of the playlist' });
const items = (page: Page) => page.locator('[data-item]');
const shownPaths = (page: Page, n = 5) => items(page).evaluateAll((all, most) => all.slice(0, most).map((one) => one.getAttribute('data-item')), n);
const foot = (page: Page) => page.getByRole('group', { name: 'Settings' });
const tools = (page: Page) => page.locator('.tools');
const dialog = (page: Page, name: string) => page.getByRole('dialog', { name });
const orders = (mock: Mock) => mock.lists.taken.map(({ order }) => order);

/** Opens the studio as somebody who is logged in. */
async function as(page: Page, mock: Mock, role: Role, path = '/studio#/library/playlists', language: 'ar' | 'en' = 'en'): Promise<void> {
  const kept = mock.people.add(role, role);
  const answer = await page.request.post('/api/session', { data: { login: kept.person.login, password: kept.password } });
  expect(answer.status()).toBe(200);
  await open(page, path, language);
}

/** The page of a playlist by hand with songs of the library. */
async function begin(page: Page, mock: Mock, n = 6, language: 'ar' | 'en' = 'en'): Promise<number> {
  const { id } = mock.lists.add({ name: 'Friday jazz', plays: 'only', when: [{ days: ['fri'], start: '20:00', end: '01:00' }] }, mock.lists.paths(n));
  await as(page, mock, 'programme', `/studio#/library/playlists/${id}`, language);
  await expect(items(page).first()).toBeVisible();
  return id;
}
const pathsOf = (mock: Mock, id: number) => mock.lists.kept.get(id)?.paths ?? [];

test.use({ viewport: { width: 1440, height: 900 } });

test('by the keyboard alone a playlist is made, filled, put in order and undone', async ({ page, mock }) => {
  await as(page, mock, 'programme');
  await expect(page.getByRole('heading', { name: 'No playlists yet' })).toBeVisible();
  await page.getByRole('button', { name: 'New playlist' }).focus();
  await page.keyboard.press('Enter');
  const form = dialog(page, 'New playlist');
  await expect(form.getByRole('radio', { name: 'By hand' })).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(form.getByLabel('Name')).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(form.getByRole('alert')).toHaveText('Give it a name.');
  await page.keyboard.type('Friday jazz');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'Friday jazz', level: 2 })).toBeFocused();
  await expectNews(page, '“Friday jazz” is made.');

  await page.getByRole('button', { name: 'Add songs' }).focus();
  await page.keyboard.press('Enter');
  const add = dialog(page, 'Add songs');
  await expect(add.getByRole('searchbox')).toBeFocused();
  await page.keyboard.type('amal haddad');
  await expect(add.locator('[data-path]').first()).toContainText('Amal Haddad');
  await add.getByRole('grid').focus();
  await page.keyboard.press('Space');
  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.press('Shift+ArrowDown');
  await add.getByRole('button', { name: 'Add 3 songs' }).focus();
  await page.keyboard.press('Enter');
  await expectNews(page, '3 songs were added.');
  await expect(items(page)).toHaveCount(3);
  await expect(page.locator(':focus')).toHaveCount(1); // the grid or what adds: the dialog is gone
  const before = await shownPaths(page);

  // Held keys are one move, and one change to undo.
  await grid(page).focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('Alt+ArrowDown');
  await page.keyboard.press('Alt+ArrowDown');
  await expect(page.getByText('Now at place 3.')).toBeAttached();
  await expect(page.locator('#item-2')).toHaveClass(/active/);
  expect(await shownPaths(page)).toEqual([before[1], before[2], before[0]]);
  await expect.poll(() => orders(mock).filter((order) => order === 'PATCH {}/items')).toHaveLength(2);
  expect(mock.lists.taken.at(-1)?.body).toMatchObject({ move: { places: [0], to: 3 } });
  await page.keyboard.press('Control+z');
  await expect.poll(() => shownPaths(page)).toEqual(before);
  await page.keyboard.press('End');
  await page.keyboard.press('Alt+ArrowUp');
  await page.keyboard.press('Delete');
  await expectNews(page, 'One song was removed.');
  await expect(items(page)).toHaveCount(2);
  expect(pathsOf(mock, 1)).toEqual([before[0], before[1]]);
  await tools(page).getByRole('button', { name: 'Undo: One song was removed.' }).focus();
  await page.keyboard.press('Enter');
  await expect(items(page)).toHaveCount(3);
  await expect.poll(() => shownPaths(page)).toEqual([before[0], before[2], before[1]]);
});

test('how and when it plays is drawn as it is set, across midnight too, and saved at once', async ({ page, mock }) => {
  const id = await begin(page, mock);
  await page.getByRole('radio', { name: 'One after a number of songs' }).check();
  await page.getByLabel('Songs in between').fill('7');
  await expect(foot(page)).toContainText('2 changes are not saved');
  await expect(page.getByText(/Fri: .20:00–24:00/)).toBeAttached();
  await expect(page.getByText(/Sat: .00:00–01:00/)).toBeAttached();
  await page.getByRole('button', { name: 'Add a time' }).click();
  const second = page.locator('[data-window="1"]');
  await expect(second.getByRole('button', { name: 'Sat' })).toBeFocused(); // not what takes it away again
  await second.getByRole('button', { name: 'Fri' }).click();
  await second.getByRole('button', { name: 'Mon' }).click(); // out of every day
  await second.getByLabel('Hours').selectOption('A daypart');
  await second.locator('select').nth(1).selectOption('Morning');
  await expect(second.locator('.head p')).toHaveText('Sat, Sun, Tue, Wed, Thu, Fri · Morning');
  await expect(page.getByText(/Tue: .05:00–11:00/)).toBeAttached();
  await second.getByLabel('Only between two days').check();
  await second.getByLabel('First day').fill('2026-12-10');
  await second.getByLabel('Last day').fill('2026-12-01');
  await foot(page).getByRole('button', { name: 'Save' }).click();
  await expect(second.getByRole('alert')).toHaveText('the last day is before the first');
  await second.getByLabel('Last day').fill('2026-12-20');
  await foot(page).getByRole('button', { name: 'Save' }).click();
  await expectNews(page, 'is saved.');
  await expect(foot(page)).toHaveCount(0);
  expect(mock.lists.taken.at(-1)).toMatchObject({ order: 'PUT {}', body: { version: 1, plays: 'songs', everySongs: 7, when: [{ days: ['fri'], start: '20:00', end: '01:00' }, { days: ['sat', 'sun', 'tue', 'wed', 'thu', 'fri'], daypart: 'morning', start: '00:00', end: '00:00', from: '2026-12-10', until: '2026-12-20' }] } });
  await page.getByRole('listitem').filter({ hasText: 'is saved.' }).getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => mock.lists.kept.get(id)?.list.plays).toBe('only');
});

test('once from its beginning is in order, and needs a time to begin', async ({ page, mock }) => {
  const { id } = mock.lists.add({ name: 'Recorded show', order: 'shuffle' }, mock.lists.paths(3));
  await as(page, mock, 'programme', `/studio#/library/playlists/${id}`, 'ar');
  await page.locator('.way input[value=once]').check();
  await expect(page.locator('.way input[value=sequence]')).toBeChecked();
  await expect(page.locator('.way input[value=sequence]')).toBeDisabled();
  await page.locator('.foot .key').click();
  await expect(page.getByRole('alert').first()).toHaveText('حدّد متى تبدأ القائمة');
  await page.locator('.add').click();
  await page.locator('.foot .key').click();
  await expect(page.locator('.foot')).toHaveCount(0);
  expect(mock.lists.kept.get(id)?.list).toMatchObject({ plays: 'once', order: 'sequence', when: [{ days: ['fri'], start: '20:00', end: '22:00' }] });
});

test('what somebody else changed meanwhile is told, and what was typed stays', async ({ page, mock }) => {
  const id = await begin(page, mock);
  await page.getByLabel('Note').fill('mine');
  mock.lists.touch(id);
  mock.lists.kept.get(id)!.list.order = 'shuffle';
  await foot(page).getByRole('button', { name: 'Save' }).click();
  const told = page.getByRole('alert').filter({ hasText: 'Changed by someone else' });
  await expect(told).toBeVisible();
  await told.getByRole('button', { name: 'Reload' }).click();
  await expect(page.getByLabel('Note')).toHaveValue('mine');
  await foot(page).getByRole('button', { name: 'Save' }).click();
  await expect.poll(() => mock.lists.kept.get(id)?.list).toMatchObject({ note: 'mine', order: 'shuffle' });
  await expect(foot(page)).toHaveCount(0);

  // The same of the songs: nothing more is sent until they were read again.
  mock.lists.kept.get(id)!.paths.reverse();
  mock.lists.touch(id);
  await grid(page).focus();
  await page.keyboard.press('Delete');
  await expect(told).toBeVisible();
  const sent = mock.lists.taken.length;
  await page.keyboard.press('Delete');
  await told.getByRole('button', { name: 'Reload' }).click();
  await expect(told).toHaveCount(0);
  await expect.poll(() => shownPaths(page, 6)).toEqual(pathsOf(mock, id));
  expect(mock.lists.taken).toHaveLength(sent);
});

test('what was typed outlives the page and a reload', async ({ page, mock }) => {
  const id = await begin(page, mock);
  await page.getByLabel('Note').fill('half a thought');
  await page.getByRole('link', { name: 'All playlists' }).click();
  await expect(row(page, 'Friday jazz')).toContainText('not saved');
  await page.reload();
  await row(page, 'Friday jazz').getByRole('link').click();
  await expect(page.getByLabel('Note')).toHaveValue('half a thought');
  await expect(page.getByRole('note').filter({ hasText: 'still here' })).toBeVisible();
  await foot(page).getByRole('button', { name: 'Discard' }).click();
  await expect(page.getByLabel('Note')).toHaveValue('');
  expect(mock.lists.kept.get(id)?.list.version).toBe(1);
});

test('twenty thousand songs scroll to their end with few rows in the page, and move from end to end', async ({ page, mock }) => {
  const id = await begin(page, mock, 20_000);
  await expect(grid(page)).toHaveAttribute('aria-rowcount', '20001');
  await grid(page).focus();
  await page.keyboard.press('End');
  await expect(page.locator('[aria-rowindex="20001"][data-item]')).toBeInViewport();
  expect(await items(page).count()).toBeLessThan(60);
  const last = await page.locator('#item-19999').getAttribute('data-item');
  await page.keyboard.press('Alt+ArrowUp');
  await expect.poll(() => pathsOf(mock, id)[19_998]).toBe(last);
  await page.keyboard.press('Control+a');
  await expect(tools(page).getByText('20,000 selected')).toBeVisible();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Home');
  await expect(page.locator('[aria-rowindex="2"][data-item]')).toBeInViewport();
  await page.keyboard.press('Shift+PageDown');
  await tools(page).getByRole('button', { name: /^Remove \d+/ }).click();
  await expect.poll(() => pathsOf(mock, id).length).toBeLessThan(20_000);
  await expect(items(page).first()).toHaveAttribute('data-item', pathsOf(mock, id)[0]!);
});

test('songs are dragged, one and several, and left where they are by Escape', async ({ page, mock }) => {
  const id = await begin(page, mock, 8);
  const before = pathsOf(mock, id);
  const grip = (i: number) => page.locator(`#item-${i} .grip`);
  const drag = async (from: number, to: number) => {
    const [a, b] = [(await grip(from).boundingBox())!, (await page.locator(`#item-${to}`).boundingBox())!];
    await page.mouse.move(a.x + a.width / 2, a.y + a.height / 2);
    await page.mouse.down();
    await page.mouse.move(a.x + a.width / 2, b.y + b.height * 0.9, { steps: 6 });
  };
  await drag(0, 3);
  await expect(page.locator('.aim')).toBeVisible();
  await page.keyboard.press('Escape');
  await page.mouse.up();
  expect(await shownPaths(page, 8)).toEqual(before);
  await drag(0, 3);
  await page.mouse.up();
  await expect.poll(() => pathsOf(mock, id)).toEqual([before[1], before[2], before[3], before[0], ...before.slice(4)]);
  await page.locator('#item-0').getByRole('checkbox').check();
  await page.locator('#item-2').getByRole('checkbox').check();
  await drag(2, 5);
  await page.mouse.up();
  await expect.poll(() => pathsOf(mock, id)).toEqual([before[2], before[0], before[4], before[5], before[1], before[3], before[6], before[7]]);
  expect(await shownPaths(page, 8)).toEqual(pathsOf(mock, id));
  await expect(tools(page).getByText('2 selected')).toBeVisible();
});

test('a song is dragged out of sight and put where the pointer lets go', async ({ page, mock }) => {
  const id = await begin(page, mock, 120);
  const before = pathsOf(mock, id);
  const [grip, list] = [(await page.locator('#item-0 .grip').boundingBox())!, (await grid(page).boundingBox())!];
  await page.mouse.move(grip.x + grip.width / 2, grip.y + grip.height / 2);
  await page.mouse.down();
  await page.mouse.move(grip.x + grip.width / 2, list.y + list.height - 4, { steps: 6 });
  await expect(page.locator('#item-0')).toHaveCount(0); // the list has gone on by itself, its row is not drawn any more
  await page.mouse.move(grip.x + grip.width / 2, list.y + list.height / 2, { steps: 3 });
  await page.mouse.up();
  await expect.poll(() => pathsOf(mock, id).indexOf(before[0]!)).toBeGreaterThan(10);
  await expect(page.locator('.aim')).toHaveCount(0);
});

test('missing songs are marked by their file, songs are sorted and shuffled, and a refusal shows what is so', async ({ page, mock }) => {
  const { id } = mock.lists.add({ name: 'Old' }, [...mock.lists.paths(4), 'gone/Old_Friend.mp3']);
  await as(page, mock, 'programme', `/studio#/library/playlists/${id}`);
  const gone = items(page).filter({ hasText: 'not in the library' });
  await expect(gone).toContainText('Old Friend');
  await expect(gone).toContainText('gone/Old_Friend.mp3');
  await expect(gone.getByRole('button')).toHaveCount(0);
  const before = pathsOf(mock, id);
  await tools(page).getByRole('combobox').selectOption('By title');
  await expectNews(page, 'The songs are sorted.');
  await expect.poll(() => shownPaths(page)).toEqual(pathsOf(mock, id));
  expect(pathsOf(mock, id)).not.toEqual(before);
  await tools(page).getByRole('button', { name: /^Undo/ }).click();
  await expect.poll(() => shownPaths(page)).toEqual(before);
  mock.lists.refusal = [503, { status: 503, detail: 'the disk is full' }];
  await grid(page).focus();
  await page.keyboard.press('Delete');
  await expectNews(page, 'the disk is full');
  await expect.poll(() => shownPaths(page)).toEqual(before);
});

test('changes made faster than the station answers are sent in their turn, and what is shown is what it has', async ({ page, mock }) => {
  const id = await begin(page, mock, 12);
  await page.route('**/items', async (route) => {
    if (route.request().method() === 'PATCH') await new Promise((done) => setTimeout(done, 250));
    await route.continue();
  });
  await tools(page).getByRole('combobox').selectOption('Shuffle once');
  await grid(page).focus();
  await page.keyboard.press('Alt+ArrowDown');
  await page.keyboard.press('Delete');
  await page.keyboard.press('Alt+ArrowDown');
  await page.keyboard.press('Alt+ArrowDown');
  await expect.poll(() => orders(mock)).toEqual(Array.from({ length: 4 }, () => 'PATCH {}/items'));
  expect(mock.lists.taken.map(({ body }) => (body as { version: number }).version)).toEqual([1, 2, 3, 4]);
  await expect.poll(() => shownPaths(page, 12)).toEqual(pathsOf(mock, id));
  expect(pathsOf(mock, id)).toHaveLength(11);
  // Somebody else's change is shown by itself, and nothing stays selected that may be another song by now.
  await page.keyboard.press('Space');
  await expect(tools(page).getByText('one selected')).toBeVisible();
  mock.lists.kept.get(id)!.paths.reverse();
  mock.lists.touch(id);
  await expect(tools(page).getByText('nothing selected')).toBeVisible();
  await expect.poll(() => shownPaths(page, 12)).toEqual(pathsOf(mock, id));
});

test('tracks that are selected in the library, or all that match, are added to a playlist', async ({ page, mock }) => {
  const { id } = mock.lists.add({ name: 'Friday jazz' });
  mock.lists.add({ name: 'A search', kind: 'smart' });
  await as(page, mock, 'programme', '/studio#/library');
  await page.locator('[role=row][data-path]').first().getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Add to playlist…' }).click();
  const first = dialog(page, 'Add one track to a playlist');
  await expect(first.getByRole('listitem')).toHaveCount(1); // what a search finds is not put together by hand
  mock.lists.touch(id); // the end is the end, whichever version
  await first.getByRole('button', { name: /Friday jazz/ }).click();
  await expectNews(page, 'One song was added.');
  await expect.poll(() => pathsOf(mock, id)).toHaveLength(1);
  await page.getByRole('searchbox').first().fill('nile band');
  await expect(page.getByText('30 tracks of 240 match')).toBeVisible();
  await page.getByRole('checkbox', { name: 'Select all that match' }).check();
  await page.getByRole('button', { name: 'Add to playlist…' }).click();
  const second = dialog(page, 'Add 30 tracks to a playlist');
  await second.getByLabel('New playlist with these').fill('Nile');
  await page.keyboard.press('Enter');
  await expectNews(page, '30 songs were added.');
  expect(mock.lists.taken.at(-1)?.body).toMatchObject({ add: { query: { q: 'nile band' } } });
});

test('a playlist file that is dropped shows what is found, and then makes the playlist', async ({ page, mock }) => {
  await as(page, mock, 'programme');
  await expect(page.getByRole('heading', { name: 'No playlists yet' })).toBeVisible();
  const [one, two] = mock.lists.paths(2);
  const data = await page.evaluateHandle((text) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([text], 'Old station.m3u8', { type: 'audio/x-mpegurl' }));
    return transfer;
  }, `#EXTM3U\n${one}\n${two}\nsomewhere/Unknown.mp3\n`);
  await page.locator('section.panel').dispatchEvent('drop', { dataTransfer: data });
  const form = dialog(page, 'New playlist');
  await expect(form.getByText('Old station.m3u8')).toBeVisible();
  await form.getByRole('button', { name: 'See what is in it' }).click();
  const found = dialog(page, 'In Old station.m3u8');
  await expect(found.getByRole('status')).toHaveText('2 tracks of it are in the library. One was not found.');
  await expect(found.getByRole('group', { name: 'Not found' })).toContainText('somewhere/Unknown.mp3');
  await expectAccessible(page, 'dialog[open]');
  expect(mock.lists.taken).toEqual([]);
  await found.getByRole('button', { name: 'Make the playlist' }).click();
  await expect(page.getByRole('heading', { name: 'Old station', level: 2 })).toBeFocused();
  await expect(items(page)).toHaveCount(2);
  // A sound file is uploaded, wherever it is dropped.
  await page.getByRole('link', { name: 'All playlists' }).click();
  await page.getByRole('button', { name: 'New playlist' }).click();
  await form.getByRole('radio', { name: 'From a file' }).check();
  await form.getByLabel('Playlist file').setInputFiles({ name: 'song.mp3', mimeType: 'audio/mpeg', buffer: Buffer.from('x') });
  await expect(form.getByRole('alert')).toContainText('This is not a playlist file');
});

test('a playlist from a search shows what it finds as it is put together', async ({ page, mock }) => {
  await as(page, mock, 'programme');
  await page.getByRole('button', { name: 'New playlist' }).click();
  const form = dialog(page, 'New playlist');
  await form.getByRole('radio', { name: 'From a search' }).check();
  await form.getByLabel('Name').fill('Everything folk');
  await page.keyboard.press('Enter');
  await expect(page.getByText('240 tracks match now')).toBeVisible();
  await page.getByLabel('Words to search for').fill('amal');
  await expect(page.getByText('30 tracks match now')).toBeVisible();
  await page.locator('summary').filter({ hasText: 'Genre' }).click();
  await page.getByRole('list', { name: 'Genre' }).getByRole('button', { name: /folk/ }).click();
  await page.keyboard.press('Escape');
  await expect(foot(page)).toContainText('One change is not saved');
  await foot(page).getByRole('button', { name: 'Save' }).click();
  await expectNews(page, 'is saved.');
  expect(mock.lists.kept.get(1)?.list.query).toEqual({ q: 'amal', genre: ['folk'] });
  await page.getByLabel('Words to search for').fill('');
  await expect(foot(page)).toBeVisible();
  await foot(page).getByRole('button', { name: 'Discard' }).click();
  await expect(page.getByLabel('Words to search for')).toHaveValue('amal');
  await expect(foot(page)).toHaveCount(0);
});

test('a playlist from an address is fetched, and says what failed and what fits nothing', async ({ page, mock }) => {
  await as(page, mock, 'programme');
  await page.getByRole('button', { name: 'New playlist' }).click();
  const form = dialog(page, 'New playlist');
  await form.getByRole('radio', { name: 'From an address' }).check();
  await form.getByLabel('Name').fill('Charts');
  await page.keyboard.press('Enter');
  await expect(form.getByRole('alert')).toHaveText('Type the address, https://…');
  await form.getByLabel('Address of the playlist').fill('https://radio.example/top.m3u');
  await page.keyboard.press('Enter');
  await expect(page.getByText('Not fetched yet.')).toBeVisible();
  mock.lists.fetchFails = true;
  await page.getByRole('button', { name: 'Fetch now' }).click();
  await expect(page.getByText('the address answered 404 Not Found')).toBeVisible();
  mock.lists.fetchFails = false;
  await page.getByRole('button', { name: 'Fetch now' }).click();
  await expectNews(page, 'Fetched.');
  await expect(items(page)).toHaveCount(12);
  await expect(page.locator('.grip')).toHaveCount(0); // its songs are the address's
  await page.getByText('One entry is not in the library').click();
  await expect(page.getByText('Nobody — Unknown Song')).toBeVisible();
  await page.getByLabel('Address', { exact: true }).fill('https://radio.example/other.m3u');
  await expect(page.getByRole('button', { name: 'Fetch now' })).toBeDisabled();
});

test('playlists are searched, turned off, exported, deleted and brought back', async ({ page, mock }) => {
  const { id } = mock.lists.add({ name: 'سهرة الجمعة' }, mock.lists.paths(3));
  mock.lists.add({ name: 'Charts', plays: 'hourly', minute: 5 });
  await as(page, mock, 'programme');
  await expect(row(page, 'Charts')).toContainText('every hour at :05');
  await page.getByRole('searchbox').fill('سهرة');
  await expect(page.locator('[data-list]')).toHaveCount(1);
  await page.getByRole('switch').click();
  await expect(page.getByRole('switch')).toHaveAttribute('aria-checked', 'false');
  await expect(row(page, 'سهرة')).toContainText('off');
  expect(mock.lists.kept.get(id)?.list.on).toBe(false);
  mock.lists.touch(id);
  await page.getByRole('switch').click();
  await expectNews(page, 'Changed by someone else in the meantime.');
  await row(page, 'سهرة').getByRole('link').click();
  await page.locator('summary').filter({ hasText: 'Export, delete' }).click();
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export as PLS' }).click()]);
  expect(file.suggestedFilename()).toBe('سهرة الجمعة.pls');
  expect(readFileSync(await file.path(), 'utf8')).toContain(`File3=${mock.lists.paths(3)[2]}`);
  await page.locator('summary').filter({ hasText: 'Export, delete' }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByText('No playlist of this name.')).toBeVisible(); // the search is as it was left
  await page.getByRole('searchbox').fill('');
  await expect(page.locator('[data-list]')).toHaveCount(1);
  await page.getByRole('listitem').filter({ hasText: 'is deleted.' }).getByRole('button', { name: 'Undo' }).click();
  await expect(page.locator('[data-list]')).toHaveCount(2);
  expect(pathsOf(mock, id)).toHaveLength(3);
});

test('the changes of all playlists are listed, and undone as long as nobody changed it again', async ({ page, mock }) => {
  const id = await begin(page, mock);
  await grid(page).focus();
  await page.keyboard.press('Delete');
  await expectNews(page, 'One song was removed.');
  await page.getByLabel('Note').fill('later');
  await foot(page).getByRole('button', { name: 'Save' }).click();
  await expectNews(page, 'is saved.');
  await page.goto('/studio#/library/playlists/changes');
  const deeds = page.locator('[data-deed]');
  await expect(deeds).toHaveCount(2);
  await expect(deeds.last()).toContainText('one song');
  await deeds.last().getByRole('button', { name: /Undo/ }).click();
  await expectNews(page, 'It has been changed again since');
  await deeds.first().getByRole('button', { name: /Undo/ }).click();
  await expect(deeds).toHaveCount(3);
  await expect(deeds.nth(1)).toContainText('undone');
  expect(mock.lists.kept.get(id)?.list.note).toBe('');
  await deeds.nth(1).getByRole('link', { name: 'Friday jazz' }).click();
  await expect(items(page)).toHaveCount(5);
});

test('a clock asks for a playlist by its name, and the queue says which one an entry is of', async ({ page, mock }) => {
  mock.lists.add({ name: 'سهرة الجمعة' });
  mock.control.key = '';
  mock.control.config.CLOCKS = [{ name: 'Evening', start: '18:00', end: '22:00', hour: [{ category: 'music' }, { category: 'playlist', list: 'Gone' }] }];
  await open(page, '/studio#/programme', 'en');
  const what = (i: number, part: string) => page.locator(`[data-field="CLOCKS[0].hour[${i}].${part}"] select`);
  await expect(what(1, 'list')).toContainText('Gone (not there any more)');
  await what(0, 'category').selectOption('A playlist');
  await expect(what(0, 'list')).toHaveValue('سهرة الجمعة');
  await what(1, 'category').selectOption('music');
  await expect(what(1, 'list')).toHaveCount(0);
  await page.getByRole('region', { name: 'Changes', exact: true }).getByRole('button', { name: 'Apply' }).click();
  await expect.poll(() => mock.control.config.CLOCKS?.[0]?.hour).toEqual([{ category: 'playlist', list: 'سهرة الجمعة' }, { category: 'music' }]);
  await page.route('**/api/schedule*', async (route) => {
    const answer = await route.fetch();
    const said = (await answer.json()) as { rotation: Record<string, unknown>[] };
    const entry = said.rotation.find((one) => !one.aired && !one.onAir);
    Object.assign(entry ?? {}, { list: 1, listName: 'سهرة الجمعة', why: { reason: 'playlist "سهرة الجمعة", 3 of 12', wanted: '', considered: 0, passedOver: null } });
    await route.fulfill({ response: answer, json: said });
  });
  await page.goto('/studio#/air');
  await page.reload();
  await expect(page.getByRole('link', { name: /Playlist: .*سهرة الجمعة/ })).toHaveAttribute('href', '#/library/playlists/1');
});

test('a playlist that a clock asks for is not deleted, and the clock is named', async ({ page, mock }) => {
  mock.lists.add({ name: 'سهرة الجمعة' });
  mock.control.key = '';
  const reason = { code: 'playlist', en: 'the hour clock "Evening" asks for this playlist: change the clock first', ar: 'قالب الساعة «Evening» يطلب هذه القائمة. غيّره أولًا' };
  await page.route('**/api/station/playlists/1', (route) =>
    route.request().method() === 'DELETE' ? route.fulfill({ status: 409, contentType: 'application/problem+json', body: JSON.stringify({ title: 'Conflict', status: 409, detail: reason.en, reason }) }) : route.fallback());
  await open(page, '/studio#/library/playlists/1', 'ar');
  await page.locator('summary').last().click();
  await page.getByRole('button', { name: 'حذف', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'حذف', exact: true }).click();
  await expectNews(page, 'لم تُحذف القائمة.');
  await expectNews(page, 'قالب الساعة «Evening» يطلب هذه القائمة');
});

test('who may not change the programme sees the playlists and changes nothing', async ({ page, mock }) => {
  const { id } = mock.lists.add({ name: 'Friday jazz' }, mock.lists.paths(4));
  await as(page, mock, 'viewer');
  await expect(page.getByRole('switch')).toBeDisabled();
  await expect(page.getByRole('button', { name: 'New playlist' })).toHaveCount(0);
  await row(page, 'Friday jazz').getByRole('link').click();
  await expect(items(page)).toHaveCount(4);
  await expect(page.locator('.tools, .grip')).toHaveCount(0);
  await expect(page.getByLabel('Name', { exact: true })).toHaveAttribute('readonly', '');
  await expect(page.getByRole('radio').first()).toBeDisabled();
  await grid(page).focus();
  await page.keyboard.press('Delete');
  await page.keyboard.press('Alt+ArrowDown');
  await expect(items(page)).toHaveCount(4);
  expect(mock.lists.taken).toEqual([]);
  expect(pathsOf(mock, id)).toHaveLength(4);
});

for (const [language, colorScheme] of [['ar', 'light'], ['en', 'dark'], ['ar', 'dark'], ['en', 'light']] as const) {
  test(`axe finds nothing in the playlists, and all fits: ${language} ${colorScheme}`, async ({ page, mock }) => {
    await page.emulateMedia({ colorScheme });
    const look = async (widths = [390]) => {
      for (const width of [390, 768, 1920]) {
        await expectFits(page, { width, height: 900 });
        if (widths.includes(width)) await expectAccessible(page);
      }
    };
    const { lists } = mock;
    const hand = lists.add({ name: 'سهرة الجمعة', plays: 'share', open: true, when: [{ days: ['fri'], start: '22:00', end: '02:00' }, { daypart: 'evening', start: '00:00', end: '00:00', until: '2026-12-31' }] }, [...lists.paths(30), 'gone/Old_Friend.mp3']);
    const smart = lists.add({ name: 'Folk', kind: 'smart', query: { genre: ['folk'] }, on: false });
    const remote = lists.add({ name: 'Charts', kind: 'remote', address: 'https://radio.example/top.m3u', problem: { en: 'no answer', ar: 'لا رد' }, unmatched: lists.unmatched }, lists.paths(4));
    await as(page, mock, 'programme', '/studio#/library/playlists', language);
    await expect(page.locator('[data-list]')).toHaveCount(3);
    await look([390, 1920]);
    await page.locator('header .key').first().click();
    await expect(page.locator('dialog[open] .way')).toHaveCount(4);
    await look();
    await page.keyboard.press('Escape');
    await page.goto(`/studio#/library/playlists/${hand.id}`);
    await expect(items(page).first()).toBeVisible();
    await page.locator('#item-1 input').check();
    await page.locator('textarea').fill('x');
    await look([390, 1920]);
    await page.locator('.tools .key').click();
    await expect(page.locator('dialog[open] [data-path]').first()).toBeVisible();
    await look();
    await page.locator('dialog[open] header .bare').click();
    await page.goto(`/studio#/library/playlists/${smart.id}`);
    await expect(page.locator('[data-path]').first()).toBeVisible();
    await look();
    await page.goto(`/studio#/library/playlists/${remote.id}`);
    await expect(items(page).first()).toBeVisible();
    await look();
    await page.goto('/studio#/library/playlists/changes');
    await expect(page.locator('.things li').first()).toBeVisible();
    await look();
  });
}

test.describe('with a thumb', () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  /** What can be pressed and is smaller than a thumb, in a part of the page. */
  const small = (page: Page, part: string) => page.locator(part).evaluateAll((parts) => parts.flatMap((root) => [...root.querySelectorAll('button, select, summary, a.pill, .tick, .grip, .way > label, input:not([type=checkbox], [type=radio])')]).filter((one) => {
    const { width, height } = one.getBoundingClientRect();
    return one.checkVisibility() && width > 0 && (width < 43.5 || height < 43.5);
  }).map((one) => one.outerHTML.slice(0, 160)));

  test('everything is large enough, and a song is moved by a finger', async ({ page, mock }) => {
    const { lists } = mock;
    const { id } = lists.add({ name: 'Friday jazz', plays: 'hourly', when: [{ start: '22:00', end: '02:00', from: '2026-12-01' }] }, lists.paths(8));
    await as(page, mock, 'programme');
    await expect(row(page, 'Friday jazz')).toBeVisible();
    expect(await small(page, 'main .panel')).toEqual([]);
    await row(page, 'Friday jazz').getByRole('link').click();
    await expect(items(page).first()).toBeVisible();
    await page.locator('textarea').fill('x');
    expect(await small(page, 'main .below')).toEqual([]);
    await tools(page).getByRole('button', { name: 'Add songs' }).tap();
    await expect(page.locator('dialog[open] [data-path]').first()).toBeVisible();
    expect(await small(page, 'dialog[open]')).toEqual([]);
    await page.locator('dialog[open] header .bare').tap();
    const before = pathsOf(mock, id);
    const touch = await page.context().newCDPSession(page);
    await page.locator('#item-0').scrollIntoViewIfNeeded();
    const [from, to] = [(await page.locator('#item-0 .grip').boundingBox())!, (await page.locator('#item-2').boundingBox())!];
    const point = (y: number) => ({ touchPoints: [{ x: from.x + from.width / 2, y }] });
    await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', ...point(from.y + from.height / 2) });
    for (let i = 1; i <= 5; i++) await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', ...point(from.y + (to.y + to.height * 0.9 - from.y) * (i / 5)) });
    await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    await expect.poll(() => pathsOf(mock, id).slice(0, 3)).toEqual([before[1], before[2], before[0]]);
  });
});
