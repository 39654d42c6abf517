import type { Page } from '@playwright/test';
import { expect, expectAccessible, expectFits, expectNews, faces, nextLook, open, stopClock, test } from './fixtures';
import { logLines, morning } from './mock/control';
import type { Mock } from './mock/mock';

const bar = (page: Page) => page.getByRole('region', { name: 'Changes', exact: true });
const field = (page: Page, path: string) => page.locator(`[data-field="${path}"]`);
const puts = (mock: Mock) => mock.control.taken.filter((t) => t.order === 'PUT config').map((t) => t.body);

/** The programme of a station that needs no key. */
async function openProgramme(page: Page, mock: Mock, language: 'ar' | 'en' = 'en'): Promise<void> {
  mock.control.key = '';
  await open(page, '/studio#/programme', language);
  await expect(page.locator('#knobs')).toBeVisible();
}

test('the programme opens with the key, and stays shut with words without it', async ({ page, mock }) => {
  await open(page, '/studio', 'en');
  await page.getByRole('link', { name: 'Programme' }).click();
  await expect(page.getByLabel('Station key')).toBeFocused(); // asked for once the station has refused
  await page.keyboard.press('Escape');
  await expect(page.getByText('This section needs the station key.')).toBeVisible();
  await page.getByRole('button', { name: 'Open' }).click();
  await page.getByLabel('Station key').fill(mock.control.key);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'Dayparts' })).toBeVisible();
  await expect(page.getByRole('main')).toBeFocused(); // the button that asked is gone
  await expect(page).toHaveTitle(/^Programme/);
});

test('a mood is put on and taken back', async ({ page, mock }) => {
  await page.clock.install();
  await openProgramme(page, mock);
  await expect(page.getByRole('button', { name: 'Party', exact: true })).toBeVisible();
  await stopClock(page); // the offer to undo stays
  await page.getByRole('button', { name: 'Party', exact: true }).click();
  await expect(page.getByRole('button', { name: 'Party', exact: true })).toHaveAttribute('aria-pressed', 'true');
  await expect(field(page, 'MASHUP_CHANCE').locator('output')).toHaveText('22%');
  await page.getByRole('log').getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByRole('button', { name: 'No mood' })).toHaveAttribute('aria-pressed', 'true');
  await expect(field(page, 'MASHUP_CHANCE').locator('output')).toHaveText('6%');
});

test('the mix shows what becomes of an hour, and one share moves the others', async ({ page, mock }) => {
  await openProgramme(page, mock);
  const hour = page.getByRole('img', { name: /^Shares of an hour/ });
  const before = await hour.getAttribute('aria-label');
  await field(page, 'GENRE_SPLIT.arabic_hits').getByRole('slider').fill('30');
  await expect(field(page, 'GENRE_SPLIT.english').locator('output')).toHaveText('60%');
  expect(await hour.getAttribute('aria-label')).not.toBe(before);
  await page.getByLabel('During').selectOption({ label: 'Overnight' });
  await expect(hour).toHaveAttribute('aria-label', /English 9\d%/);
  await bar(page).getByRole('button', { name: 'Apply' }).click();
  await expectNews(page, 'Applied. The rotation was rebuilt.');
  expect(puts(mock)).toEqual([{ GENRE_SPLIT: { arabic_hits: 0.3, english: 0.6, social: 0.1 } }]);
});

test('a deck without songs has no share of the hour, and it says where that goes', async ({ page, mock }) => {
  mock.emptied = ['english', 'jingles'];
  await openProgramme(page, mock);
  const hour = page.getByRole('img', { name: /^Shares of an hour/ });
  await expect(hour).toHaveAttribute('aria-label', /Arabic hits \d+%/);
  await expect(hour).not.toHaveAttribute('aria-label', /English|Jingles/);
  await expect(page.locator('[data-moved=english]')).toHaveText('English: no songs. Its share goes to Arabic hits.');
});

test('knobs speak minutes, send milliseconds, and go back to their default one by one', async ({ page, mock }) => {
  await openProgramme(page, mock);
  const artist = field(page, 'ROTATION.ARTIST_GAP_MS');
  await expect(artist.getByRole('spinbutton')).toHaveValue('30');
  await artist.getByRole('spinbutton').fill('45');
  await field(page, 'ROTATION.REFRESH_FRACTION').getByRole('spinbutton').fill('70');
  await expect(bar(page)).toContainText('2 changes not applied yet');
  await bar(page).getByRole('button', { name: 'Apply' }).click();
  await expect(bar(page)).toContainText('Everything in force is saved.');
  expect(puts(mock)).toEqual([{ ROTATION: { ARTIST_GAP_MS: 2_700_000, REFRESH_FRACTION: 0.7 } }]);
  await artist.getByRole('button', { name: /to the default, 30 min/ }).click();
  await bar(page).getByRole('button', { name: 'Apply' }).click();
  await expect.poll(() => puts(mock)).toContainEqual({ ROTATION: { ARTIST_GAP_MS: 1_800_000 } });
  await expect(bar(page).getByRole('button', { name: /^Save/ })).toHaveCount(0);
});

test('where edits are not kept, saving is a step of its own and the bar says so', async ({ page, mock }) => {
  mock.control.keepsEdits = false;
  await openProgramme(page, mock);
  await expect(bar(page)).toContainText('saves changes only when you save them');
  await field(page, 'AD_EVERY').getByRole('spinbutton').fill('9');
  await bar(page).getByRole('button', { name: 'Apply' }).click();
  await expect(bar(page)).toContainText('lost at the next restart');
  await expect(page.getByText('The list begins with the last start of the station.')).toBeVisible();
  await bar(page).getByRole('button', { name: 'Save permanently' }).click();
  await expectNews(page, 'Saved permanently.');
  await expect(bar(page).getByRole('button', { name: 'Save permanently' })).toHaveCount(0);
});

test('a disk that refuses is told, with its reason and a button to try again', async ({ page, mock }) => {
  await openProgramme(page, mock);
  mock.control.unsaved = 'the disk is full';
  await field(page, 'AD_EVERY').getByRole('spinbutton').fill('9');
  await bar(page).getByRole('button', { name: 'Apply' }).click();
  await expect(bar(page)).toContainText('In force, but not saved.');
  await expect(bar(page)).toContainText('the disk is full');
  await bar(page).getByRole('button', { name: 'Save now' }).click();
  await expectNews(page, 'Part of the station is down.');
  mock.control.unsaved = '';
  await bar(page).getByRole('button', { name: 'Save now' }).click();
  await expect(bar(page)).toContainText('Everything in force is saved.');
});

/** Rows of the list of changes. */
const past = (page: Page) => page.getByRole('region', { name: 'Latest changes' });

test('the latest changes are listed with who made them, and each is undone; an undo too', async ({ page, mock }) => {
  mock.control.past = [
    { id: 3, at: Date.now() - 60_000, by: 'station key', what: ['SINGERS.english'], before: structuredClone(mock.control.config) },
    { id: 2, at: Date.now() - 3_600_000, by: '<b>nour</b>', what: ['MOOD'], mood: 'tarab', before: structuredClone(mock.control.config) },
  ];
  await openProgramme(page, mock);
  const rows = past(page).locator('[data-change]');
  await expect(rows).toHaveCount(2);
  await expect(rows.first()).toContainText('Singers: English');
  await expect(rows.first()).toContainText('the station key');
  await expect(rows.nth(1)).toContainText('Mood: Tarab');
  await expect(rows.nth(1)).toContainText('<b>nour</b>'); // text, never markup
  await field(page, 'AD_EVERY').getByRole('spinbutton').fill('9');
  await bar(page).getByRole('button', { name: 'Apply' }).click();
  await expect(rows.first()).toContainText('Ads');
  await past(page).getByRole('button', { name: /^Undo: Ads/ }).press('Enter');
  await expectNews(page, 'The change was undone.');
  await expect(field(page, 'AD_EVERY').getByRole('spinbutton')).toHaveValue('16');
  await expect(rows.first()).toContainText('Undid: Ads');
  await expect(rows.nth(1)).toContainText('undone');
  await expect(rows.nth(1)).toBeFocused(); // the button that was pressed is gone
  await expect(bar(page).getByRole('button', { name: 'Undo' })).toHaveCount(0);
  await rows.first().getByRole('button', { name: /^Undo: Undid: Ads/ }).click();
  await expect(field(page, 'AD_EVERY').getByRole('spinbutton')).toHaveValue('9');
  expect(mock.control.taken.filter((t) => t.order === 'POST config/undo').map((t) => t.body)).toEqual([{ id: 4 }, { id: 5 }]);
});

test('what was changed again since is named, and what cannot be undone says so', async ({ page, mock }) => {
  mock.control.past = [
    { id: 2, at: Date.now(), by: 'nour', what: ['ROTATION.ARTIST_GAP_MS'], before: structuredClone(mock.control.config) },
    { id: 1, at: Date.now(), by: 'nour', what: ['ROTATION.ARTIST_GAP_MS', 'AD_EVERY'], before: structuredClone(mock.control.config) },
  ];
  await openProgramme(page, mock);
  await past(page).getByRole('button', { name: /^Undo: .*, Ads/ }).click();
  await expectNews(page, 'Changed again since, and left as it is: Artist');
  mock.control.past[1]!.undone = 99; // by somebody else, meanwhile
  await past(page).getByRole('button', { name: /^Undo: Artist/ }).last().click();
  await expectNews(page, 'This change cannot be undone.');
});

test('many changes are folded', async ({ page, mock }) => {
  mock.control.past = Array.from({ length: 12 }, (_, i) => ({ id: 12 - i, at: Date.now() - i * 60_000, by: 'nour', what: ['AD_EVERY'], before: structuredClone(mock.control.config) }));
  await openProgramme(page, mock);
  await expect(past(page).locator('[data-change]:visible')).toHaveCount(5);
  const rowAt = (i: number) => past(page).locator('[data-change]').nth(i);
  await rowAt(4).getByRole('button').press('Enter');
  await expect(past(page).getByRole('heading')).toBeFocused(); // its row is folded away
  await past(page).getByText('Older changes').click();
  await expect(past(page).locator('[data-change]:visible')).toHaveCount(13);
});

test('a draft survives a reload, and lies over what another operator changed meanwhile', async ({ page, mock }) => {
  await openProgramme(page, mock);
  await field(page, 'ROTATION.ARTIST_GAP_MS').getByRole('spinbutton').fill('45');
  mock.control.config.ROTATION.TITLE_GAP_MS = 7_200_000;
  await page.reload();
  await expect(field(page, 'ROTATION.ARTIST_GAP_MS').getByRole('spinbutton')).toHaveValue('45');
  await expect(field(page, 'ROTATION.TITLE_GAP_MS').getByRole('spinbutton')).toHaveValue('120');
  await expect(bar(page)).toContainText('One change not applied yet');
  await bar(page).getByRole('button', { name: 'Discard' }).click();
  await expect(field(page, 'ROTATION.ARTIST_GAP_MS').getByRole('spinbutton')).toHaveValue('30');
  await page.reload();
  await expect(field(page, 'ROTATION.ARTIST_GAP_MS').getByRole('spinbutton')).toHaveValue('30');
});

test('the last change is undone to what was in force before it', async ({ page, mock }) => {
  await openProgramme(page, mock);
  const before = structuredClone(mock.control.config);
  await page.getByRole('button', { name: 'Customise' }).click();
  await field(page, 'DAYPARTS[1].name').getByRole('textbox').fill('فجر');
  await field(page, 'AD_EVERY').getByRole('spinbutton').fill('9');
  await bar(page).getByRole('button', { name: 'Apply' }).click();
  await expect.poll(() => mock.control.config.DAYPARTS?.[1]?.name).toBe('فجر');
  await bar(page).getByRole('button', { name: 'Undo' }).click();
  await expectNews(page, 'The change was undone.');
  expect(mock.control.config).toEqual(before);
});

test('a change that takes dayparts away names them, and is applied only when asked again', async ({ page, mock }) => {
  await openProgramme(page, mock);
  await page.getByRole('button', { name: 'Customise' }).click();
  await page.getByRole('button', { name: 'Remove: Overnight' }).click();
  await bar(page).getByRole('button', { name: 'Apply' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('listitem')).toHaveText(['Overnight, 02:00–05:00: English alone']);
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Keep editing' }).click();
  expect(puts(mock)).toEqual([]);
  await bar(page).getByRole('button', { name: 'Apply' }).click();
  await dialog.getByRole('button', { name: 'Apply anyway' }).click();
  await expect.poll(() => mock.control.config.DAYPARTS?.length).toBe(4);
  // What takes nothing away is applied at once.
  await field(page, 'DAYPARTS[0].name').getByRole('textbox').fill('فجر');
  await bar(page).getByRole('button', { name: 'Apply' }).click();
  await expect.poll(() => mock.control.config.DAYPARTS?.[0]?.name).toBe('فجر');
});

test('who works by the keyboard keeps a place among the dayparts and in the bar', async ({ page, mock }) => {
  mock.control.config.DAYPARTS = null;
  await openProgramme(page, mock);
  const add = page.getByRole('button', { name: 'Add a daypart' });
  await page.getByRole('button', { name: 'Use no dayparts' }).press('Enter');
  await expect(add).toBeFocused(); // the button that was pressed is gone
  await page.keyboard.press('Enter');
  await expect(field(page, 'DAYPARTS[0].name').getByRole('textbox')).toBeFocused();
  await page.keyboard.type('Breakfast');
  await page.getByRole('button', { name: 'Remove: Breakfast' }).press('Enter');
  await expect(add).toBeFocused();
  await page.keyboard.press('Enter');
  await bar(page).getByRole('button', { name: 'Apply' }).press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Apply anyway' }).press('Enter');
  await expect.poll(() => mock.control.config.DAYPARTS?.length).toBe(1);
  await expect(bar(page)).toBeFocused();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter'); // the first in it takes the change back
  await expectNews(page, 'The change was undone.');
  await expect(bar(page)).toBeFocused();
});

test('going back to defaults asks first', async ({ page, mock }) => {
  mock.control.config.AD_EVERY = 5;
  await openProgramme(page, mock);
  await bar(page).getByRole('button', { name: 'Restore defaults' }).click();
  await page.getByRole('button', { name: 'Keep my settings' }).click();
  expect(mock.control.taken).toEqual([]);
  await bar(page).getByRole('button', { name: 'Restore defaults' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Restore defaults' }).click();
  await expect(field(page, 'AD_EVERY').getByRole('spinbutton')).toHaveValue('16');
});

test('every refused value is said beside its field, and found from the bar', async ({ page, mock }) => {
  mock.control.config.CLOCKS = morning();
  await openProgramme(page, mock);
  await field(page, 'ROTATION.BUFFER_MAX').getByRole('spinbutton').fill('0');
  await page.getByRole('button', { name: 'Friday' }).click();
  mock.control.refusal = {
    status: 422,
    body: {
      detail: 'validation failed',
      errors: [
        { location: 'body.ROTATION.BUFFER_MAX', message: 'must be 1 to 1000' },
        { location: 'body.CLOCKS[0].hour[8].at', message: 'must be later than the timed event before it' },
        { location: 'body.SINGERS.arabic_hits[3]', message: '<b>odd</b>' },
      ],
    },
  };
  await bar(page).getByRole('button', { name: 'Apply' }).click();
  await expect(field(page, 'ROTATION.BUFFER_MAX')).toContainText('from 1 to 1000');
  await expect(page.getByRole('button', { name: 'صباح النيل' })).toHaveAttribute('aria-pressed', 'true'); // the clock it lies in
  await expect(page.locator('[data-position="8"]')).toContainText('later than the timed event before it');
  await expect(bar(page)).toContainText('<b>odd</b>'); // what has no field here is said too, as text
  await bar(page).getByRole('button', { name: 'Go to CLOCKS[0].hour[8].at' }).click();
  await expect(field(page, 'CLOCKS[0].hour[8].at').getByRole('textbox')).toBeFocused();
  await field(page, 'ROTATION.BUFFER_MAX').getByRole('spinbutton').fill('90');
  await expect(field(page, 'ROTATION.BUFFER_MAX')).not.toContainText('from 1 to 1000');
  await expect(page.locator('[data-position="8"]')).toContainText('later than');
});

for (const language of ['en', 'ar'] as const) {
  test(`dayparts are moved by their handles and by their times: ${language}`, async ({ page, mock }) => {
    mock.control.config.DAYPARTS = [{ name: 'a', start: '06:00', end: '12:00' }, { name: 'b', start: '12:00', end: '18:00', hard: 'english' }];
    await openProgramme(page, mock, language);
    await page.locator('.band').evaluate((band) => band.scrollIntoView({ block: 'center' }));
    const band = (await page.locator('.band').boundingBox())!;
    const handle = (await page.locator('.handle').nth(1).boundingBox())!;
    await page.mouse.move(handle.x + handle.width / 2, handle.y + 20);
    await page.mouse.down();
    await page.mouse.move(band.x + band.width * (language === 'en' ? 0.375 : 0.625), handle.y + 20, { steps: 4 });
    await page.mouse.up();
    await expect(field(page, 'DAYPARTS[0].end').locator('input')).toHaveValue('09:00');
    await expect(field(page, 'DAYPARTS[1].start').locator('input')).toHaveValue('09:00'); // the bound they share
    await field(page, 'DAYPARTS[1].end').locator('input').fill('20:30');
    await page.locator('.bar .key').click();
    await expect.poll(() => mock.control.config.DAYPARTS).toEqual([
      { name: 'a', start: '06:00', end: '09:00' }, { name: 'b', start: '09:00', end: '20:30', hard: 'english' },
    ]);
  });
}

test('a clock is laid out by the keyboard alone', async ({ page, mock }) => {
  await openProgramme(page, mock);
  await page.getByRole('button', { name: 'Add a clock' }).press('Enter');
  await field(page, 'CLOCKS[0].name').getByRole('textbox').fill('ساعة الظهر');
  await page.getByLabel('Fri', { exact: true }).press('Space');
  const rows = page.locator('[data-position]');
  await expect(rows).toHaveCount(12);
  for (let i = 0; i < 7; i++) await rows.last().getByRole('button', { name: /^Remove/ }).press('Enter');
  await page.getByRole('button', { name: 'Add a position' }).press('Enter');
  await field(page, 'CLOCKS[0].hour[5].category').getByRole('combobox').selectOption('shorts');
  await rows.nth(5).getByRole('button', { name: /^Move up/ }).press('Enter');
  await expect(rows.nth(4).getByRole('button', { name: /^Move up/ })).toBeFocused(); // the focus goes along
  await page.keyboard.press('Enter');
  await rows.nth(0).getByRole('button', { name: /^Duplicate/ }).press('Enter');
  await field(page, 'CLOCKS[0].hour[1].at').getByRole('textbox').fill('30:00');
  await field(page, 'CLOCKS[0].hour[1].tolerance').getByRole('spinbutton').fill('20');
  await expect(page.getByText(/^About \d+ of 60 minutes$/)).toBeVisible();
  await expect(page.getByRole('img', { name: /^Wheel of ساعة الظهر: about/ })).toBeVisible();
  await bar(page).getByRole('button', { name: 'Apply' }).press('Enter');
  await expect.poll(() => mock.control.config.CLOCKS).toEqual([
    {
      name: 'ساعة الظهر', days: ['fri'], start: '06:00', end: '10:00',
      hour: [
        { category: 'news', at: '00:00' }, { category: 'news', at: '30:00', tolerance: 20 }, { category: 'jingles' },
        { category: 'music', count: 3 }, { category: 'shorts' }, { category: 'break' }, { category: 'music', count: 3 },
      ],
    },
  ]);
});

test('positions are dragged, and what finds no room in the hour says so', async ({ page, mock }) => {
  mock.control.config.CLOCKS = [{ name: 'x', start: '00:00', end: '00:00', hour: [{ category: 'jingles' }, { category: 'music', count: 20 }, { category: 'sfx' }] }];
  await openProgramme(page, mock);
  const rows = page.locator('[data-position]');
  await expect(rows.nth(2)).toContainText('no room in the hour');
  await expect(page.getByText('what does not fit in the hour does not air')).toBeVisible();
  await rows.nth(2).locator('.grip').dragTo(rows.nth(0));
  await expect(field(page, 'CLOCKS[0].hour[0].category').getByRole('combobox')).toHaveValue('sfx');
  await expect(rows.nth(0)).not.toContainText('no room');
});

test('the log is followed, filtered and paused', async ({ page, mock }) => {
  mock.control.key = '';
  mock.control.log = logLines();
  await page.clock.install();
  await open(page, '/studio#/log', 'en');
  const lines = page.locator('.lines li');
  await expect(lines.first()).toContainText('now playing');
  await expect(page.getByText('marker')).toHaveCount(0);
  await page.getByLabel('Lowest level').selectOption('DEBUG');
  await expect(page.getByText('<i>ليل القاهرة</i>').first()).toBeAttached(); // text, never markup
  await page.getByLabel('Lowest level').selectOption('ERROR');
  await expect(lines).toHaveCount(2);
  await page.getByRole('button', { name: 'Pause' }).click();
  const asked = mock.count('/api/station/log');
  mock.control.log = ['time=2026-11-21T14:00:00Z level=ERROR msg="the air is silent"'];
  await nextLook(page, mock); // of what looks now and then, all but the log
  await expect(lines).toHaveCount(2);
  await page.getByRole('button', { name: 'Resume' }).click();
  await expect(lines).toHaveCount(1);
  await expect(lines).toContainText('the air is silent');
  expect(mock.count('/api/station/log')).toBeGreaterThan(asked);
});

test('a station without these routes says so', async ({ page, mock }) => {
  await page.route('**/api/station/**', (route) => route.fulfill({ status: 404, contentType: 'application/problem+json', body: '{"detail":"there is no such route"}' }));
  await open(page, '/studio#/programme', 'en');
  await expect(page.getByText('it offers no settings')).toBeVisible();
  await page.getByRole('link', { name: 'Log' }).click();
  await expect(page.getByText('This station does not show its log here.')).toBeVisible();
  await page.getByRole('button', { name: 'Skip' }).click();
  await expectNews(page, 'The station does not have this.');
  expect(mock.control.taken).toEqual([]);
});

for (const [language, colorScheme] of faces) {
  test(`axe finds nothing in the programme and the log, and they fit a phone: ${language} ${colorScheme}`, async ({ page, mock }) => {
    await page.emulateMedia({ colorScheme });
    mock.control.config.CLOCKS = morning();
    mock.control.config.DAYPARTS = [{ name: 'a', start: '06:00', end: '12:00', weights: { english: 2 } }, { start: '12:00', end: '18:00', hard: 'english' }];
    mock.control.config.AD_EVERY = 9;
    mock.control.log = logLines();
    mock.control.past = Array.from({ length: 12 }, (_, i) => ({
      id: 12 - i, at: Date.now() - i * 600_000, by: i % 3 ? 'سلمى' : 'station key', what: i % 2 ? ['MOOD'] : ['ROTATION.ARTIST_GAP_MS', 'CLOCKS', 'SINGERS.arabic_hits'], ...(i % 2 ? { mood: 'tarab' } : {}),
      ...(i === 4 ? { undone: 12 } : {}), before: structuredClone(mock.control.config),
    }));
    await openProgramme(page, mock, language);
    await page.locator('summary').last().click();
    await field(page, 'ROTATION.BUFFER_MAX').getByRole('spinbutton').fill('0');
    mock.control.refusal = { status: 422, body: { detail: 'no', errors: [{ location: 'body.ROTATION.BUFFER_MAX', message: 'must be 1 to 1000' }] } };
    await page.locator('.bar .key').click();
    await expect(page.locator('.wrongs')).toBeVisible();
    await expectAccessible(page);
    await expectFits(page);
    await page.goto('/studio#/log');
    await expect(page.locator('.lines li').first()).toBeVisible();
    await expectFits(page);
    await expectAccessible(page, 'main');
  });
}
