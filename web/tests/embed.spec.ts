import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { FrameLocator, Page } from '@playwright/test';
import { expect, expectAccessible, test } from './fixtures';

// The player in the pages of another site: 127.0.0.1 is the station, localhost is not.

const dist = new URL('../../internal/web/pages/dist/', import.meta.url).pathname;
const others: Server[] = [];

/** A page of another site; returns its address. */
async function elsewhere(body: string): Promise<string> {
  const other = createServer((_, response) => response.setHeader('content-type', 'text/html; charset=utf-8').end(`<!doctype html><title>Another site</title><body>${body}`));
  await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
  others.push(other);
  return `http://localhost:${(other.address() as AddressInfo).port}/`;
}

test.afterEach(({ faults }) => {
  faults.strangers.length = 0; // that is the other site
  for (const other of others.splice(0)) other.close();
});

const player = (page: Page, n = 0): FrameLocator => page.frameLocator('iframe').nth(n);

test('a script tag puts the player where it stands, as often as it stands there, and leaves nothing else', async ({ page, mock }) => {
  const script = (more = '') => `<script async src="${mock.url}/embed.js"${more}></script>`;
  await page.goto(await elsewhere(`<p id="a">one</p>${script(' data-lang="en" data-theme="dark" data-accent="00aa88"')}<p id="b">two</p>${script(' data-lang="ar" data-compact="1" data-height="9000"')}`));
  await expect(page.locator('iframe')).toHaveCount(2);
  await expect(page.locator('#a + script + iframe')).toHaveAttribute('src', `${mock.url}/embed?theme=dark&accent=00aa88&lang=en`);
  await expect(page.locator('#b + script + iframe')).toHaveCSS('height', '180px');
  await expect(page.locator('#a + script + iframe')).toHaveCSS('height', '140px');
  await expect(page.locator('iframe').first()).toHaveAttribute('title', 'Radio');
  expect(await page.locator('iframe').first().evaluate((frame: HTMLIFrameElement) => [frame.allow, frame.loading])).toEqual(['autoplay', 'lazy']);
  await expect(player(page).locator('html')).toHaveAttribute('dir', 'ltr');
  await expect(player(page).locator('html')).toHaveAttribute('data-theme', 'dark');
  await expect(player(page).locator('#play')).toHaveCSS('background-color', 'rgb(0, 170, 136)');
  await expect(player(page, 1).locator('html')).toHaveAttribute('dir', 'rtl');
  await expect(player(page, 1).locator('#title')).toHaveText('يا مسافر وحدك');
});

/** Plays in a frame of another site, and returns what was played. */
async function playElsewhere(page: Page, url: string): Promise<string> {
  await page.goto(await elsewhere(`<iframe src="${url}/embed?lang=en" width="600" height="140" allow="autoplay"></iframe>`));
  await player(page).locator('#play').click();
  await expect(player(page).locator('#play')).toHaveAttribute('data-state', 'playing');
  const audio = player(page).locator('audio');
  await expect.poll(() => audio.evaluate(({ currentTime }: HTMLAudioElement) => currentTime)).toBeGreaterThan(1.5);
  const src = await audio.evaluate(({ src }: HTMLAudioElement) => new URL(src).pathname);
  await expect(player(page).locator('#play')).toHaveAttribute('aria-label', 'Stop');
  await player(page).locator('#play').click();
  await expect(player(page).locator('#play')).toHaveAttribute('data-state', 'idle');
  expect(await audio.evaluate((one: HTMLAudioElement) => one.getAttribute('src'))).toBeNull();
  return src;
}

test('it plays in a frame of another site, where no cookie is kept', async ({ page, mock }) => {
  await page.goto('/embed');
  const native = await page.locator('audio').evaluate((audio: HTMLAudioElement) => audio.canPlayType('application/vnd.apple.mpegurl') !== '');
  expect(await playElsewhere(page, mock.url)).toBe(native ? '/hls/main/index.m3u8' : '/stream');
  expect(mock.withoutCookie > 0).toBe(native);
});

test('it plays the plain stream where the browser has no HLS of its own, or HLS fails', async ({ page, mock }) => {
  mock.hlsDown = true;
  expect(await playElsewhere(page, mock.url)).toBe('/stream');
});

test('it tries again by itself once the sound has stopped, and says so', async ({ page, mock }) => {
  await page.addInitScript(() => (HTMLMediaElement.prototype.canPlayType = () => ''));
  mock.streamDown = true;
  await page.goto('/embed?lang=en');
  await page.locator('#play').click();
  await expect(page.locator('#state')).toHaveText('The sound has stopped. Trying again…');
  mock.streamDown = false;
  await expect(page.locator('#play')).toHaveAttribute('data-state', 'playing');
  await expect(page.locator('#state')).toHaveText('On the air');
});

test('an ad and a jingle are no songs there', async ({ page, mock }) => {
  mock.scene = { ...mock.scene, index: 9 };
  await page.goto('/embed?lang=en');
  await expect(page.locator('#title')).toHaveText('A short break');
  mock.scene = { ...mock.scene, index: 4 };
  await page.reload();
  await expect(page.locator('#name')).toHaveText('إذاعة النيل');
  await expect(page.locator('#title')).toHaveText('إذاعة النيل');
});

test('it follows what is on the air, and asks nothing while nobody listens or looks', async ({ page, mock }) => {
  await page.clock.install();
  await page.goto('/embed?lang=en');
  await expect(page.locator('#title')).toHaveText('يا مسافر وحدك');
  await expect(page.locator('#name')).toHaveText('إذاعة النيل');
  mock.scene = { ...mock.scene, index: 7, startedAt: Date.now() };
  await page.clock.fastForward(26_000);
  await expect(page.locator('#title')).toHaveText('Slow River');
  await page.evaluate(() => Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true }));
  await page.clock.fastForward(26_000); // the last one that was already due
  const before = mock.count('/api/status');
  await page.clock.fastForward(600_000);
  expect(mock.count('/api/status') - before).toBeLessThanOrEqual(1);
  expect(mock.count('/socket.io/')).toBe(0);
  expect(mock.count('/assets/hls')).toBe(0);
});

test('the keyboard alone plays, is louder and softer, and leads to the station', async ({ page, mock }) => {
  await page.addInitScript(() => (HTMLMediaElement.prototype.canPlayType = () => ''));
  await page.goto('/embed?lang=en');
  await expect(page.locator('#title')).toHaveText('يا مسافر وحدك');
  await page.keyboard.press('Space');
  await expect(page.locator('#play')).toHaveAttribute('data-state', 'playing');
  await page.locator('#volume').focus();
  await page.keyboard.press('Home');
  expect(await page.locator('audio').evaluate((audio: HTMLAudioElement) => audio.volume)).toBe(0);
  await page.keyboard.press('End');
  expect(await page.locator('audio').evaluate((audio: HTMLAudioElement) => audio.volume)).toBe(1);
  for (const link of ['#station', '#cover']) {
    await expect(page.locator(link)).toHaveAttribute('target', '_blank');
    await expect(page.locator(link)).toHaveAttribute('rel', 'noopener');
    await expect(page.locator(link)).toHaveAttribute('aria-label', 'Open إذاعة النيل in a new tab');
  }
  expect(mock.count('/stream')).toBe(1);
});

test('it is what the station’s face says, unless the page that embeds it says otherwise', async ({ page, mock }) => {
  mock.face = {
    version: 1, name: { ar: 'راديو البحر', en: 'Sea Radio' }, tagline: { ar: '', en: '' }, about: { ar: '', en: '' }, languages: ['en', 'ar'], accent: '#7a1fa2', links: [],
    contact: { email: '', phone: '', whatsapp: '', address: { ar: '', en: '' } }, logo: '/icon-192.png', credit: true,
  };
  await page.goto('/embed');
  await expect(page).toHaveTitle('Sea Radio');
  await expect(page.locator('#play')).toHaveCSS('background-color', 'rgb(122, 31, 162)');
  await expect(page.locator('#play')).toHaveCSS('color', 'rgb(255, 255, 255)');
  await expect(page.locator('#logo')).toBeVisible();
  await page.goto('/embed?lang=ar&accent=ffffff&theme=light');
  await expect(page).toHaveTitle('راديو البحر');
  await expect(page.locator('html')).toHaveClass(/edged/); // white on white: it has an edge
  await page.goto('/embed?accent=fff;x:url(//evil)&theme=%22%3E%3Cscript%3E&lang=../');
  await expect(page.locator('#play')).toHaveCSS('background-color', 'rgb(122, 31, 162)');
});

test('it fits every size that it is made for, and axe finds nothing', async ({ page, mock }) => {
  mock.scene = { ...mock.scene, index: 8 };
  for (const [language, theme] of [['ar', 'light'], ['en', 'dark'], ['ar', 'dark'], ['en', 'light']] as const) {
    for (const [width, height, more] of [[240, 80, '&compact=1'], [300, 140, ''], [390, 80, '&compact=1'], [600, 140, ''], [1200, 180, ''], [1200, 80, '']] as const) {
      await page.setViewportSize({ width, height });
      await page.goto(`/embed?lang=${language}&theme=${theme}${more}`);
      await expect(page.locator('#artist')).not.toBeEmpty();
      const over = await page.evaluate(() => [document.documentElement.scrollWidth - innerWidth, document.documentElement.scrollHeight - innerHeight]);
      expect(over, `${width}×${height}`).toEqual([0, 0]);
      const out = await page.evaluate(() => [...document.querySelectorAll('#play, #title, #station, #volume, #cover')].filter((one) => one.checkVisibility()).filter((one) => {
        const box = one.getBoundingClientRect();
        return box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1;
      }).map(({ id }) => id));
      expect(out, `${width}×${height}`).toEqual([]);
    }
    await page.setViewportSize({ width: 600, height: 140 });
    await expectAccessible(page);
  }
});

test('its script and style are 15 kB at most, without a socket or a player library', async ({ page, mock }) => {
  await page.goto('/embed');
  await expect(page.locator('#title')).toHaveText('يا مسافر وحدك');
  const loaded = mock.asked.filter((path) => /\.(js|css)$/.test(path));
  const bytes = [...new Set(loaded)].reduce((sum, path) => sum + gzipSync(readFileSync(dist + path), { level: 9 }).length, 0);
  expect(loaded.length).toBeGreaterThan(1);
  expect(bytes).toBeLessThanOrEqual(15_000);
  expect(gzipSync(readFileSync(`${dist}embed.js`)).length).toBeLessThanOrEqual(1000);
});

test('no other page is shown in a frame of another site', async ({ page, mock, faults }) => {
  const paths = ['/', '/history', `/track/${mock.past.list[0]!.id}`, '/chat', '/studio', '/social.html'];
  await page.goto(await elsewhere(paths.map((path) => `<iframe src="${mock.url}${path}"></iframe>`).join('')));
  await expect.poll(() => faults.violations.filter((text) => text.includes('frame-ancestors')).length).toBe(paths.length);
  faults.violations.length = 0;
  faults.errors.length = 0;
});
