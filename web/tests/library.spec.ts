import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { expect, expectAccessible, expectFits, expectNews, faces, open, test } from './fixtures';
import type { Mock } from './mock/mock';
import type { Role } from '../src/studio/rights';

// The studio's library: browsing, changing, a track's drawer, quarantine, archive and the changes.

const grid = (page: Page) => page.getByRole('grid');
const rows = (page: Page) => page.locator('[role=row][data-path]');
const drawn = (page: Page) => page.locator('[role=rowgroup] > [role=row]');
const drawer = (page: Page) => page.locator('.beside, dialog[open]').filter({ has: page.locator('.lane') });
const bar = (page: Page) => page.getByRole('region', { name: 'What is selected' });
const search = (page: Page) => page.getByRole('searchbox').first();

/** Opens the studio as somebody who is logged in. */
async function as(page: Page, mock: Mock, role: Role, path = '/studio#/library', language: 'ar' | 'en' = 'en'): Promise<void> {
  const kept = mock.people.add(role, role);
  const answer = await page.request.post('/api/session', { data: { login: kept.person.login, password: kept.password } });
  expect(answer.status()).toBe(200);
  await open(page, path, language);
}

async function begin(page: Page, mock: Mock, language: 'ar' | 'en' = 'en', path = '/studio#/library'): Promise<void> {
  await as(page, mock, 'programme', path, language);
  await expect(rows(page).first()).toBeVisible();
}

test.use({ viewport: { width: 1440, height: 900 } });

test('a hundred thousand tracks scroll to their end with few rows in the page, by the bar and by the keys', async ({ page, mock }) => {
  mock.library.grow(100_000);
  await begin(page, mock);
  await expect(grid(page)).toHaveAttribute('aria-rowcount', '100001');
  await expect(page.getByRole('status').filter({ hasText: '100,000 tracks' })).toBeVisible();
  expect(await drawn(page).count()).toBeLessThan(60);
  await grid(page).evaluate((box) => {
    box.scrollIntoView({ block: 'end' });
    box.scrollTop = box.scrollHeight;
  });
  await expect(page.locator('[aria-rowindex="100001"][data-path]')).toBeInViewport();
  expect(await drawn(page).count()).toBeLessThan(60);
  const first = await rows(page).first().getAttribute('data-path');
  await grid(page).focus();
  await page.keyboard.press('Home');
  await expect(page.locator('[aria-rowindex="2"][data-path]')).toBeInViewport();
  await page.keyboard.press('End');
  await expect(page.locator('[aria-rowindex="100001"][data-path]')).toBeInViewport();
  await expect(page.locator('#track-99999')).toHaveClass(/active/);
  expect(await rows(page).first().getAttribute('data-path')).toBe(first);
  // What flew past was not asked for.
  expect(mock.library.listed.length).toBeLessThan(20);
});

test('the list is searched, in Arabic by transliteration too; a late answer to older words is dropped', async ({ page, mock }) => {
  await begin(page, mock);
  await page.keyboard.press('/');
  await expect(search(page)).toBeFocused();
  await page.keyboard.type('umm kulthum');
  await expect(rows(page).first()).toContainText('أم كلثوم');
  await expect(page.getByText('30 tracks of 240 match')).toBeVisible();
  mock.library.holds = true;
  await search(page).fill('slow');
  await expect.poll(() => mock.library.listed.at(-1)).toContain('q=slow');
  await search(page).fill('lamps');
  await expect.poll(() => mock.library.listed.at(-1)).toContain('q=lamps');
  mock.library.release(true);
  await expect(rows(page).first()).toContainText('Harbour Lights');
  await expect(rows(page).filter({ hasText: 'Slow River' })).toHaveCount(0);
  await expect(search(page)).toBeFocused();
  await search(page).fill('nothing like this');
  await expect(page.getByRole('heading', { name: 'Nothing matches' })).toBeVisible();
  await page.getByRole('button', { name: 'Show everything' }).click();
  await expect(rows(page).first()).toBeVisible();
  await expect(search(page)).toHaveValue('');
});

test('facets narrow it, heads sort it, and the view is saved, renamed and removed', async ({ page, mock }) => {
  await begin(page, mock);
  await page.locator('summary').filter({ hasText: 'Category' }).click();
  await page.getByRole('list', { name: 'Category' }).getByRole('button', { name: /Mashups/ }).click();
  await expect(page.getByText('30 tracks of 240 match')).toBeVisible();
  await page.keyboard.press('Escape');
  await page.getByRole('columnheader', { name: 'Length' }).getByRole('button').click();
  await expect(page.getByRole('columnheader', { name: 'Length' })).toHaveAttribute('aria-sort', 'descending');
  await expect.poll(() => mock.library.listed.at(-1)).toContain('sort=duration&order=desc');

  await page.locator('summary').filter({ hasText: 'Save, export' }).click();
  await page.getByRole('button', { name: 'Save this search' }).click();
  const form = page.getByRole('dialog', { name: 'Save this search' });
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form.getByRole('alert')).toHaveText('Give it a name.');
  await form.getByLabel('Name').fill('Long mashups');
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByLabel('Saved search')).toHaveValue('Long mashups');
  expect(mock.library.views).toEqual([{ name: 'Long mashups', query: { category: ['mashups'], sort: 'duration', order: 'desc' } }]);
  await page.getByLabel('Saved search').selectOption('');
  await expect(page.getByText('240 tracks ·')).toBeVisible();
  await page.getByLabel('Saved search').selectOption('Long mashups');
  await expect(page.getByText('30 tracks of 240 match')).toBeVisible();
  await page.locator('summary').filter({ hasText: 'Save, export' }).click();
  await page.getByRole('button', { name: /^Rename/ }).click();
  await page.getByRole('dialog', { name: 'Rename the search' }).getByLabel('Name').fill('ميكسات طويلة');
  await page.keyboard.press('Enter');
  await expect(page.getByLabel('Saved search')).toHaveValue('ميكسات طويلة');
  await page.locator('summary').filter({ hasText: 'Save, export' }).click();
  await page.getByRole('button', { name: /^Remove “/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await expect(page.getByLabel('Saved search')).toHaveCount(0);
  expect(mock.library.views).toEqual([]);
});

test('what matches is exported in its order', async ({ page, mock }) => {
  await begin(page, mock);
  await search(page).fill('nile band');
  await expect(page.getByText('30 tracks of 240 match')).toBeVisible();
  await page.locator('summary').filter({ hasText: 'Save, export' }).click();
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export as M3U' }).click()]);
  const text = readFileSync(await file.path(), 'utf8');
  expect(text.split('\n')).toHaveLength(31);
  expect(text).toContain('arabic_hits/إنت_عمري.mp3');
});

test('a changed library is asked for anew and keeps its place', async ({ page, mock }) => {
  mock.library.grow(5000);
  await begin(page, mock);
  await grid(page).evaluate((box) => (box.scrollTop = 48 * 2000));
  const row = page.locator('[aria-rowindex="2010"][data-path]');
  await expect(row).toBeVisible();
  const path = (await row.getAttribute('data-path')) ?? '';
  mock.library.track(path)?.say({ album: 'Another album' });
  mock.library.changed();
  await row.getByRole('checkbox').check();
  await bar(page).getByRole('button', { name: 'Edit' }).click();
  await page.getByRole('dialog', { name: 'Edit tracks' }).getByLabel('Genre', { exact: true }).fill('jazz');
  await page.getByRole('dialog').getByRole('button', { name: 'Change one track' }).click();
  await expect(page.locator('[data-path]').filter({ hasText: 'Another album' })).toBeVisible();
  expect(await grid(page).evaluate((box) => box.scrollTop)).toBe(48 * 2000);
});

test('rows are selected by keys and ranges, all that match by one; a change of many says so and is undone', async ({ page, mock }) => {
  await begin(page, mock);
  await grid(page).focus();
  await page.keyboard.press('Space');
  await expect(bar(page)).toContainText('one track selected');
  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.press('Shift+ArrowDown');
  await expect(bar(page)).toContainText('3 tracks selected');
  await page.keyboard.press('Control+a');
  await expect(bar(page)).toContainText('240 tracks selected');
  await bar(page).getByRole('button', { name: 'Edit' }).click();
  const form = page.getByRole('dialog', { name: 'Edit tracks' });
  await expect(form.getByRole('note')).toHaveText('This changes 240 tracks.');
  await form.getByRole('button', { name: 'Change 240 tracks' }).click();
  await expect(form.getByRole('alert')).toHaveText('Change a field first.');
  await form.getByLabel('Album', { exact: true }).fill('Everything');
  await form.getByRole('button', { name: 'Change 240 tracks' }).click();
  await expectNews(page, '240 tracks were changed.');
  expect(mock.library.taken.at(-1)).toEqual({ order: 'PATCH ', body: { query: {}, set: { album: 'Everything' } } });
  expect(mock.library.tracks.every((kept) => kept.note.album === 'Everything')).toBe(true);
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await expectNews(page, 'Undone for 240 tracks.');
  expect(mock.library.tracks.some((kept) => 'album' in kept.note)).toBe(false);
  await grid(page).focus();
  await page.keyboard.press('Escape');
  await expect(bar(page)).toHaveCount(0);
});

test('a range to the end of a long list is selected whole, though nobody looked at its middle', async ({ page, mock }) => {
  mock.library.grow(10_000);
  await begin(page, mock);
  await grid(page).focus();
  await page.keyboard.press('Shift+End');
  await expect(bar(page)).toContainText('10,000 tracks selected');
  // The next range ends the one before, and a station that does not answer is told.
  await page.keyboard.press('Shift+Home');
  await expect(bar(page)).toContainText('one track selected');
  await page.keyboard.press('End');
  await expect(page.locator('[aria-rowindex="10001"][data-path]')).toBeInViewport();
  mock.library.down = true;
  await page.keyboard.press('Shift+Home');
  await expectNews(page, 'Some tracks could not be loaded.');
  await expect(bar(page)).toContainText('one track selected');
});

test('the keys of the list are found on an Arabic keyboard', async ({ page, mock }) => {
  await begin(page, mock, 'ar');
  await grid(page).focus();
  // Playwright has no layout for it: the events are as Chromium sends them.
  await grid(page).dispatchEvent('keydown', { key: 'ش', code: 'KeyA', ctrlKey: true, bubbles: true, cancelable: true });
  await expect(page.locator('[data-foot]')).toContainText('حُدّد ٢٤٠ مقطعًا');
  await grid(page).dispatchEvent('keydown', { key: 'ظ', code: 'Slash', bubbles: true, cancelable: true });
  await expect(search(page)).toBeFocused();
});

test('tracks are archived, what is on the air afterwards, and restored; a refusal is said with its reason', async ({ page, mock }) => {
  await begin(page, mock);
  const paths = await rows(page).evaluateAll((all) => all.slice(0, 3).map((row) => row.getAttribute('data-path') ?? ''));
  mock.library.onAir.add(paths[1] ?? '');
  for (const path of paths) await page.locator(`[data-path="${path}"]`).getByRole('checkbox').check();
  await bar(page).getByRole('button', { name: 'Archive' }).click();
  const sure = page.getByRole('dialog', { name: 'Archive 3 tracks?' });
  await sure.getByRole('button', { name: 'Archive 3 tracks' }).click();
  await expectNews(page, '2 tracks are in the archive. One is on the air or about to be, and will be archived afterwards.');
  await expect(page.locator(`[data-path="${paths[0]}"]`)).toHaveCount(0);
  await page.getByRole('link', { name: 'Archive' }).click();
  const file = page.locator('[data-file]');
  await expect(file).toHaveCount(4);
  await page.getByRole('searchbox').fill('old friend');
  await expect(file).toHaveCount(1);
  await page.getByRole('searchbox').fill('');
  await expect(file).toHaveCount(4);
  await page.locator(`[data-file="${paths[0]}"]`).getByRole('button').click();
  await expectNews(page, 'One file is restored.');
  await expect(file).toHaveCount(3);
  // The way back from the archive is to restore, and the other way round.
  await page.getByRole('listitem').filter({ hasText: 'One file is restored.' }).getByRole('button', { name: 'Undo' }).click();
  await expect(file).toHaveCount(4);
  mock.library.archived = mock.library.archived.filter(({ path }) => path !== paths[2]);
  await page.locator(`[data-file="${paths[2]}"]`).getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Restore one file' }).click();
  await expectNews(page, 'One file is not in the archive any more.');
  mock.library.refusal = [409, { status: 409, detail: 'the library is being moved' }];
  await page.locator('[data-file="english/Old_Friend.mp3"]').getByRole('button').click();
  await expectNews(page, 'the library is being moved');
});

test('a track is edited in its drawer: what the file says, back to it, faults by field, undo', async ({ page, mock }) => {
  await begin(page, mock);
  await search(page).fill('slow_river.mp3');
  await expect(page.getByText('one track of 240 match')).toBeVisible();
  await grid(page).focus();
  await page.keyboard.press('Enter');
  const panel = drawer(page);
  await expect(panel.getByRole('heading', { name: 'Slow River' })).toBeFocused();
  await panel.getByLabel('Title', { exact: true }).fill('نهر بطيء');
  await expect(panel.getByText('The file says: Slow River')).toBeVisible();
  await panel.getByLabel('Other spellings').fill('nahr batee');
  await page.keyboard.press('Enter');
  await expect(panel.getByRole('button', { name: 'Remove nahr batee' })).toBeVisible();
  await panel.getByLabel('First day').fill('2026-12-10');
  await panel.getByLabel('Last day').fill('2026-12-01');
  await expect(panel.getByText('3 changes are not saved')).toBeVisible();
  await panel.getByRole('button', { name: 'Save' }).click();
  await expect(panel.getByRole('alert')).toHaveText('the last day is before the first');
  await panel.getByLabel('Last day').fill('2026-12-20');
  await panel.getByRole('button', { name: 'Save' }).click();
  await expectNews(page, 'One track was changed.');
  expect(mock.library.track('english/Slow_River.mp3')?.note).toEqual({ title: 'نهر بطيء', aliases: ['nahr batee'], limits: { from: '2026-12-10', until: '2026-12-20' } });
  await expect(rows(page).filter({ hasText: 'نهر بطيء' })).toContainText('limited');
  await panel.getByRole('button', { name: 'Back to the file’s: Title' }).click();
  await expect(panel.getByLabel('Title', { exact: true })).toHaveValue('Slow River');
  await panel.getByRole('button', { name: 'Save' }).click();
  await expect.poll(() => mock.library.track('english/Slow_River.mp3')?.note.title).toBeUndefined();
  const deeds = panel.locator('[data-deed]');
  await expect(deeds).toHaveCount(2);
  await expect(deeds.first()).toContainText('نهر بطيء');
  await deeds.first().getByRole('button', { name: /Undo/ }).click();
  await expect(panel.getByLabel('Title', { exact: true })).toHaveValue('نهر بطيء');
});

test('a track that its mended tags take out of the search leaves the focus at the search', async ({ page, mock }) => {
  mock.library.track('english/Slow_River.mp3')!.note.title = 'Wrongly written';
  await begin(page, mock);
  await search(page).fill('wrongly');
  await expect(rows(page)).toHaveCount(1);
  await page.getByRole('grid').focus();
  await page.keyboard.press('Enter');
  await drawer(page).getByLabel('Title', { exact: true }).fill('Corniche');
  await drawer(page).getByRole('button', { name: 'Save' }).press('Enter');
  await expectNews(page, 'One track was changed.');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('heading', { name: 'Nothing matches' })).toBeVisible();
  await expect(search(page)).toBeFocused();
});

test('a drawer keeps the focus after its changes are saved, taken back and dropped, and Escape leaves it for the list', async ({ page, mock }) => {
  await begin(page, mock);
  await search(page).fill('slow_river.mp3');
  await expect(rows(page)).toHaveCount(1);
  await grid(page).focus();
  await page.keyboard.press('Enter');
  const panel = drawer(page);
  const heading = panel.getByRole('heading', { level: 2 });
  await panel.getByLabel('Title', { exact: true }).fill('Corniche');
  await panel.getByRole('button', { name: 'Save' }).press('Enter');
  await expectNews(page, 'One track was changed.');
  await expect(heading).toBeFocused();
  await panel.locator('.foot').getByRole('button', { name: /Undo/ }).press('Enter');
  await expect(panel.getByLabel('Title', { exact: true })).toHaveValue('Slow River');
  await expect(heading).toBeFocused();
  await panel.getByLabel('Title', { exact: true }).fill('Corniche');
  await panel.locator('.foot').getByRole('button', { name: 'Discard' }).press('Enter');
  await expect(heading).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(panel).toHaveCount(0);
  await expect(grid(page)).toBeFocused();
});

test('what reports name a recording by is said in the drawer', async ({ page, mock }) => {
  await begin(page, mock, 'en', `/studio#/library/track/${encodeURIComponent('english/Slow_River.mp3')}`);
  const panel = drawer(page);
  await panel.getByLabel('Record label', { exact: true }).fill('صوت القاهرة');
  await panel.getByLabel('Composer', { exact: true }).fill('Amal Haddad');
  await panel.getByLabel('ISRC', { exact: true }).fill('EG-A01-26');
  await panel.getByRole('button', { name: 'Save' }).click();
  await expect(panel.getByRole('alert')).toContainText('EG-A01-26-00001');
  await panel.getByLabel('ISRC', { exact: true }).fill('eg-a01-26-00001');
  await panel.getByRole('button', { name: 'Save' }).click();
  await expectNews(page, 'One track was changed.');
  await expect(panel.getByLabel('ISRC', { exact: true })).toHaveValue('EGA012600001');
  expect(mock.library.track('english/Slow_River.mp3')?.note).toEqual({ label: 'صوت القاهرة', composer: 'Amal Haddad', isrc: 'EGA012600001' });
});

test('undo in the drawer takes back what was saved there, not what somebody else did since', async ({ page, mock }) => {
  const path = 'english/Slow_River.mp3';
  await begin(page, mock, 'en', `/studio#/library/track/${encodeURIComponent(path)}`);
  // Somebody else changes the track between the answer and the look at its deeds.
  await page.route(/\/api\/station\/library$/, async (route) => {
    if (route.request().method() !== 'PATCH') return route.fallback();
    const answer = await route.fetch();
    mock.library.edit(path, { album: 'Somebody else’s' });
    await route.fulfill({ response: answer });
  });
  const panel = drawer(page);
  await panel.getByLabel('Genre', { exact: true }).fill('jazz');
  await panel.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(panel.getByLabel('Album', { exact: true })).toHaveValue('Somebody else’s');
  await panel.locator('.foot').getByRole('button', { name: /^Undo/ }).click();
  await expect.poll(() => mock.library.track(path)?.note).toEqual({ album: 'Somebody else’s' });
});

test('what was typed stays when the drawer goes by accident, and closing asks', async ({ page, mock }) => {
  await begin(page, mock);
  await rows(page).first().click();
  const panel = drawer(page);
  await panel.getByLabel('Genre', { exact: true }).fill('typed');
  await page.goBack();
  await expect(panel).toHaveCount(0);
  await expect(rows(page).filter({ hasText: 'not saved' })).toHaveCount(1);
  await page.reload();
  await rows(page).first().click();
  await expect(panel.getByLabel('Genre', { exact: true })).toHaveValue('typed');
  await expect(panel.getByRole('note')).toContainText('still here, and not saved');
  await panel.getByLabel('Genre', { exact: true }).press('Escape');
  const leave = page.getByRole('dialog', { name: 'Leave without saving?' });
  await leave.getByRole('button', { name: 'Stay' }).click();
  await expect(panel).toBeVisible();
  await panel.getByRole('button', { name: 'Close' }).click();
  await leave.getByRole('button', { name: 'Discard' }).click();
  await expect(panel).toHaveCount(0);
  await expect(rows(page).filter({ hasText: 'not saved' })).toHaveCount(0);
  expect(mock.library.taken).toEqual([]);
});

for (const language of ['en', 'ar'] as const) {
  test(`cues are set by keys and by drag, right is later: ${language}`, async ({ page, mock }) => {
    mock.library.peaksLater = 1;
    await begin(page, mock, language, `/studio#/library/track/${encodeURIComponent('english/Slow_River.mp3')}`);
    const panel = drawer(page);
    await expect(panel.locator('.whole')).toBeVisible(); // it was still being made at first
    const cue = (which: string) => panel.locator(`[data-cue=${which}]`);
    await cue('in').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Shift+ArrowRight');
    await expect(cue('in')).toHaveAttribute('aria-valuenow', '1.1');
    await page.keyboard.press('ArrowLeft');
    await expect(cue('in')).toHaveAttribute('aria-valuenow', '1');
    const lane = (await panel.locator('.lane').boundingBox())!;
    await page.mouse.move(lane.x + lane.width - 2, lane.y + 10);
    await page.mouse.down();
    await page.mouse.move(lane.x + lane.width * 0.75, lane.y + 10, { steps: 3 });
    await page.mouse.up();
    const length = mock.library.track('english/Slow_River.mp3')!.file.durationMs;
    const out = Number(await cue('out').getAttribute('aria-valuenow')) * 1000;
    expect(Math.abs(out - length * 0.75)).toBeLessThan(length * 0.02);
    await panel.locator('.foot .key').click();
    await expect.poll(() => mock.library.track('english/Slow_River.mp3')?.note).toEqual({ cueInMs: 1000, cueOutMs: Math.round(out) });
    // A press on the lane seeks, and so do the keys.
    const moved = (await panel.locator('.lane').boundingBox())!;
    await page.mouse.click(moved.x + moved.width / 2, moved.y + moved.height / 2);
    const seek = panel.locator('.wave');
    expect(Math.abs(Number(await seek.getAttribute('aria-valuenow')) * 1000 - length / 2)).toBeLessThan(length * 0.02);
    await seek.focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    await expect(seek).toHaveAttribute('aria-valuenow', '5');
  });
}

for (const language of ['en', 'ar'] as const) {
  test(`a cross of its own is a choice beside the usual one, and never none: ${language}`, async ({ page, mock }) => {
    const path = 'english/Slow_River.mp3';
    await begin(page, mock, language, `/studio#/library/track/${encodeURIComponent(path)}`);
    const panel = drawer(page);
    const slider = panel.getByLabel(language === 'en' ? 'Overlap with its neighbours' : 'التداخل مع ما قبله وما بعده');
    const usual = panel.getByLabel(language === 'en' ? 'station default' : 'المعتاد في المحطة');
    await expect(usual).toBeChecked();
    await expect(slider).toBeDisabled();
    await usual.uncheck();
    await slider.focus();
    await page.keyboard.press('Home');
    await expect(slider).toHaveAttribute('aria-valuetext', language === 'en' ? '0.1 s' : '٠٫١ ث');
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    await panel.locator('.foot .key').click();
    await expect.poll(() => mock.library.track(path)?.note).toEqual({ crossMs: 29_900 });
    await expect(panel.locator('[data-deed]').first()).toContainText(language === 'en' ? '29.9' : '٢٩٫٩');
    await usual.check();
    await panel.locator('.foot .key').click();
    await expect.poll(() => mock.library.track(path)?.note).toEqual({});
  });
}

test('a track is listened to, by a ticket', async ({ page, mock }) => {
  await begin(page, mock);
  await rows(page).first().click();
  const panel = drawer(page);
  await panel.getByRole('button', { name: 'Listen', exact: true }).click();
  await expect(panel.getByRole('button', { name: 'Pause', exact: true })).toBeVisible();
  await expect.poll(async () => Number(await panel.locator('.wave').getAttribute('aria-valuenow'))).toBeGreaterThan(0.5);
  expect(mock.asked.includes('/api/library/audio')).toBe(true);
  await panel.getByRole('button', { name: 'Pause', exact: true }).click();
  await expect(panel.getByRole('button', { name: 'Listen', exact: true })).toBeVisible();
});

test('the hours of the day are pressed, painted and walked by keys', async ({ page, mock }) => {
  await begin(page, mock);
  await rows(page).first().click();
  const panel = drawer(page);
  const hour = (n: number) => panel.locator(`[data-hour="${n}"]`);
  await hour(2).click();
  await expect(hour(2)).toHaveAttribute('aria-pressed', 'false');
  await hour(3).focus();
  await page.keyboard.press('Space');
  await page.keyboard.press('Shift+ArrowRight');
  await expect(hour(4)).toHaveAttribute('aria-pressed', 'false');
  await expect(hour(4)).toBeFocused();
  await panel.getByLabel('Plays in 24 hours, at most').fill('2');
  await panel.getByLabel('Plays in 24 hours, at most').blur();
  await panel.getByRole('button', { name: 'Save' }).click();
  await expectNews(page, 'One track was changed.');
  expect(mock.library.tracks.map((kept) => kept.note.limits).filter(Boolean)).toEqual([{ hours: [[5, 2]], perDay: 2 }]);
});

test('a cover is chosen, refused where it is no picture, and removed', async ({ page, mock }) => {
  await begin(page, mock);
  await rows(page).first().click();
  const panel = drawer(page);
  const choose = panel.locator('[data-choose=cover]');
  await choose.setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no picture') });
  await expect(panel.getByRole('alert')).toHaveText('A cover is a JPEG, PNG or WebP picture.');
  await choose.setInputFiles({ name: 'cover.png', mimeType: 'image/png', buffer: Buffer.from('a picture, let us say') });
  await expectNews(page, 'The cover is set.');
  await expect(panel.getByRole('img', { name: 'Cover of this track' })).toHaveAttribute('src', /\/api\/library\/covers\/shelf-21\?size=320/);
  await panel.getByRole('button', { name: 'Remove the cover' }).click();
  await expectNews(page, 'The cover is removed.');
  await expect(panel.getByText('No cover')).toBeVisible();
});

test('quarantined files are read again, one and all', async ({ page, mock }) => {
  mock.library.mended.add('mashups/Half.flac');
  await as(page, mock, 'programme', '/studio#/library/quarantine');
  const file = page.locator('[data-file]');
  await expect(file).toHaveCount(2);
  await file.filter({ hasText: 'Broken' }).getByRole('button').click();
  await expectNews(page, 'One file still cannot air.');
  await page.getByRole('button', { name: 'Try all 2 shown again' }).click();
  await expectNews(page, 'One file can air now.');
  await expect(file).toHaveCount(1);
});

test('why a file is in the archive is said in the page’s language; words that have no code as they are', async ({ page, mock }) => {
  const { code: _, ...file } = mock.library.archived[1]!;
  mock.library.archived[1] = { ...file, reason: 'somebody moved it' };
  await as(page, mock, 'programme', '/studio#/library/archive', 'ar');
  const files = page.locator('[data-file]');
  await expect(files.first()).toContainText('أُرشف يدويًا');
  await expect(files.first()).not.toContainText('by hand');
  await expect(files.last()).toContainText('somebody moved it');
});

test('all changes are listed, and a change that somebody went on from stays', async ({ page, mock }) => {
  await begin(page, mock);
  const edit = async (genre: string): Promise<void> => {
    await bar(page).getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('dialog', { name: 'Edit tracks' }).getByLabel('Genre', { exact: true }).fill(genre);
    await page.getByRole('dialog').getByRole('button', { name: /^Change/ }).click();
    await expect(page.getByRole('dialog')).toHaveCount(0);
  };
  await rows(page).nth(0).getByRole('checkbox').check();
  await rows(page).nth(1).getByRole('checkbox').check();
  await edit('one');
  await rows(page).nth(1).getByRole('checkbox').uncheck();
  await edit('two');
  await page.getByRole('link', { name: 'Changes' }).click();
  const deeds = page.locator('[data-deed]');
  await expect(deeds).toHaveCount(2);
  await expect(deeds.last()).toContainText('2 tracks');
  await deeds.last().getByRole('button', { name: /Undo/ }).click();
  await expectNews(page, 'One track was changed again since, and stays as it is.');
  await expect(deeds).toHaveCount(3);
  await expect(deeds.first()).toContainText('Undone');
});

test('an outage is said, what is known stays, and it goes on', async ({ page, mock }) => {
  mock.library.grow(5000);
  await begin(page, mock);
  mock.library.down = true;
  await grid(page).evaluate((box) => (box.scrollTop = 48 * 3000));
  await expect(page.getByText('Some tracks could not be loaded.')).toBeVisible();
  mock.library.down = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.locator('[aria-rowindex="3010"][data-path]')).toBeVisible();
  await expect(page.getByText('Some tracks could not be loaded.')).toHaveCount(0);
});

test('who may not change the programme sees everything, changes nothing and is told why', async ({ page, mock }) => {
  await as(page, mock, 'viewer');
  await expect(rows(page).first()).toBeVisible();
  await expect(page.getByRole('note').filter({ hasText: 'change nothing in it' })).toContainText('Viewer');
  await expect(page.getByRole('checkbox')).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Upload' })).toHaveCount(0);
  await rows(page).first().click();
  const panel = drawer(page);
  await expect(panel.getByLabel('Title', { exact: true })).toHaveAttribute('readonly', '');
  await expect(panel.getByRole('button', { name: 'Archive' })).toHaveCount(0);
  await expect(panel.getByRole('button', { name: 'Listen', exact: true })).toBeVisible();
});

test('without a key the library is locked, and the key opens it', async ({ page, mock }) => {
  await open(page, '/studio#/library', 'en');
  await page.getByRole('button', { name: 'Open', exact: true }).press('Enter');
  await page.getByLabel('Station key').fill(mock.control.key);
  await page.getByLabel('Station key').press('Enter');
  await expect(rows(page).first()).toBeVisible();
  await expect(page.getByRole('main')).toBeFocused(); // what was pressed is gone
});

test('coming back from another section finds the list where it was', async ({ page, mock }) => {
  mock.library.grow(2000);
  await begin(page, mock);
  await search(page).fill('river');
  await expect(page.getByText('250 tracks of 2,000 match')).toBeVisible();
  await grid(page).evaluate((box) => (box.scrollTop = 48 * 100));
  await expect(page.locator('[aria-rowindex="104"][data-path]')).toBeVisible();
  await page.getByRole('navigation', { name: 'Sections of the studio' }).getByRole('link', { name: 'Log' }).click();
  await expect(grid(page)).toHaveCount(0);
  await page.getByRole('navigation', { name: 'Sections of the studio' }).getByRole('link', { name: 'Library' }).click();
  await expect(search(page)).toHaveValue('river');
  await expect(page.locator('[aria-rowindex="104"][data-path]')).toBeInViewport();
});

for (const [language, colorScheme] of [...faces, ['ar', 'dark'], ['en', 'light']] as const) {
  test(`axe finds nothing in the library, and all fits: ${language} ${colorScheme}`, async ({ page, mock }) => {
    await page.emulateMedia({ colorScheme });
    const look = async (widths = [390]) => {
      for (const width of [390, 768, 1920]) {
        await expectFits(page, { width, height: 900 });
        if (widths.includes(width)) await expectAccessible(page);
      }
    };
    mock.library.tracks[1]?.say({ title: 'نهر بطيء', cueInMs: 900, limits: { hours: [[6, 10]] }, aliases: ['nahr'] });
    await begin(page, mock, language);
    await look([390, 1920]);
    await rows(page).first().getByRole('checkbox').check();
    await expect(page.locator('[data-foot]')).toBeVisible();
    await look();
    await page.locator('[data-foot] .pill').nth(3).click();
    await expect(page.locator('dialog[open] [data-hour]')).toHaveCount(24);
    await look();
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.locator('button.sheet').click();
    await expect(page.locator('dialog[open] .options').first()).toBeVisible();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.goto(`/studio#/library/track/${encodeURIComponent('english/Slow_River.mp3')}`);
    await expect(drawer(page).locator('.whole')).toBeVisible();
    await look([390, 1920]);
    for (const part of ['quarantine', 'archive', 'history']) {
      await page.goto(`/studio#/library/${part}`);
      await expect(page.locator('main .panel h2')).toBeVisible();
      await expect(page.locator('.things li').first()).toBeVisible();
      await look();
    }
  });
}

test.describe('with a thumb', () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  /** What can be pressed and is smaller than a thumb, in a part of the page. */
  const small = (page: Page, part: string) => page.locator(part).evaluateAll((parts) => parts.flatMap((root) => [...root.querySelectorAll('button, select, summary, a.pill, .tick, input:not([type=checkbox], [type=radio])')]).filter((one) => {
    const { width, height } = one.getBoundingClientRect();
    return one.checkVisibility() && width > 0 && (width < 43.5 || height < 43.5);
  }).map((one) => one.outerHTML.slice(0, 120)));

  test('everything is large enough, in two lines a row, and the drawer is a dialog', async ({ page, mock }) => {
    mock.library.tracks[1]?.say({ title: 'نهر بطيء', crossMs: 4000, aliases: ['nahr'], limits: { hours: [[6, 10]] } });
    mock.intake.still = true;
    mock.intake.arrive('twin.mp3');
    mock.intake.arrive('broken.mp3');
    mock.intake.arrive('done.mp3', { state: 'taken', path: 'english/done.mp3' });
    await begin(page, mock);
    await expect(page.getByRole('columnheader')).toHaveCount(0);
    const [title, length, air] = [rows(page).first().locator('.title'), rows(page).first().locator('.length'), rows(page).first().locator('.onto')];
    expect((await title.boundingBox())!.x).toBeLessThan((await length.boundingBox())!.x);
    expect((await length.boundingBox())!.x).toBeLessThan((await air.boundingBox())!.x);
    await page.getByLabel('Sort by').selectOption('title desc');
    await expect.poll(() => mock.library.listed.at(-1)).toContain('sort=title&order=desc');
    await rows(page).first().getByRole('checkbox').check();
    await expect(page.locator('[data-foot]')).toBeVisible();
    expect(await small(page, 'main .sides')).toEqual([]);
    await page.goto(`/studio#/library/track/${encodeURIComponent('english/Slow_River.mp3')}`);
    await expect(page.getByRole('dialog', { name: 'Track' }).locator('.whole')).toBeVisible();
    const genre = drawer(page).getByLabel('Genre', { exact: true });
    await genre.fill('jazz');
    expect(await small(page, 'dialog[open]')).toEqual([]);
    await drawer(page).getByRole('button', { name: 'Save', exact: true }).click();
    await page.locator('.foot').getByRole('button', { name: /^Undo/ }).click(); // the toast is behind the dialog
    await expect(genre).toHaveValue('folk');
    await drawer(page).getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: /^Upload/ }).first().click();
    await expect(page.locator('[data-arrival]')).toHaveCount(3);
    expect(await small(page, '.tray')).toEqual([]);
  });
});
