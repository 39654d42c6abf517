import type { Page } from '@playwright/test';
import { expect, expectAccessible, expectFits, expectSound, faces, open, test } from './fixtures';

// What was on the air, and the pages of single tracks.

test.use({ timezoneId: 'America/New_York' }); // times are the station's, which is in Cairo

const rows = (page: Page) => page.locator('li[data-row]');
const field = (page: Page) => page.getByRole('searchbox');
const cairo = (at: number, options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('en-GB', { timeZone: 'Africa/Cairo', hourCycle: 'h23', ...options }).format(at);
const clock = (at: number) => cairo(at, { hour: 'numeric', minute: '2-digit' });

test('what was on the air is listed by the station’s clock, and further back by scrolling', async ({ page, mock }) => {
  await open(page, '/history', 'en');
  await expect(rows(page)).toHaveCount(51); // with what is on the air now
  await expect(rows(page).first()).toHaveAttribute('aria-current', 'true');
  await expect(rows(page).first()).toContainText('On the air');
  const first = mock.past.list[0]!;
  await expect(rows(page).nth(1).locator('time')).toHaveText(clock(first.startedAt));
  await expect(page.getByRole('heading', { level: 2 }).first()).toHaveText('Today');
  await expect(rows(page).filter({ hasText: '<b>Slow River</b>' }).first()).toBeVisible(); // text, never markup
  const ad = page.locator('li[data-row=ad]').first();
  await expect(ad).toContainText('Ad');
  await expect(ad.getByRole('button')).toHaveCount(0);
  await expect(page.locator('li[data-row=live]')).toContainText('Live');
  await page.locator('.end').scrollIntoViewIfNeeded();
  await expect.poll(() => rows(page).count()).toBeGreaterThan(100);
  const times = await rows(page).evaluateAll((all) => all.map((row) => Number((row as HTMLElement).dataset.at)));
  expect(times).toEqual([...times].sort((a, b) => b - a));
  expect(new Set(times).size).toBe(times.length);
});

test('a song is found by what one remembers of it, in either script, and what was on around it', async ({ page }) => {
  await open(page, '/history', 'en');
  await expect(rows(page)).not.toHaveCount(0);
  await field(page).pressSequentially('fairuz');
  await expect(rows(page).first()).toContainText('نسم علينا الهوى');
  await expect(page).toHaveURL(/\/history\?q=fairuz$/);
  await expect(page.getByRole('status').filter({ hasText: /Found \d+ times/ })).toBeVisible();
  await rows(page).nth(3).locator('.when a').click();
  await expect(page).toHaveURL(/\/history\?at=\d+$/);
  await expect(page.locator('li.meant')).toContainText('نسم علينا الهوى');
  await expect(page.locator('li.meant')).toBeFocused();
  await expect(page.locator('li.meant')).toBeInViewport();
  await page.goBack();
  await expect(field(page)).toHaveValue('fairuz');
  await page.getByRole('button', { name: 'Clear the search' }).click();
  await expect(rows(page).first()).toContainText('On the air');
  await field(page).fill('nothing of the kind');
  await expect(page.getByText('Nothing by that name')).toBeVisible();
});

test('“at ten yesterday” leads to what was on then, and on in both directions', async ({ page, mock }) => {
  await open(page, '/history', 'en');
  const meant = mock.past.list.find(({ startedAt, category }) => startedAt < Date.now() - 30 * 3_600_000 && category === 'arabic_hits')!;
  await page.getByLabel('Day', { exact: true }).selectOption(cairo(meant.startedAt, { year: 'numeric', month: '2-digit', day: '2-digit' }).split('/').reverse().join('-'));
  await page.getByLabel('Time', { exact: true }).fill(cairo(meant.startedAt + 60_000, { hour: '2-digit', minute: '2-digit' }));
  await page.getByRole('button', { name: 'Show' }).click();
  await expect(page.locator('li.meant')).toHaveAttribute('data-at', String(meant.startedAt));
  await expect(page.locator('li.meant')).toBeInViewport();
  const top = async () => (await page.locator('li.meant').boundingBox())!.y;
  const before = await rows(page).count();
  const place = await top();
  await page.getByRole('button', { name: 'Later' }).evaluate((button: HTMLElement) => button.click()); // without scrolling there
  await expect.poll(() => rows(page).count()).toBeGreaterThan(before);
  expect(Math.abs((await top()) - place)).toBeLessThan(4); // nothing jumped
  await page.getByRole('link', { name: 'Back to now' }).click();
  await expect(rows(page).first()).toContainText('On the air');
});

test('what begins meanwhile stands at the top, and what is read stays where it is', async ({ page, mock }) => {
  await open(page, '/history', 'en');
  await expect(page.locator('[data-link=live]')).toBeVisible();
  await expect(rows(page).first()).toContainText('يا مسافر وحدك');
  await page.mouse.wheel(0, 1500);
  await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(1000);
  const read = rows(page).nth(20);
  const at = await read.getAttribute('data-at');
  const place = (await read.boundingBox())!.y;
  const asked = mock.count('/api/history');
  mock.scene = { ...mock.scene, index: 7, startedAt: Date.now() };
  mock.audience.tellStatus();
  await expect(rows(page).first()).toContainText('Slow River');
  expect(Math.abs((await page.locator(`li[data-at="${at}"]`).boundingBox())!.y - place)).toBeLessThan(4);
  expect(mock.count('/api/history')).toBe(asked); // told, not asked
  mock.scene = { ...mock.scene, index: 12, startedAt: Date.now() + 1000 }; // imaging has no name to listeners
  mock.audience.tellStatus();
  await expect(page.locator('li[aria-current]')).toHaveCount(0);
  await expect(rows(page).first()).toContainText('Slow River');
});

test('a track has a page, and the sound goes on from page to page', async ({ page, mock }) => {
  const track = mock.past.list[0]!;
  mock.past.nextAt = Date.now() + 2 * 3_600_000;
  await open(page, '/history', 'en');
  await page.locator('.play').click();
  await expectSound(page);
  await rows(page).nth(1).locator('a.title').click();
  await expect(page).toHaveURL(`/track/${track.id}`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(track.title);
  await expect(page).toHaveTitle(new RegExp(`${track.title}.*إذاعة النيل`));
  await expect(page.getByText('Album:')).toContainText('أندلسيات');
  await expect(page.getByText(`Comes again at about ${clock(mock.past.nextAt)}`)).toBeVisible();
  await expect(page.getByText(/^Last on the air today,|^Last on the air yesterday,/)).toBeVisible();
  await expect(page.locator('section[aria-labelledby=track-airings] li')).toHaveCount(20);
  await expectSound(page);
  await page.locator('section[aria-labelledby=track-airings] li a').nth(2).click();
  await expect(page.locator('li.meant')).toContainText(track.title);
  await expectSound(page);
  await page.goBack();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(track.title);
  await page.goto('/track/aaaaaaaaaaaaaaaa');
  await expect(page.getByRole('heading', { name: 'There is no such track' })).toBeVisible();
});

test('a track’s page turns with the air by itself', async ({ page, mock }) => {
  mock.scene = { ...mock.scene, index: 0, startedAt: Date.now() };
  await open(page, '/history', 'en');
  await rows(page).first().locator('a.title').click();
  await expect(page.getByText('On the air now')).toBeVisible();
  await expect(page.locator('section[aria-labelledby=track-airings] li')).toHaveCount(1);
  mock.scene = { ...mock.scene, index: 7, startedAt: Date.now() };
  mock.audience.tellStatus();
  await expect(page.getByText(/^Last on the air today/)).toBeVisible();
});

test('a song is asked for from where it was found; what stands against it is said', async ({ page, mock }) => {
  const song = mock.past.list[0]!;
  mock.requests.tracks.unshift({ file: song.file, title: song.title, artist: song.artist, category: song.category, duration: song.durationMs, request: { allowed: true } });
  await open(page, '/history', 'en');
  await page.getByRole('button', { name: /^Request .*نسم علينا الهوى/ }).first().click();
  const dialog = page.locator('dialog');
  await expect(dialog).toContainText('نسم علينا الهوى');
  await dialog.getByRole('button', { name: 'Send the request' }).click();
  await expect.poll(() => mock.requests.posted.map(({ file }) => file)).toEqual([song.file]);
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  mock.past.rested.add(mock.past.list[1]!.file);
  await page.goto(`/track/${mock.past.list[1]!.id}`);
  await expect(page.getByText('It cannot be requested right now')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Request it' })).toHaveCount(0);
});

test('a link is shared by the device, else copied', async ({ page, mock, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.addInitScript(() => Object.defineProperty(Navigator.prototype, 'share', { value: undefined, configurable: true }));
  await open(page, `/track/${mock.past.list[0]!.id}`, 'en');
  await page.getByRole('button', { name: 'Share' }).click();
  await expect(page.getByText('The link is copied.')).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`${mock.url}/track/${mock.past.list[0]!.id}`);
  await page.getByRole('button', { name: 'Copy' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`<script async src="${mock.url}/embed.js"></script>`);
  await page.evaluate(() => {
    const kept = globalThis as unknown as { shared: unknown };
    Object.defineProperty(navigator, 'share', { value: async (what: unknown) => void (kept.shared = what), configurable: true });
  });
  await page.getByRole('button', { name: 'Share' }).click();
  expect(await page.evaluate(() => (globalThis as unknown as { shared: { url: string } }).shared.url)).toContain('/track/');
});

test('a station that does not answer is said, and asked again', async ({ page, mock }) => {
  mock.past.down = true;
  await open(page, '/history', 'en');
  await expect(page.getByRole('alert')).toContainText('The station did not answer.');
  mock.past.down = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(rows(page).first()).toBeVisible();
  mock.past.down = true;
  await page.locator('.end').scrollIntoViewIfNeeded();
  await expect(page.locator('.end').getByRole('alert')).toBeVisible();
  mock.past.down = false;
  await page.locator('.end').getByRole('button', { name: 'Try again' }).click();
  await expect.poll(() => rows(page).count()).toBeGreaterThan(60);
  mock.past.down = true;
  await page.goto(`/track/${mock.past.list[0]!.id}`);
  await expect(page.getByRole('alert')).toContainText('The station did not answer.');
});

test('the bar names an ad as the player does, not by what its file says', async ({ page, mock }) => {
  mock.scene = { index: 9, startedAt: Date.now() - 5000, empty: false };
  await open(page, '/history', 'ar');
  await expect(page.locator('.bar .names')).toHaveText('فاصل إعلاني');
});

test('the keyboard goes from song to song', async ({ page }) => {
  await open(page, '/history', 'en');
  await rows(page).nth(1).locator('a.title').focus();
  await page.keyboard.press('ArrowDown');
  await expect(rows(page).nth(2).locator('a.title')).toBeFocused();
  await page.keyboard.press('ArrowDown'); // past the news, which have no page
  await expect(rows(page).nth(4).locator('a.title')).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/track\//);
  await expect(page.locator('main')).toBeFocused();
});

for (const [language, colorScheme] of faces) {
  test(`axe finds nothing, and nothing is scrolled sideways: ${language} ${colorScheme}`, async ({ page, mock }) => {
    await page.emulateMedia({ colorScheme });
    for (const path of ['/history', `/history?at=${mock.past.list[40]!.startedAt}`, '/history?q=fairuz', `/track/${mock.past.list[4]!.id}`, '/track/aaaaaaaaaaaaaaaa']) {
      await open(page, path, language);
      await expect(page.locator('li[data-row], article, [data-missing]').first()).toBeVisible();
      await expectAccessible(page);
      await expectFits(page);
      await page.setViewportSize({ width: 1280, height: 800 });
    }
  });
}
