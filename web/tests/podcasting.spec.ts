import type { Locator, Page } from '@playwright/test';
import type { Own } from '../src/studio/podcasts/answers';
import { expect, expectAccessible, expectFits, expectNews, faces, open, stopClock, test } from './fixtures';
import { picture } from './mock/facing';
import type { Mock } from './mock/mock';

// The studio's section of podcasts: shows, episodes, and what becomes one.

const path = (page: Page, of: string): Locator => page.locator(`[data-path="${of}"]`);
const bar = (page: Page): Locator => page.locator('[data-foot]');
const news = (page: Page): Locator => page.getByRole('log', { name: 'What happened' });
const episode = (page: Page, title: string): Locator => page.locator('[data-episode]').filter({ hasText: title });
const own = (mock: Mock, slug: string): Own => mock.podcasting.of(slug).own;
const orders = (mock: Mock): string[] => mock.podcasting.taken.map(({ order }) => order);
const last = (mock: Mock): unknown => mock.podcasting.taken.at(-1)?.body;

/** The section of a station that needs no key and has shows, where nothing else is wanted. */
async function openCasts(page: Page, mock: Mock, { language = 'en', at = '', set = true }: { language?: 'ar' | 'en'; at?: string; set?: boolean } = {}): Promise<void> {
  mock.control.key = '';
  if (set) mock.podcasting.set();
  await open(page, `/studio#/podcasts${at}`, language);
  await expect(page.locator(at === '' ? '#podcasts-title' : 'nav.parts').first()).toBeVisible();
}

for (const [kind, name, slug, category] of [['live', 'Live broadcasts', 'live', 'Music'], ['bulletins', 'News bulletins', 'news', 'News > Daily News'], ['posts', 'Listeners’ posts', 'listeners', 'Music'], ['library', 'Files you choose', 'shows', 'Music']] as const) {
  test(`a show of ${kind} is made by keyboard alone, with what it begins with`, async ({ page, mock }) => {
    await openCasts(page, mock, { set: false });
    await expect(page.getByRole('heading', { name: 'No show yet' })).toBeVisible();
    await page.getByRole('button', { name: 'New show' }).focus();
    await page.keyboard.press('Enter');
    const form = page.getByRole('dialog', { name: 'New show' });
    await expect(form.getByRole('radio', { name: 'Live broadcasts' })).toBeChecked();
    await form.getByRole('radio').first().focus();
    while (!(await form.getByRole('radio', { name }).isChecked())) await page.keyboard.press('ArrowDown');
    await expect(form.getByLabel('Title')).toHaveValue(/^.+: /);
    await expect(form.getByLabel('In its address')).toHaveValue(slug);
    await form.getByLabel('Title').focus();
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(new RegExp(`#/podcasts/${slug}$`));
    expect(own(mock, slug)).toMatchObject({ slug, on: true, language: 'en', author: '', categories: [category], held: false, from: { kind, streams: [], types: [], shortest: kind === 'live' ? 300 : 0 }, keep: { episodes: 0, days: kind === 'bulletins' ? 14 : 0, megabytes: 0 } });
    await expect(page.getByRole('main').getByText('No episode yet.')).toBeVisible();
  });
}

test('an address is made of an Arabic title, stays as it was typed, and is refused where it is taken', async ({ page, mock }) => {
  await openCasts(page, mock, { language: 'ar' });
  await page.getByRole('button', { name: 'بودكاست جديد' }).click();
  const form = page.getByRole('dialog');
  await expect(form.getByLabel('الاسم')).toHaveValue('البث المباشر من إذاعة النيل');
  await form.getByLabel('الاسم').fill('سهرة الخميس');
  await expect(form.getByLabel('في عنوانه')).toHaveValue('sahra-al-khamis');
  await form.getByLabel('في عنوانه').fill('layali');
  await form.getByRole('radio', { name: 'نشرات الأخبار' }).check();
  await expect(form.getByLabel('الاسم')).toHaveValue('سهرة الخميس');
  await form.getByRole('button', { name: 'إنشاء' }).click();
  await expect(form.getByRole('alert')).toHaveText('لبودكاست آخر هذا العنوان. اختر غيره.');
  await expect(form.getByLabel('في عنوانه')).toHaveAccessibleDescription(/لبودكاست آخر هذا العنوان/);
  await form.getByLabel('في عنوانه').fill('sahra');
  mock.podcasting.refusal = { status: 422, body: { detail: 'validation failed', errors: [{ location: 'body.own.title', message: 'is taken' }], reason: { code: 'field', en: 'title is taken', ar: 'الاسم مستعمل' } } };
  await form.getByRole('button', { name: 'إنشاء' }).click();
  await expect(form.getByRole('alert')).toHaveText('الاسم مستعمل');
  await form.getByRole('button', { name: 'إنشاء' }).click();
  await expectNews(page, 'أُنشئ سهرة الخميس.');
  expect(own(mock, 'sahra')).toMatchObject({ title: 'سهرة الخميس', language: 'ar', from: { kind: 'bulletins' }, categories: ['News > Daily News'] });
});

test('the list tells of each show, and turns one on and off with a way back', async ({ page, mock }) => {
  await page.clock.install();
  await openCasts(page, mock);
  const live = page.locator('[data-show=layali]');
  await expect(live).toContainText('3 episodes');
  for (const text of ['one being made', 'one could not be made', 'one waits for you']) await expect(live).toContainText(text);
  await expect(page.getByRole('meter')).toHaveAccessibleName('Room that all episodes take');
  await expect(page.locator('[data-show=listeners]')).toContainText('listeners do not find it');
  await live.locator('img').evaluate((image: HTMLImageElement) => image.decode());
  await stopClock(page);
  await live.getByRole('switch').click();
  await expectNews(page, 'Listeners no longer find');
  expect(own(mock, 'layali').on).toBe(false);
  await news(page).getByRole('button', { name: 'Undo' }).click();
  await expect(live.getByRole('switch')).toBeChecked();
  expect(own(mock, 'layali').on).toBe(true);
});

test('a show is edited and saved by one press, and is as before by another', async ({ page, mock }) => {
  await page.clock.install();
  await openCasts(page, mock, { at: '/layali/settings' });
  const before = structuredClone(own(mock, 'layali'));
  await expect(bar(page)).toContainText('Everything is saved.');
  await page.getByLabel('Title', { exact: true }).fill('Nights of the Nile');
  await page.getByLabel('Category 2').selectOption('Education');
  await page.getByRole('button', { name: 'Add a category' }).click();
  await page.getByLabel('Category 3').selectOption('');
  await page.getByLabel('Language of the episodes').selectOption('');
  await page.getByLabel('Language code').fill('pt-BR');
  await page.getByLabel('At least this long').fill('1.5');
  await page.getByLabel('New episodes wait until you publish them').check();
  await page.getByLabel('Days', { exact: true }).fill('٣٠ days');
  await page.getByLabel('Author').fill('Sara');
  await page.getByLabel('To be heard in order').check();
  await expect(bar(page)).toContainText('Changes not saved: title, language, author, categories, order, what becomes an episode, publishing, how long it is kept');
  await stopClock(page);
  await page.keyboard.press('Control+s');
  await expectNews(page, 'Saved.');
  expect(last(mock)).toEqual({ version: 3, own: { ...before, title: 'Nights of the Nile', language: 'pt-BR', author: 'Sara', categories: ['Music', 'Education'], serial: true, held: true, from: { ...before.from, shortest: 90 }, keep: { ...before.keep, days: 30 } } });
  await news(page).getByRole('button', { name: 'Undo' }).click();
  await expectNews(page, 'As it was before.');
  expect(own(mock, 'layali')).toEqual(before);
  await expect(page.getByLabel('Title', { exact: true })).toHaveValue('ليالي النيل');
});

test('where somebody else saved first, what was typed stays, and both are kept or theirs is shown', async ({ page, mock }) => {
  await openCasts(page, mock, { at: '/layali/settings' });
  await page.getByLabel('Title', { exact: true }).fill('Mine');
  mock.podcasting.change('layali', { held: true, author: 'Omar' });
  await bar(page).getByRole('button', { name: 'Save' }).click();
  await expect(bar(page).getByRole('alert')).toContainText('somebody else changed this meanwhile: author, publishing');
  await expect(page.getByLabel('Title', { exact: true })).toHaveValue('Mine');
  await bar(page).getByRole('button', { name: 'Save mine' }).click();
  await expectNews(page, 'Saved.');
  expect(own(mock, 'layali')).toMatchObject({ title: 'Mine', held: true, author: 'Omar' });

  await page.getByLabel('Title', { exact: true }).fill('Again');
  mock.podcasting.change('layali', { title: 'Theirs' });
  await page.keyboard.press('Control+s');
  await bar(page).getByRole('button', { name: 'Show theirs' }).click();
  await expect(page.getByLabel('Title', { exact: true })).toHaveValue('Theirs');
  await expect(bar(page)).toContainText('Everything is saved.');

  mock.podcasting.lost = true; // the answer, and not the order
  await page.getByLabel('Title', { exact: true }).fill('Got there');
  await page.keyboard.press('Control+s');
  await expect(bar(page)).toContainText('Everything is saved.');
  await expect(bar(page).getByRole('alert')).toHaveCount(0);
  expect(own(mock, 'layali').title).toBe('Got there');
});

test('what is wrong is said at its field, before it is sent and as the station says it', async ({ page, mock }) => {
  await openCasts(page, mock, { at: '/layali/settings', language: 'ar' });
  await path(page, 'title').locator('input').fill(' ');
  await path(page, 'email').locator('input').fill('nobody');
  await bar(page).getByRole('button', { name: 'حفظ', exact: true }).click();
  await expect(bar(page)).toContainText('لم يُحفظ: حقلان يحتاجان إلى تصحيح.');
  await expect(path(page, 'title').locator('input')).toBeFocused();
  await expect(path(page, 'email').locator('input')).toHaveAccessibleDescription(/ليس بريدًا/);
  expect(orders(mock)).toEqual([]);
  await path(page, 'title').locator('input').fill('ليالي');
  await path(page, 'email').locator('input').fill('');
  mock.podcasting.refusal = { status: 422, body: { detail: 'validation failed', errors: [{ location: 'body.own.keep.days', message: 'must be 1 to 3650' }], reason: { code: 'field', en: 'must be 1 to 3650', ar: 'اكتب رقمًا من 1 إلى 3650' } } };
  await page.keyboard.press('Control+s');
  await expect(path(page, 'keep.days').locator('.wrong')).toHaveText('اكتب رقمًا من 1 إلى 3650');
  await expect(path(page, 'keep.days').locator('input')).toBeFocused();
});

test('what a bound takes away is said before it is saved, without what is pinned', async ({ page, mock }) => {
  await openCasts(page, mock, { at: '/layali/settings' });
  const going = page.locator('section[aria-labelledby=show-keep] [role=status]');
  await page.getByLabel('Episodes', { exact: true }).fill('2');
  await expect(going).toContainText('2 episodes go ten minutes after you save:');
  await expect(going.locator('li')).toHaveText([/ذكرى عبد الحليم/, /أغنيات الصيف/]);
  await expect(going).toContainText('119 MB become free');
  await page.getByLabel('Episodes', { exact: true }).fill('9');
  await expect(going).toContainText('Nothing goes now.');
  await page.getByLabel('Episodes', { exact: true }).fill('');
  await expect(going).toHaveText('');
});

test('a cover is looked at, cut, sent and taken back; what is too small is refused here', async ({ page, mock }) => {
  await page.clock.install();
  await openCasts(page, mock, { at: '/listeners/settings' });
  const box = page.locator('[data-picture=cover]');
  const choose = box.locator('[data-choose=cover]');
  await expect(box).toContainText('Made of the station’s face');
  await choose.setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: picture(900, 2000, [9, 9, 9]) });
  await expect(box.getByRole('alert')).toContainText('its shorter side has to be 1400 pixels at least. It has 900\u00a0×\u00a02,000.');
  await choose.setInputFiles({ name: 'a.gif', mimeType: 'image/gif', buffer: Buffer.from('GIF89a') });
  await expect(box.getByRole('alert')).toContainText('does not take this file');
  await choose.setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('no picture') });
  await expect(box.getByRole('alert')).toContainText('could not be opened');
  expect(orders(mock)).toEqual([]);
  const wide = picture(2000, 1500, [20, 120, 200]);
  await choose.setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: wide });
  await expect(box.getByAltText('The picture as it will be shown')).toBeVisible();
  await expect(box).toContainText('what is dimmed is cut off');
  await expect(box.locator('.picked i')).toHaveCount(2);
  await stopClock(page);
  await box.getByRole('button', { name: 'Use this picture' }).click();
  await expectNews(page, 'The cover was changed.');
  expect(last(mock)).toEqual({ type: 'image/png', bytes: wide.length });
  await expect(box).toContainText('Your own');
  await news(page).getByRole('button', { name: 'Undo' }).click();
  await expectNews(page, 'The cover from before is back.');
  expect(mock.podcasting.of('listeners').cover).toBeNull();
  await expect(bar(page)).toContainText('Everything is saved.'); // a new version is no change of ours
});

test('a cover that is dropped is no upload to the library', async ({ page, mock }) => {
  await openCasts(page, mock, { at: '/layali/settings' });
  const data = await page.evaluateHandle((base64) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], 'cover.png', { type: 'image/png' }));
    return transfer;
  }, picture(1400, 1400, [9, 90, 200]).toString('base64'));
  await page.dispatchEvent('[data-picture=cover] .box', 'dragover', { dataTransfer: data });
  await page.dispatchEvent('[data-picture=cover] .box', 'drop', { dataTransfer: data });
  await expect(page.getByAltText('The picture as it will be shown')).toBeVisible();
  await expect(page.locator('.picked i')).toHaveCount(0); // it is square
  await expect(page.locator('.net')).toHaveCount(0);
});

test('a show is removed and brought back, at once or later', async ({ page, mock }) => {
  await page.clock.install();
  await openCasts(page, mock, { at: '/akhbar' });
  await page.getByRole('button', { name: 'Remove the show…' }).click();
  await expect(page.getByRole('dialog')).toContainText('for 7 days');
  await stopClock(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
  await expect(page).toHaveURL(/#\/podcasts$/);
  await expect(page.locator('[data-show]')).toHaveCount(2);
  await news(page).getByRole('button', { name: 'Undo' }).click();
  await expect(page.locator('[data-show]')).toHaveCount(3);
  mock.podcasting.of('akhbar').removedAt = Date.now();
  await page.clock.resume();
  await page.reload();
  await page.getByText('Removed shows').click();
  await page.getByRole('button', { name: /^Bring back/ }).click();
  await expect(page.locator('[data-show=akhbar]')).toBeVisible();
  expect(orders(mock)).toEqual(['DELETE akhbar', 'POST akhbar/restore', 'POST akhbar/restore']);
});

test('what is being made is asked for until it is made, and nothing is asked for then', async ({ page, mock }) => {
  await page.clock.install();
  await openCasts(page, mock, { at: '/layali' });
  const made = episode(page, 'سهرة الخميس مع سارة');
  await expect(made).toContainText('Being made');
  const asked = () => mock.count('/api/station/podcasts/layali/episodes');
  const before = asked();
  await page.clock.fastForward(4000);
  await expect.poll(asked).toBeGreaterThan(before);
  mock.podcasting.finish();
  await expect.poll(async () => (await page.clock.fastForward(4000), made.textContent())).toContain('Published');
  await expect(page.getByRole('main').locator('.top')).toContainText('4 episodes'); // its show is told anew
  const then = asked();
  for (let i = 0; i < 5; i++) await page.clock.fastForward(4000);
  expect(asked()).toBe(then);
});

test('states: one is tried again, published, hidden and removed, each with a way back', async ({ page, mock }) => {
  await page.clock.install();
  await openCasts(page, mock, { at: '/layali' });
  await stopClock(page);
  await expect(episode(page, 'بث تجريبي')).toContainText('the recording is shorter than a second');
  await page.getByRole('button', { name: 'Try again to make \u2068بث تجريبي\u2069' }).click();
  await expect(episode(page, 'بث تجريبي')).toContainText('Being made');
  await page.getByRole('button', { name: 'Publish \u2068حوار مع فرقة الشارع\u2069' }).click();
  await expect(episode(page, 'حوار مع فرقة الشارع')).toContainText('Published');
  await news(page).getByRole('button', { name: 'Undo' }).click();
  await expect(episode(page, 'حوار مع فرقة الشارع')).toContainText('Hidden'); // nothing waits twice

  await episode(page, 'ذكرى عبد الحليم').getByRole('link', { name: /^Edit/ }).click();
  await page.getByRole('button', { name: 'Remove the episode' }).click();
  await expect(episode(page, 'ذكرى عبد الحليم')).toHaveCount(0);
  await news(page).getByRole('button', { name: 'Undo' }).click();
  await expect(episode(page, 'ذكرى عبد الحليم')).toContainText('Published');
  await page.clock.fastForward(60_000); // the news no longer stands over the list
  await page.getByText('Removed episodes').click();
  await page.getByRole('button', { name: 'Bring back \u2068حلقة محذوفة\u2069' }).click();
  await expect(episode(page, 'حلقة محذوفة')).toBeVisible();
  await page.getByRole('group', { name: 'Which episodes' }).getByRole('button', { name: 'Hidden' }).click();
  await expect(page.locator('[data-episode]')).toHaveCount(2);
  await page.getByRole('searchbox', { name: 'Search in titles' }).fill('اغنيات'); // without its hamza it is not found
  await expect(page.getByText('No episode fits.')).toBeVisible();
});

test('an episode is listened to by a ticket, in the list', async ({ page, mock }) => {
  await openCasts(page, mock, { at: '/layali' });
  await page.getByRole('button', { name: 'Listen to Cairo after midnight' }).click();
  const sound = page.getByLabel('Sound of Cairo after midnight', { exact: true });
  await expect(sound).toHaveAttribute('src', '/podcast-sound/layali-7');
  await expect.poll(() => sound.evaluate((audio: HTMLAudioElement) => audio.duration)).toBeGreaterThan(50);
  await page.getByRole('button', { name: 'Close the sound of Cairo after midnight' }).click();
  await expect(sound).toHaveCount(0);
});

test('chapters: times as people write them, where the sound is, moved, sorted, checked, and taken back', async ({ page, mock }) => {
  await page.clock.install();
  await openCasts(page, mock, { at: '/layali' });
  await page.getByRole('link', { name: 'Edit \u2068ليلة أم كلثوم\u2069' }).click();
  const rows = page.locator('[data-chapter]');
  await expect(rows).toHaveCount(3);
  const shown = () => rows.evaluateAll((all) => all.map((row) => [...row.querySelectorAll('input')].map(({ value }) => value).join('|')));
  expect(await shown()).toEqual(['0:00|افتتاح|', '0:12|إنت عمري|أم كلثوم', '0:30.5|ألف ليلة وليلة|أم كلثوم']);

  await page.getByLabel('Sound of \u2068ليلة أم كلثوم\u2069').evaluate((audio: HTMLAudioElement) => (audio.currentTime = 20.4));
  await page.getByRole('button', { name: 'Add one at 0:20' }).click();
  await expect(page.getByLabel('Chapter 3: title')).toBeFocused();
  await page.keyboard.type('Applause');
  await page.getByLabel('Chapter 1: from').fill('٠:٤٥');
  await page.keyboard.press('Tab'); // it stands where it belongs by now
  expect(await shown()).toEqual(['0:12|إنت عمري|أم كلثوم', '0:20|Applause|', '0:30.5|ألف ليلة وليلة|أم كلثوم', '0:45|افتتاح|']);
  await page.getByRole('button', { name: 'Chapter 2: move up' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'Now chapter 1 of 4.' })).toHaveCount(1);
  await page.getByRole('button', { name: 'Chapter 4: delete' }).click();
  expect(await shown()).toEqual(['0:12|Applause|', '0:20|إنت عمري|أم كلثوم', '0:30.5|ألف ليلة وليلة|أم كلثوم']);

  await page.getByRole('button', { name: 'Add a chapter' }).click();
  await page.keyboard.type('later');
  await page.getByLabel('Title', { exact: true }).fill('');
  const foot = page.getByRole('group', { name: 'Saving' });
  await foot.getByRole('button', { name: 'Save' }).click();
  await expect(foot).toContainText('2 fields need correcting');
  await expect(page.getByLabel('Chapter 4: from')).toHaveAccessibleDescription('Write a time like 12:30.');
  expect(orders(mock)).toEqual([]);
  await page.getByLabel('Chapter 4: from').fill('2:00');
  await page.keyboard.press('Tab');
  await expect(page.getByLabel('Chapter 4: from')).toHaveAccessibleDescription('This is after the end of the episode.');
  await page.getByRole('button', { name: 'Chapter 4: delete' }).click();
  await page.getByLabel('Title', { exact: true }).fill('أم كلثوم');
  await page.getByLabel('Keep it').uncheck();
  await stopClock(page);
  await foot.getByRole('button', { name: 'Save' }).click();
  await expectNews(page, 'The episode was saved.');
  expect(last(mock)).toEqual({ title: 'أم كلثوم', pinned: false, chapters: [{ startMs: 12_000, title: 'Applause', artist: '' }, { startMs: 20_000, title: 'إنت عمري', artist: 'أم كلثوم' }, { startMs: 30_500, title: 'ألف ليلة وليلة', artist: 'أم كلثوم' }] });
  await expect(foot).toHaveCount(0);
  await news(page).getByRole('button', { name: 'Undo' }).click();
  await expectNews(page, 'As it was before.');
  expect(mock.podcasting.episodes[1]).toMatchObject({ title: 'ليلة أم كلثوم', pinned: true, chapters: [{ startMs: 0 }, { startMs: 12_000 }, { startMs: 30_500 }] });
  await expect(rows).toHaveCount(3);
  expect((await shown())[0]).toBe('0:00|افتتاح|');
});

test('what is typed into an episode is kept over another section, and asked about as it is closed', async ({ page, mock }) => {
  await openCasts(page, mock, { at: '/layali' });
  await page.getByRole('link', { name: 'Edit Cairo after midnight' }).click();
  await page.getByLabel('Presenter').fill('Omar');
  await page.locator('header nav a[href="#/log"]').click();
  await expect(page.locator('header nav a[href="#/podcasts"] [role=img]')).toHaveAccessibleName('Changes not saved');
  await page.goBack();
  await expect(page.getByLabel('Presenter')).toHaveValue('Omar');
  await page.getByLabel('Presenter').press('Escape');
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await expectNews(page, 'The episode was saved.');
  await expect(page).toHaveURL(/#\/podcasts\/layali$/);
  await expect(page.getByRole('link', { name: 'Edit Cairo after midnight' })).toBeFocused();
  expect(last(mock)).toEqual({ creator: 'Omar' });
});

test('an episode is made of what is offered, or of a file of the library', async ({ page, mock }) => {
  await openCasts(page, mock, { at: '/layali' });
  await page.getByRole('button', { name: 'Add an episode' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add an episode' });
  await expect(dialog.getByRole('listitem')).toHaveCount(2);
  await dialog.getByRole('searchbox').fill('morning');
  await dialog.getByRole('button', { name: 'Add Morning rehearsal' }).click();
  await expect(dialog.getByText('Added')).toBeVisible();
  expect(last(mock)).toEqual({ key: 'rec-2.flac' });
  await dialog.getByRole('button', { name: 'Library' }).click();
  await dialog.getByRole('searchbox').fill('');
  await expect(dialog).toContainText('Type to search in the library.');
  await dialog.getByRole('searchbox').fill('a');
  await dialog.getByRole('button', { name: /^Add / }).first().click();
  await expect(dialog.getByText('Added')).toBeVisible();
  expect(last(mock)).toEqual({ key: expect.stringContaining('.') as unknown, kind: 'library' });
  await dialog.getByRole('button', { name: 'Done' }).last().click();
  await expect(episode(page, 'Morning rehearsal')).toContainText('Being made');
});

test('the feed is there to be copied, and where to submit it is said', async ({ page, mock, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openCasts(page, mock, { at: '/listeners/share' });
  const feed = `${mock.url}/podcasts/listeners/feed.xml`;
  await expect(page.getByRole('main').locator('code').first()).toHaveText(feed);
  await page.getByRole('button', { name: 'Copy: Address of the feed' }).click();
  await expect(page.getByText('Copied.')).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(feed);
  await expect(page.getByText('The show is off')).toBeVisible();
  await expect(page.getByRole('link', { name: 'Submit to Podcast Index, in a new window' })).toHaveAttribute('href', `https://podcastindex.org/add?feed=${encodeURIComponent(feed)}`);
  await page.getByRole('link', { name: 'Add it in the settings' }).click();
  await expect(page.getByLabel('Owner’s e-mail')).toBeVisible();
});

test('who may not change them reads them', async ({ page, mock }) => {
  mock.podcasting.set();
  mock.people.add('salma', 'presenter');
  await page.request.post('/api/session', { data: { login: 'salma', password: 'salma-password-1' } });
  await open(page, '/studio#/podcasts', 'en');
  await expect(page.locator('.looks')).toContainText('change nothing in it');
  await expect(page.locator('[data-show]')).toHaveCount(3);
  await expect(page.getByRole('button', { name: 'New show' })).toHaveCount(0);
  await expect(page.locator('[data-show=layali]').getByRole('switch')).toBeDisabled();
  await page.locator('[data-show=layali] h3 a').click();
  await page.getByRole('link', { name: 'Details of \u2068ليلة أم كلثوم\u2069' }).click();
  await expect(page.getByLabel('Title', { exact: true })).toBeDisabled();
  await expect(page.locator('[data-chapter]')).toHaveText([/0:00.*افتتاح/, /0:12.*إنت عمري/, /0:30.5/]);
  await expect(page.getByRole('button', { name: /^(Add|Remove|Publish \S|Try|Save)/ })).toHaveCount(0);
  await page.getByRole('link', { name: 'Settings' }).click();
  await expect(page.getByLabel('Title', { exact: true })).toBeDisabled();
  await expect(bar(page)).toHaveCount(0);
  expect(orders(mock)).toEqual([]);
});

test('a station that has no such part, one that fails, and one that wants a key say so', async ({ page, mock }) => {
  mock.podcasting.offered = false;
  mock.control.key = '';
  await open(page, '/studio#/podcasts', 'en');
  await expect(page.getByText('does not offer podcasts yet')).toBeVisible();
  mock.podcasting.offered = true;
  mock.podcasting.set();
  mock.control.key = 'نهر';
  await page.reload();
  await page.getByRole('main').getByRole('button', { name: 'Open' }).click();
  await page.getByLabel('Station key').fill('نهر');
  await page.keyboard.press('Enter');
  await expect(page.locator('[data-show]')).toHaveCount(3);
  await page.goto('/studio#/podcasts/nowhere');
  await expect(page.getByText('There is no such show any more.')).toBeVisible();
  await page.goto('/studio#/podcasts/layali/aaaaaaaaaaaaaaaa');
  await expect(page.getByText('There is no such episode any more.')).toBeVisible();
  await page.route('**/api/station/podcasts', (route) => route.fulfill({ status: 503, body: '' }));
  await page.reload();
  await expect(page.getByText('The podcasts could not be loaded.')).toBeVisible();
});

test('a phone: everything fits and can be pressed with a thumb', async ({ page, mock }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await openCasts(page, mock, { language: 'ar' });
  const small = () => page.locator('main .below, dialog[open]').locator('button:visible, a:visible:not(h3 a), input:visible:not([type=checkbox], [type=radio]), select:visible, label.check:visible, summary:visible').evaluateAll((all) =>
    all.map((one) => [one.getAttribute('aria-label') ?? one.textContent ?? one.id, Math.round(one.getBoundingClientRect().height)] as const).filter(([, high]) => high < 44));
  const looks = async () => {
    await expectFits(page, { width: 390, height: 844 });
    expect(await small()).toEqual([]);
    await expectFits(page);
  };
  await looks();
  await page.getByRole('button', { name: 'بودكاست جديد' }).click();
  await looks();
  await page.keyboard.press('Escape');
  for (const part of ['', '/settings', '/share']) {
    await page.goto(`/studio#/podcasts/layali${part}`);
    await expect(page.locator('nav.parts [aria-current]')).toHaveAttribute('href', `#/podcasts/layali${part}`);
    await page.getByRole('main').locator('.panel h2').first().waitFor();
    await looks();
  }
  await page.goto('/studio#/podcasts/layali');
  await page.getByRole('link', { name: /^تعديل ليلة أم كلثوم/ }).click();
  await expect(page.locator('[data-chapter]')).toHaveCount(3);
  await looks();
});

for (const [language, colorScheme] of faces) {
  for (const width of [390, 1280]) {
    test(`axe finds nothing: ${language}, ${colorScheme}, ${width}`, async ({ page, mock }) => {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      await openCasts(page, mock, { language, set: false });
      await expectAccessible(page);
      mock.podcasting.set();
      mock.podcasting.of('akhbar').removedAt = Date.now();
      mock.podcasting.mostBytes = 370e6; // nearly full
      await page.reload();
      await expect(page.locator('[data-show]')).toHaveCount(2);
      await page.locator('.gone summary').click();
      await expectAccessible(page);
      await page.locator('.panel > header .key').click();
      await page.locator('dialog[open] summary').click();
      await page.locator('#fresh-slug').fill('-');
      await page.locator('dialog[open] .key').click();
      await expectAccessible(page);
      await page.keyboard.press('Escape');
      await page.goto('/studio#/podcasts/layali/settings');
      await page.locator('#keep-episodes').fill('1');
      await page.locator('#show-title').fill('');
      await page.keyboard.press('Control+s');
      await page.locator('[data-choose=cover]').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: picture(2000, 1500, [20, 120, 200]) });
      await expect(page.locator('.picked')).toBeVisible();
      await expectAccessible(page);
      await page.goto('/studio#/podcasts/layali/share');
      await expect(page.locator('#share-feed')).toBeVisible();
      await expectAccessible(page);
      await page.goto('/studio#/podcasts/layali');
      await page.locator('.gone summary').click();
      await expectAccessible(page);
      await page.locator('.panel > header .key').click();
      await expect(page.locator('dialog[open] li')).toHaveCount(2);
      await expectAccessible(page);
      await page.keyboard.press('Escape');
      await page.locator('[data-episode]').nth(1).locator('a').first().click();
      await expect(page.locator('[data-chapter]')).toHaveCount(3);
      await page.locator('[data-chapter] .title').first().fill('');
      await page.locator('[data-chapter] .time').last().fill('x');
      await page.locator('.foot .key').click();
      await expect(page.locator('[data-chapter] .wrong')).toHaveCount(2);
      await expectAccessible(page);
    });
  }
}
