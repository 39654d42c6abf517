import { devices, type BrowserContext, type Page } from '@playwright/test';
import { requestsWords } from '../src/i18n/requests';
import { sendingWords } from '../src/i18n/sending';
import { expect, expectAccessible, expectFits, open, test as base } from './fixtures';

// A voice on its way from one phone to the air and the other phone, on a real station of one's
// own that sends posts soon:
// ATHIR_URL=http://127.0.0.1:5000 ATHIR_MODERATOR=… npm run e2e -- posting
// ATHIR_MODERATOR is social_admin_key; ATHIR_MICROPHONE is what both microphones hear.

const moderatorKey = process.env.ATHIR_MODERATOR ?? '';
const title = 'سلام من شرفة المعادي';

/** A second phone with a browser profile of its own. */
const test = base.extend<{ second: Page }>({
  second: async ({ browser, baseURL }, use) => {
    const context: BrowserContext = await browser.newContext({ ...devices['Pixel 7'], baseURL: baseURL as string, locale: 'en-GB' });
    await use(await context.newPage());
    await context.close();
  },
});
test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, permissions: ['microphone'] });

const ar = sendingWords.ar;
const mine = (page: Page) => page.locator('[data-mine]');
const card = (page: Page) => page.locator('[data-post]').filter({ hasText: title });

test('a voice is recorded on one phone, approved, voted for on another, and announced on both as it airs', { tag: '@posts' }, async ({ page: first, second, browser, baseURL }, info) => {
  // The second phone looks at the list before there is anything in it.
  await open(second, '/social.html#listen', 'en');

  await open(first, '/social.html#send', 'ar');
  await first.getByText(ar.kinds.voice!.name, { exact: true }).click();
  await first.getByRole('button', { name: ar.send.record }).last().click();
  await expect(first.locator('[data-level]')).toHaveAttribute('data-level', /soft|good|loud/);
  await expect(first.locator('[role=timer] strong')).toHaveText(/[٦-٩]$|١[٠-٩]$/); // seconds
  await first.getByRole('button', { name: ar.send.stop }).click();
  await first.getByLabel(ar.send.name, { exact: true }).fill(title);
  await first.getByLabel(ar.send.artist).fill('نور');
  await first.getByLabel(ar.send.from).fill('نور');
  await first.locator('[data-for=rights]').check();
  await first.getByRole('button', { name: ar.send.go, exact: true }).click();
  await expect(first.locator('[data-arrived]')).toBeVisible();
  await first.getByRole('link', { name: ar.upload.follow }).click();
  await expect(mine(first)).toHaveAttribute('data-step', 'pending');
  await expect(card(second)).toHaveCount(0); // nobody hears it before a moderator has

  const desk = await browser.newContext({ baseURL: baseURL as string, locale: 'ar-EG' });
  const moderator = await desk.newPage();
  await moderator.addInitScript((key) => sessionStorage.setItem('athir.admin-key', key), moderatorKey);
  await open(moderator, '/studio#/review', 'ar');
  await expect(moderator.locator('article[data-hand]')).toContainText(title);
  await expect(moderator.locator('[data-sound]')).toHaveAttribute('data-sound', 'ready');
  await moderator.keyboard.press('Space');
  await expect(moderator.locator('[data-sound]')).toHaveAttribute('data-playing', 'true');
  await moderator.screenshot({ path: info.outputPath('moderator.png') });
  await moderator.keyboard.press('a');
  await expect(mine(first)).toHaveAttribute('data-step', /approved|onair/);

  await second.reload();
  await expect(card(second)).toBeVisible();
  await card(second).locator('.votes button').first().click();
  await expect(card(second).locator('.votes')).toHaveAttribute('data-mine', '1');
  await expect(card(second).locator('.sum')).toHaveText(/1/);
  await second.reload();
  await expect(card(second).locator('.votes')).toHaveAttribute('data-mine', '1');

  const sync = await moderator.request.post(`${baseURL}/api/social/sync`, { headers: { 'x-admin-key': moderatorKey } });
  expect(sync.status()).toBe(200);
  await desk.close();

  // On the air: the player credits its sender, and the sender's own page says so. It lasts seconds: the pages remember.
  await open(second, '/', 'en');
  const named = await second.evaluateHandle((wanted) => {
    const seen = { ever: false };
    const look = () => (seen.ever ||= document.querySelector('.now h1')?.textContent === wanted && /From a listener:\s+نور/.test(document.querySelector('.now')?.textContent ?? ''));
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
    look();
    return seen;
  }, title);
  const told = await first.evaluateHandle(() => {
    const seen = { ever: false };
    const look = () => (seen.ever ||= document.querySelector('[data-mine][data-step=onair]') !== null);
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
    look();
    return seen;
  });
  await Promise.all([
    expect.poll(() => named.evaluate(({ ever }) => ever)).toBe(true).then(() => second.screenshot({ path: info.outputPath('onair.png') })),
    expect.poll(() => told.evaluate(({ ever }) => ever)).toBe(true),
  ]);
  await first.screenshot({ path: info.outputPath('sender.png') });
  await expect(mine(first)).not.toHaveAttribute('data-step', 'onair');
  await expect(mine(first)).toHaveAttribute('data-step', 'approved');
  for (const page of [first, second]) await expectFits(page);
  await expectAccessible(first);
});

test('a song is asked for on a phone, which says when it airs and that it did; nobody asks for it twice', { tag: '@posts' }, async ({ page: first, second }) => {
  await open(first, '/', 'ar');
  await first.getByRole('button', { name: requestsWords.ar.ask }).click();
  // Those that may be asked for; none while something stands against any song.
  const free = (page: Page): Promise<string[]> => page.locator('dialog li[data-file]').filter({ has: page.getByRole('button') }).evaluateAll((all) => all.map((song) => (song as HTMLElement).dataset.file ?? ''));
  await expect.poll(() => free(first)).not.toEqual([]);
  await first.route('**/api/requests/search**', (route) => route.abort()); // what it shows is older than what is asked for

  await open(second, '/', 'en');
  await second.getByRole('button', { name: 'Request a song' }).click();
  const dialog = second.locator('dialog:has(#request-title)');
  await dialog.getByRole('searchbox').fill('ahlam');
  await expect(dialog.locator('li[data-file]').first()).toContainText(/[أا]حلام/); // as the tags have it
  await dialog.getByRole('searchbox').fill('');
  // One that both may ask for: the first phone's list is older by now.
  const offered = await free(first);
  let file = '';
  await expect(dialog.getByRole('list')).toHaveAttribute('aria-busy', 'false');
  await expect.poll(async () => (file = (await free(second)).find((name) => offered.includes(name)) ?? '')).not.toBe(''); // the list follows the queue
  const song = dialog.locator(`li[data-file="${file}"]`);
  await song.getByRole('button').click();
  await dialog.getByLabel('Your name (optional)').fill('Omar');
  await dialog.getByRole('button', { name: 'Send the request' }).click();
  await expect(dialog.locator('[data-view=granted]')).toHaveAttribute('data-status', /waiting|planned/);
  await expect(dialog.locator('[data-view=granted]')).toHaveAttribute('data-status', /planned|aired/);

  // The station's own refusal, in the words of the other page.
  await first.locator(`dialog li[data-file="${file}"]`).getByRole('button').click();
  await first.getByRole('button', { name: requestsWords.ar.form.send, exact: true }).click();
  await expect(first.locator('dialog [data-rule]').last()).toHaveAttribute('data-rule', /asked|coming|aired/);
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await expect(second.locator('section[aria-labelledby=my-requests] [data-status]')).toHaveAttribute('data-status', 'aired');
});
