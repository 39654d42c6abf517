import type { Page } from '@playwright/test';
import { expect, expectAccessible, expectFits, faces, open, test } from './fixtures';
import type { Mock } from './mock/mock';

// What can be heard on demand: shows, episodes, and the bar that goes on from page to page.

const bar = (page: Page) => page.locator('[data-bar]');
const rows = (page: Page) => page.locator('li[data-episode]');
const chapters = (page: Page) => page.locator('.chapters li button');
const slider = (page: Page) => page.getByRole('slider');
const field = (page: Page) => page.getByRole('searchbox');
const episodeOf = (mock: Mock, show: string, i: number) => mock.podcasts.episodes.get(show)![i]!;

/** The clock of the episode's sound, seconds. */
const at = (page: Page) => page.evaluate(() => document.querySelector<HTMLAudioElement>('audio[data-podcast]')!.currentTime);
const rate = (page: Page) => page.evaluate(() => document.querySelector<HTMLAudioElement>('audio[data-podcast]')!.playbackRate);
/** Elements that sound now. */
const sounding = (page: Page) => page.evaluate(() => [...document.querySelectorAll('audio')].filter((audio) => !audio.paused).length);

/** Expects that an episode sounds: its clock goes on. */
async function expectEpisode(page: Page): Promise<void> {
  await expect(bar(page)).toHaveAttribute('data-state', 'playing');
  const from = await at(page);
  await expect.poll(() => at(page)).toBeGreaterThan(from + 0.5);
}

test('shows lead to their episodes, more of which come by scrolling, and are found by what one remembers', async ({ page, mock }) => {
  await open(page, '/podcasts', 'en');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Podcasts');
  await expect(page.locator('[data-show]')).toHaveCount(4);
  await page.locator('[data-show=thursday-night]').click();
  await expect(page).toHaveURL('/podcasts/thursday-night');
  await expect(page).toHaveTitle(/سهرة الخميس.*إذاعة النيل/);
  await expect(page.locator('main')).toBeFocused();
  await expect(rows(page)).toHaveCount(30);
  await expect(rows(page).first()).toContainText('Today');
  await page.locator('.end').scrollIntoViewIfNeeded();
  await expect.poll(() => rows(page).count()).toBeGreaterThan(50);
  await field(page).pressSequentially('harbour');
  await expect(page).toHaveURL(/\?q=harbour$/);
  await expect(page.getByRole('status').filter({ hasText: /^13 episodes found$/ })).toBeVisible();
  await expect(rows(page).first()).toContainText('Harbour Lights');
  await rows(page).first().locator('a.title').click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Harbour Lights');
  await page.goBack();
  await expect(field(page)).toHaveValue('harbour');
  await field(page).fill('nothing of the kind');
  await expect(page.getByText('No episode has these words.')).toBeVisible();
  await page.getByRole('button', { name: 'Clear the search' }).click();
  await expect(rows(page)).toHaveCount(30);
  // A serial begins with its first episode, a show without one says so.
  await page.goto('/podcasts/delta-story');
  await expect(rows(page).first()).toContainText('Episode 1');
  await expect(rows(page).nth(1)).toContainText('Episode 2');
  await page.goto('/podcasts/from-listeners');
  await expect(page.getByText('The first episode is still to come.')).toBeVisible();
  mock.podcasts.shows = [];
  await page.goto('/podcasts');
  await expect(page.getByRole('heading', { name: 'There are no shows yet' })).toBeVisible();
});

test('an episode is heard from a chapter, faster, and goes on from page to page', async ({ page, mock }) => {
  const episode = episodeOf(mock, 'thursday-night', 1); // a minute long, four chapters
  await open(page, `/podcasts/thursday-night/${episode.id}`, 'en');
  await page.getByRole('button', { name: 'Listen', exact: true }).click();
  await expectEpisode(page);
  await expect(chapters(page).first()).toHaveAttribute('aria-current', 'true');
  await chapters(page).nth(2).click();
  await expect.poll(() => at(page)).toBeGreaterThan(30);
  await expectEpisode(page);
  expect(await at(page)).toBeLessThan(45);
  await expect(chapters(page).nth(2)).toHaveAttribute('aria-current', 'true');
  await expect(chapters(page).first()).not.toHaveAttribute('aria-current', 'true');
  await expect(bar(page)).toContainText('يا نسيم الدلال');
  await page.getByLabel('Speed').selectOption('1.5');
  expect(await rate(page)).toBe(1.5);
  await page.locator('.way a').click();
  await expect(page).toHaveURL('/podcasts/thursday-night');
  await expectEpisode(page);
  await expect(rows(page).nth(1)).toHaveAttribute('aria-current', 'true');
  await page.locator('.way a').click();
  await expectEpisode(page);
  const before = await at(page);
  await page.getByRole('button', { name: 'Back 15 seconds' }).click();
  await expect.poll(() => at(page)).toBeLessThan(before - 5);
  await page.getByRole('button', { name: 'Chapters' }).click();
  await page.getByRole('dialog', { name: 'Chapters' }).getByRole('button').nth(3).click();
  await expect.poll(() => at(page)).toBeGreaterThan(45);
  await expect(page.getByRole('dialog', { name: 'Chapters' })).toBeHidden();
  await page.getByRole('button', { name: 'Forward 30 seconds' }).click(); // beyond the end
  await expect(bar(page)).toHaveAttribute('data-state', 'ended');
  await page.getByRole('button', { name: /^Next: Harbour Lights/ }).click();
  await expectEpisode(page);
  expect(await rate(page)).toBe(1.5); // what was chosen stays
});

test('there are never two sounds at once', async ({ page, mock }) => {
  await open(page, '/podcasts/bulletins', 'en');
  await page.getByRole('button', { name: 'Listen live' }).click();
  await expect(page.locator('.play')).toHaveAttribute('data-state', 'playing');
  await expect.poll(() => page.evaluate(() => document.querySelector<HTMLAudioElement>('audio:not([data-podcast])')!.currentTime)).toBeGreaterThan(0);
  expect(await sounding(page)).toBe(1);
  await page.locator(`[data-play="${episodeOf(mock, 'bulletins', 0).id}"]`).click();
  await expectEpisode(page);
  expect(await sounding(page)).toBe(1);
  await page.locator(`[data-play="${episodeOf(mock, 'bulletins', 1).id}"]`).click();
  await expect(bar(page)).toHaveAttribute('data-bar', episodeOf(mock, 'bulletins', 1).id);
  await expectEpisode(page);
  expect(await sounding(page)).toBe(1);
  await page.getByRole('button', { name: 'Close the player' }).click();
  await expect.poll(() => sounding(page)).toBe(0);
  await page.getByRole('button', { name: 'Listen live' }).click();
  await expect(page.locator('.play')).toHaveAttribute('data-state', 'playing');
  await expect.poll(() => sounding(page)).toBe(1);
});

test('the place is remembered over a reload, and what was begun is offered', async ({ page, mock }) => {
  const episode = episodeOf(mock, 'thursday-night', 0);
  await open(page, `/podcasts/thursday-night/${episode.id}?t=1905`, 'en');
  await page.getByRole('button', { name: 'Listen from 31:45' }).click();
  await expectEpisode(page);
  expect(await at(page)).toBeGreaterThanOrEqual(1904);
  expect(mock.podcasts.ranges.some((range) => Number(/\d+/.exec(range)?.[0]) > 7_000_000)).toBe(true); // it did not load half an hour to get there
  await expect(page).toHaveURL(`/podcasts/thursday-night/${episode.id}`);
  await page.getByRole('button', { name: 'Pause' }).first().click();
  await page.reload();
  await page.getByRole('button', { name: /^Continue at 31:4\d$/ }).click();
  await expectEpisode(page);
  expect(await at(page)).toBeGreaterThan(1900);
  await page.goto('/podcasts');
  await page.locator('.begun a').click();
  await expect(page.getByRole('button', { name: /^Continue at 31:/ })).toBeVisible();
  await page.goto('/podcasts/thursday-night');
  await expect(rows(page).first()).toContainText(/3\d\smin left/);
  // What was heard to its end is marked, and begins anew.
  const short = episodeOf(mock, 'bulletins', 1);
  await page.goto(`/podcasts/bulletins/${short.id}?t=56`);
  await page.getByRole('button', { name: 'Listen from 0:56' }).click();
  await expect(bar(page)).toHaveAttribute('data-state', 'ended');
  await page.reload();
  await expect(page.locator('.about')).toContainText('Listened');
  await expect(page.getByRole('button', { name: 'Listen', exact: true })).toBeVisible();
});

test('everything is done by keyboard, and time runs from the left in Arabic, too', async ({ page, mock }) => {
  const episode = episodeOf(mock, 'thursday-night', 1);
  await open(page, `/podcasts/thursday-night/${episode.id}`, 'ar');
  await expect(chapters(page)).toHaveCount(4);
  await page.locator('.loud').focus();
  await page.keyboard.press('Enter');
  await expectEpisode(page);
  await page.locator('main').focus();
  await page.keyboard.press('Space');
  await expect(bar(page)).toHaveAttribute('data-state', 'paused');
  await slider(page).focus();
  await page.keyboard.press('Home');
  await expect(slider(page)).toHaveAttribute('aria-valuetext', '٠:٠٠ من ١:٠٠');
  await page.keyboard.press('ArrowRight');
  await expect(slider(page)).toHaveAttribute('aria-valuetext', '٠:٠٥ من ١:٠٠');
  await page.keyboard.press('ArrowUp');
  await expect(slider(page)).toHaveAttribute('aria-valuetext', '٠:١٠ من ١:٠٠');
  await page.keyboard.press('ArrowLeft');
  await expect(slider(page)).toHaveAttribute('aria-valuetext', '٠:٠٥ من ١:٠٠');
  await page.keyboard.press('PageUp');
  await expect(slider(page)).toHaveAttribute('aria-valuetext', '١:٠٠ من ١:٠٠');
  await page.keyboard.press('Home');
  // A finger at three quarters from the left is three quarters in.
  const box = (await slider(page).boundingBox())!;
  await page.mouse.click(box.x + box.width * 0.75, box.y + box.height / 2);
  await expect.poll(() => at(page)).toBeGreaterThan(43);
  expect(await at(page)).toBeLessThan(47);
  await page.getByRole('button', { name: 'الفصول' }).focus();
  await page.keyboard.press('Enter');
  const sheet = page.getByRole('dialog', { name: 'الفصول' });
  await expect(sheet.locator('[aria-current]')).toBeFocused(); // the chapter that is heard
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  await expect(sheet).toBeHidden();
  await expect.poll(() => at(page)).toBeLessThan(43);
  await expect(page.getByRole('button', { name: 'الفصول' })).toBeFocused();
  await page.getByLabel('السرعة').focus();
  await page.keyboard.press('ArrowDown');
  await expect.poll(() => rate(page)).toBe(1.2);
});

test('the lock screen shows the episode with its cover and chapters, and its keys work', async ({ page, mock }) => {
  const episode = episodeOf(mock, 'thursday-night', 1);
  await page.addInitScript(() => {
    const kept = ((globalThis as unknown as { keys: Record<string, ((details: object) => void) | null> }).keys = {});
    const real = navigator.mediaSession.setActionHandler.bind(navigator.mediaSession);
    navigator.mediaSession.setActionHandler = (action, heed) => {
      Object.assign(kept, { [action]: heed });
      real(action, heed);
    };
  });
  const press = (action: string, details = {}) => page.evaluate(([name, said]) => (globalThis as unknown as { keys: Record<string, (details: object) => void> }).keys[name as string]!(said as object), [action, details]);
  await open(page, `/podcasts/thursday-night/${episode.id}`, 'en');
  await chapters(page).nth(1).click();
  await expectEpisode(page);
  await expect.poll(() => page.evaluate(() => navigator.mediaSession.metadata?.artist)).toBe('تقاسيم نهاوند');
  const shown = await page.evaluate(() => ({ title: navigator.mediaSession.metadata!.title, album: navigator.mediaSession.metadata!.album, art: navigator.mediaSession.metadata!.artwork[0]!.src, state: navigator.mediaSession.playbackState }));
  expect(shown).toEqual({ title: 'أغنيات البحر', album: 'سهرة الخميس', art: `${mock.url}/podcasts/thursday-night/cover.jpg?v=1`, state: 'playing' });
  await press('nexttrack');
  await expect.poll(() => at(page)).toBeGreaterThanOrEqual(30);
  await press('seekto', { seekTime: 5 });
  await expect.poll(() => at(page)).toBeLessThan(10);
  await press('seekforward', {});
  await expect.poll(() => at(page)).toBeGreaterThan(33);
  await press('pause');
  await expect(bar(page)).toHaveAttribute('data-state', 'paused');
  await page.getByRole('button', { name: 'Close the player' }).click();
  await expect.poll(() => page.evaluate(() => [navigator.mediaSession.metadata, navigator.mediaSession.playbackState])).toEqual([null, 'none']);
});

test('a sound that does not come is said, and asked for again where it broke', async ({ page, mock }) => {
  const episode = episodeOf(mock, 'thursday-night', 1);
  mock.podcasts.silent = true;
  await open(page, `/podcasts/thursday-night/${episode.id}?t=20`, 'en');
  await page.locator('.loud').click();
  await expect(bar(page).getByRole('alert')).toContainText('The sound did not come.');
  await expect(page.locator('.loud')).toContainText('Listen'); // nothing claims to play
  mock.podcasts.silent = false;
  await bar(page).getByRole('button', { name: 'Try again' }).click();
  await expectEpisode(page);
  expect(await at(page)).toBeGreaterThanOrEqual(20);
});

test('an episode that has vanished says so, in the bar, on its page and to a link', async ({ page, mock }) => {
  const episode = episodeOf(mock, 'thursday-night', 0);
  await open(page, '/podcasts/thursday-night', 'en');
  await expect(rows(page)).toHaveCount(30);
  mock.podcasts.withdraw(episode);
  await page.locator(`[data-play="${episode.id}"]`).click();
  await expect(bar(page).getByRole('alert')).toContainText('This episode was taken away.');
  await bar(page).getByRole('link', { name: episode.title }).click();
  await expect(page.getByRole('heading', { name: 'This episode is not here any more' })).toBeVisible();
  await page.reload();
  await page.getByRole('link', { name: 'All episodes of the show' }).click();
  await expect(rows(page).first()).toContainText('أغنيات البحر');
  await page.goto('/podcasts/no-such-show');
  await expect(page.getByRole('heading', { name: 'There is no such show' })).toBeVisible();
});

test('a feed is copied, and opened in the programs that subscribe', async ({ page, mock, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await open(page, '/podcasts/thursday-night', 'en');
  await page.getByRole('button', { name: 'Copy the feed address' }).click();
  await expect(page.getByRole('status').filter({ hasText: /^Copied$/ })).toBeAttached();
  const feed = `${mock.url}/podcasts/thursday-night/feed.xml`;
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(feed);
  const answer = await page.request.get(feed);
  expect(answer.headers()['content-type']).toContain('rss');
  const bare = feed.replace('http://', '');
  const address = (name: string) => page.getByRole('link', { name: `Open in ${name}` }).getAttribute('href');
  expect(await address('Apple Podcasts')).toBe(`podcast://${bare}`);
  expect(await address('Overcast')).toBe(`overcast://x-callback-url/add?url=${encodeURIComponent(feed)}`);
  expect(await address('Pocket Casts')).toBe(`pktc://subscribe/${bare}`);
  expect(await address('AntennaPod')).toContain(`https://antennapod.org/deeplink/subscribe?url=${encodeURIComponent(feed)}&title=%D8%B3`);
});

test('an episode is shared at a second, and downloaded', async ({ page, mock, context }) => {
  const episode = episodeOf(mock, 'thursday-night', 1);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.addInitScript(() => Object.defineProperty(Navigator.prototype, 'share', { value: undefined, configurable: true }));
  await open(page, `/podcasts/thursday-night/${episode.id}`, 'en');
  await page.getByRole('button', { name: 'Share' }).click();
  await expect(page.getByText('The link is copied.')).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`${mock.url}/podcasts/thursday-night/${episode.id}`);
  await chapters(page).nth(2).click();
  await expectEpisode(page);
  await bar(page).getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('checkbox', { name: /^Start at 0:3\d$/ }).check();
  await page.getByRole('button', { name: 'Share' }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toMatch(new RegExp(`/${episode.id}\\?t=3\\d$`));
  const loading = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download' }).click();
  expect((await loading).url()).toBe(`${mock.url}${episode.audio}?download=1`);
});

test('what others wrote is text, and only whole addresses of sites are links', async ({ page, mock }) => {
  const odd = episodeOf(mock, 'thursday-night', 3);
  page.on('dialog', () => expect('a dialog').toBe('never shown'));
  await open(page, `/podcasts/thursday-night/${odd.id}`, 'en');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(odd.title);
  await expect(chapters(page).first()).toContainText('<b>Chapter</b>');
  await expect(chapters(page).nth(1)).toContainText('"quoted" & turned'); // the override is gone
  await expect(page.locator('.notes')).toContainText('<script>alert(document.domain)</script>');
  await expect(page.locator('.notes a')).toHaveCount(0);
  await page.locator('.loud').click();
  await expectEpisode(page);
  await page.locator('.way a').click();
  await expect(rows(page).nth(3)).toContainText('<svg onload=alert(2)>');
  expect(await page.locator('main script, main b, main svg[onload], main img[onerror], aside b').count()).toBe(0);
  await page.goto(`/podcasts/thursday-night/${episodeOf(mock, 'thursday-night', 0).id}`);
  const link = page.locator('.notes a');
  await expect(link).toHaveAttribute('href', 'https://nile.example/oud');
  await expect(link).toHaveAttribute('rel', /noopener.*nofollow/);
  await page.goto(`/podcasts/bulletins/${episodeOf(mock, 'bulletins', 0).id}`);
  await expect(page.locator('.transcript')).toBeHidden();
  await page.locator('summary').click();
  await expect(page.locator('.transcript')).toContainText('<i>الطقس</i>');
});

test('what the browser kept may be anything', async ({ page, mock }) => {
  await page.addInitScript(() => {
    localStorage.setItem('athir.podcasts', '{"thursday-night/aaaaaaaaaaaaaaaa":{"at":100,"of":900,"done":false,"when":1,"title":"<img src=x onerror=alert(1)>","showTitle":"x","cover":"javascript:alert(1)"},"x":7,"//evil.example/aaaaaaaaaaaaaaaa":{"at":100,"of":900,"done":false,"when":1,"title":"x","showTitle":"x","cover":""}}');
    localStorage.setItem('athir.podcasts.speed', '"; alert(1)');
  });
  await open(page, '/podcasts', 'en');
  await expect(page.locator('.begun li')).toHaveCount(1);
  await expect(page.locator('.begun')).toContainText('<img src=x');
  await page.goto(`/podcasts/bulletins/${episodeOf(mock, 'bulletins', 0).id}`);
  await page.locator('.loud').click();
  await expectEpisode(page);
  expect(await rate(page)).toBe(1);
});

test('the station is asked once, and again when the tab comes back after long', async ({ page, mock }) => {
  await page.clock.install();
  await open(page, '/podcasts/bulletins', 'en');
  await expect(rows(page)).toHaveCount(12);
  await expect(page.locator('aside .names')).toBeVisible(); // the radio has come
  const asked = () => mock.count('/api/podcasts');
  const before = asked();
  const comeBack = () => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await page.clock.fastForward(9 * 60_000);
  await comeBack();
  await page.locator('.way a').click();
  await page.goBack();
  await expect(rows(page)).toHaveCount(12);
  expect(asked()).toBe(before + 1); // the list of shows, which was not asked for before
  mock.podcasts.withdraw(episodeOf(mock, 'bulletins', 0));
  await page.clock.fastForward(2 * 60_000);
  await comeBack();
  await expect(rows(page)).toHaveCount(11);
  expect(asked()).toBe(before + 3); // the show and its episodes
});

test('a station that does not answer is said, and asked again', async ({ page, mock }) => {
  const episode = episodeOf(mock, 'thursday-night', 0);
  for (const path of ['/podcasts', '/podcasts/thursday-night', `/podcasts/thursday-night/${episode.id}`]) {
    mock.podcasts.down = true;
    await open(page, path, 'en');
    await expect(page.getByRole('alert')).toContainText('The station did not answer.');
    mock.podcasts.down = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(page.locator('[data-show], [data-episode]').first()).toBeVisible();
    await expect(page.getByRole('alert')).toHaveCount(0);
  }
  await page.goto('/podcasts/thursday-night');
  await expect(rows(page)).toHaveCount(30);
  mock.podcasts.down = true;
  await page.locator('.end').scrollIntoViewIfNeeded();
  await expect(page.locator('.end').getByRole('alert')).toBeVisible();
  mock.podcasts.down = false;
  await page.locator('.end').getByRole('button', { name: 'Try again' }).click();
  await expect.poll(() => rows(page).count()).toBeGreaterThan(50);
});

test('without a network the page is the offline page, and files are no pages', async ({ page, context }) => {
  await open(page, '/podcasts', 'en');
  await page.evaluate(() => navigator.serviceWorker.ready);
  await expect.poll(() => page.evaluate(async () => (await caches.keys()).length)).toBe(1);
  await page.reload(); // now it is the worker's
  await context.setOffline(true);
  await page.goto('/podcasts/bulletins');
  await expect(page.getByText('Cannot reach the station')).toBeVisible();
  await context.setOffline(false);
});

test('the player and the history lead here where the station has shows', async ({ page, mock }) => {
  await open(page, '/', 'en');
  await expect(page.getByRole('link', { name: 'Podcasts' })).toHaveAttribute('href', '/podcasts');
  expect(mock.count('/api/podcasts')).toBe(0); // its page says so
  await page.goto('/history');
  await page.getByRole('link', { name: 'Podcasts' }).click();
  await expect(page.locator('[data-show]')).toHaveCount(4);
  mock.podcasts.shows = [];
  await page.goto('/');
  await expect(page.getByRole('link', { name: 'What was that song?' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Podcasts' })).toHaveCount(0);
});

for (const [language, colorScheme] of [...faces, ['ar', 'dark'], ['en', 'light']] as const) {
  test(`axe finds nothing, nothing is scrolled sideways, and targets are large: ${language} ${colorScheme}`, async ({ page, mock }) => {
    await page.emulateMedia({ colorScheme });
    const episode = episodeOf(mock, 'thursday-night', 0);
    for (const path of ['/podcasts', '/podcasts/thursday-night', `/podcasts/thursday-night/${episode.id}`, `/podcasts/bulletins/${episodeOf(mock, 'bulletins', 0).id}`, '/podcasts/thursday-night/aaaaaaaaaaaaaaaa', '/podcasts/from-listeners']) {
      await open(page, path, language);
      await expect(page.locator('[data-show], [data-episode], [data-missing]').first()).toBeVisible();
      const play = page.locator('[data-play]').first();
      if (await play.isVisible()) {
        await play.click();
        await expectEpisode(page);
      }
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 844 });
        await expectAccessible(page);
        const small = await page.locator('main :is(a, button, summary, select, input), aside :is(button, select, input)').evaluateAll((all) => all.filter((one) => one.checkVisibility() && !one.closest('.notes, [aria-hidden], label, nav')).map((one) => [one.outerHTML.slice(0, 90), one.getBoundingClientRect()] as const).filter(([, { width: w, height: h }]) => w > 0 && (h < 43.9 || w < 43.9)).map(([html]) => html));
        expect(small).toEqual([]);
      }
      for (const width of [360, 768, 1024, 1920]) await expectFits(page, { width, height: 844 });
    }
  });
}
