import type { Page } from '@playwright/test';
import { expect, expectAccessible, expectFits, expectNews, faces, nextLook, open, test } from './fixtures';
import type { Mock } from './mock/mock';

const panel = (page: Page, id: string) => page.locator(`section[aria-labelledby=${id}]`);

/** The section of a station that needs no key. */
async function openProduction(page: Page, mock: Mock, language: 'ar' | 'en' = 'en'): Promise<void> {
  mock.control.key = '';
  await open(page, '/studio#/production', language);
  await expect(panel(page, 'freshness').locator('tbody tr')).toHaveCount(10);
  await expect(panel(page, 'jobs').getByRole('button', { name: /Open|فتح/ })).toHaveCount(0);
}

test('a refresh says what it would do before it is ordered, and what it asked for is sent', async ({ page, mock }) => {
  await openProduction(page, mock);
  const freshness = panel(page, 'freshness');
  await freshness.getByLabel('Songs').fill('5');
  await freshness.getByLabel('Ads').fill('0');
  await freshness.getByRole('button', { name: 'Refresh…' }).click();
  const dialog = page.getByRole('dialog', { name: 'What a refresh would do' });
  await expect(dialog).toContainText('Slow River <i>II</i>'); // text, never markup
  await expect(dialog).toContainText('replaced by newer');
  await expect(dialog).toContainText('yt-dlp is not installed');
  expect(mock.production.taken.map((t) => t.path)).toEqual(['/api/content/plan']);
  await dialog.getByRole('button', { name: 'Refresh now' }).click();
  await expect(panel(page, 'jobs').locator('[data-kind-of-job="content refresh"][data-state=done]')).toContainText('added: 14 files');
  expect(mock.production.taken.at(-1)).toEqual({ path: '/api/content/refresh', body: { songs: 5, ads: 0 } });
});

test('what scrub would move is listed first, and leaving the list moves nothing', async ({ page, mock }) => {
  await openProduction(page, mock);
  const freshness = panel(page, 'freshness');
  const dialog = page.getByRole('dialog', { name: 'Scrub English' });
  await freshness.getByRole('button', { name: 'Scrub…' }).click();
  await expect(dialog).toContainText('2 files of 214 files should not air');
  await dialog.getByRole('button', { name: 'Not now' }).click();
  await expect(dialog).toBeHidden();
  expect(mock.production.taken).toHaveLength(1);
  await freshness.getByRole('button', { name: 'Scrub…' }).click();
  await dialog.getByRole('button', { name: 'Move to the archive' }).click();
  await expectNews(page, 'archived: 2 files');
  expect(mock.production.taken.at(-1)?.body).toEqual({ category: 'english' });
  mock.production.junk = [];
  await freshness.getByRole('button', { name: 'Scrub…' }).click();
  await expect(dialog).toContainText('Nothing to take out');
  await expect(dialog.getByRole('button', { name: 'Move to the archive' })).toHaveCount(0);
});

test('closing a look that is not over ends it', async ({ page, mock }) => {
  await openProduction(page, mock);
  mock.production.held = true;
  await panel(page, 'freshness').getByRole('button', { name: 'Refresh…' }).click();
  await expect(page.getByRole('dialog')).toContainText('Asking the sources');
  await page.keyboard.press('Escape');
  await expect(panel(page, 'jobs').locator('[data-kind-of-job="content plan"][data-state=cancelled]')).toBeVisible();
});

test('a restore explains itself and asks first', async ({ page, mock }) => {
  await openProduction(page, mock);
  await panel(page, 'freshness').getByRole('button', { name: 'Restore…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Restore from the archive' });
  await expect(dialog).toContainText('For emergencies');
  await dialog.getByLabel('Category').selectOption('english');
  await dialog.getByRole('button', { name: 'Restore' }).click();
  await expectNews(page, 'restored: 3 files');
  expect(mock.production.taken).toEqual([{ path: '/api/content/restore', body: { all: false, category: 'english' } }]);
});

test('a bulletin tells what was left out and why, and where headlines are written', async ({ page, mock }) => {
  await openProduction(page, mock);
  const bulletin = panel(page, 'bulletin');
  await expect(bulletin).toContainText('<b>ألبومها</b>');
  await bulletin.getByText('What the last bulletin says').click();
  await expect(bulletin).toContainText('left out: ask for the weather: no answer within 10 s');
  mock.production.used = false;
  await page.reload();
  await expect(bulletin).toContainText('No bulletin yet.');
  await expect(bulletin).toContainText('headlines.txt');
  await bulletin.getByRole('button', { name: 'Make now' }).click();
  await expect(bulletin).toContainText('news/NEWS_2.mp3');
  await expectNews(page, 'Bulletin: done.');
});

/** Writes headlines, is refused, and saves them without leaving the keyboard. */
async function writeHeadlines(page: Page, mock: Mock, language: 'ar' | 'en', label: string, button: string, saved: string): Promise<void> {
  await openProduction(page, mock, language);
  const bulletin = panel(page, 'bulletin');
  const box = bulletin.getByRole('textbox', { name: label });
  await expect(box).toHaveValue(/^مهرجان القاهرة[^]*corniche/);
  await expect(bulletin.getByRole('button', { name: button })).toHaveAttribute('aria-disabled', 'true');
  await box.fill('افتتاح خط جديد\n...\n');
  await bulletin.getByRole('button', { name: button }).click();
  await expectNews(page, 'headlines[1]: has no letter in it');
  await expect(box).toHaveValue('افتتاح خط جديد\n...\n');
  await box.fill('  افتتاح خط جديد \n\nانطلاق المعرض\nخبر ثالث\nخبر رابع');
  await box.press('Control+Enter');
  await expectNews(page, saved);
  const headlines = ['افتتاح خط جديد', 'انطلاق المعرض', 'خبر ثالث', 'خبر رابع'];
  expect(mock.production.taken.at(-1)).toEqual({ path: '/api/bulletin/headlines', body: { headlines, version: expect.stringMatching(/corniche$/) } });
  await expect(box).toHaveValue(headlines.join('\n'));
  await expect(bulletin.locator('ol li')).toHaveText(headlines.slice(0, 3));
  await expectAccessible(page);
}

test('headlines are written in the studio for the next bulletin, and a refusal keeps what was typed', async ({ page, mock }) => {
  await writeHeadlines(page, mock, 'en', 'Write the headlines', 'Save headlines', 'Headlines saved');
});

test('headlines are written in Arabic on a phone', async ({ page, mock }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await writeHeadlines(page, mock, 'ar', 'اكتب العناوين', 'حفظ العناوين', 'حُفظت العناوين');
  await expectFits(page);
});

test('a job unfolds its log as text, and a failed one says why', async ({ page, mock }) => {
  mock.production.add('stingers', { state: 'failed', endedAt: Date.now(), error: 'nothing could be made: <script>', log: [{ at: Date.now(), text: 'imaging · فواصل جديدة <b>x</b>' }] });
  await openProduction(page, mock);
  const job = panel(page, 'jobs').locator('[data-state=failed]');
  await expect(job).toContainText('nothing could be made: <script>');
  await job.getByRole('button', { name: /^Stingers/ }).click();
  await expect(job).toContainText('فواصل جديدة <b>x</b>');
  await expect(job.getByRole('button', { name: /^Stingers/ })).toHaveAttribute('aria-expanded', 'true');
});

test('nothing of the section is loaded or asked for until it is opened, nor after it is left', async ({ page, mock }) => {
  mock.control.key = '';
  await page.clock.install();
  await open(page, '/studio', 'en');
  await expect(page.locator('section[aria-labelledby=rotation] ol li')).toHaveCount(120);
  expect(mock.asked.filter((path) => /ProductionView|\/api\/(jobs|bulletin|content)/.test(path))).toEqual([]);
  await page.getByRole('link', { name: 'Production' }).click();
  await expect(panel(page, 'jobs')).toContainText('No jobs yet.');
  await expect(page).toHaveTitle(/^Production/);
  await page.getByRole('link', { name: 'Log' }).click();
  await expect(panel(page, 'log')).toBeVisible();
  const asked = mock.count('/api/jobs');
  for (let n = 0; n < 2; n++) await nextLook(page, mock); // every other look that was due is made
  expect(mock.count('/api/jobs')).toBeLessThanOrEqual(asked + 1); // one may have been under way
});

test('an outage is said, what was known stays, and a refusal is told', async ({ page, mock }) => {
  await page.clock.install();
  await openProduction(page, mock);
  mock.apiDown = true;
  await nextLook(page, mock, '/api/jobs');
  await expect(panel(page, 'jobs')).toContainText('The jobs cannot be loaded at the moment.');
  await expect(panel(page, 'freshness').locator('tbody tr')).toHaveCount(10);
  await panel(page, 'bulletin').getByRole('button', { name: 'Make now' }).click();
  await expectNews(page, 'The control plane did not answer.');
  mock.apiDown = false;
  await nextLook(page, mock, '/api/jobs');
  await expect(panel(page, 'jobs')).toContainText('No jobs yet.');
});

for (const [language, colorScheme] of faces) {
  test(`axe finds nothing in the production section, and it fits a phone: ${language} ${colorScheme}`, async ({ page, mock }) => {
    await page.emulateMedia({ colorScheme });
    mock.production.add('stingers', { state: 'failed', endedAt: Date.now(), error: 'nothing could be made' });
    mock.production.add('imaging', { progress: { step: 'imaging', detail: 'sfx/SFX.mp3', done: 2, total: 200 } });
    mock.production.held = true;
    await openProduction(page, mock, language);
    await panel(page, 'jobs').locator('.fold').nth(1).click();
    for (const fold of await panel(page, 'bulletin').locator('summary').all()) await fold.click();
    await expectAccessible(page, 'main');
    await expectFits(page);
    mock.production.held = false;
    await panel(page, 'freshness').getByRole('button', { name: /Refresh…|تجديد…/ }).click();
    await expect(page.getByRole('dialog')).toContainText('Slow River');
    await expectAccessible(page, 'dialog[open]');
  });
}
