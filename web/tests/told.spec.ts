import type { Page } from '@playwright/test';
import { enter, expect, expectSound, link, open, playButton, test } from './fixtures';
import type { Mock } from './mock/mock';

// What is told is not asked for: these run against the mock, by a clock that runs ahead.

const pageTime = (page: Page) => page.evaluate(() => Date.now());

/** Half a minute passes in which the station says what it says while nothing happens. */
async function halfMinute(page: Page, mock: Mock, listeners: number): Promise<void> {
  const now = await pageTime(page);
  mock.audience.beat(listeners, now);
  // It has arrived, and with it the heartbeat, which is on its way beside it.
  await page.waitForFunction((said) => (globalThis as unknown as { heard?: number[] }).heard?.includes(said), now);
  await page.clock.runFor(30_000);
}

/** Keeps in the page which times it was told. */
async function listen(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const heard: number[] = [];
    Object.assign(globalThis, { heard });
    const real = WebSocket.prototype.addEventListener;
    const watch = (event: Event) => {
      const told = /"serverTime":(\d+),"history"/.exec(String((event as MessageEvent).data));
      if (told) setTimeout(() => heard.push(Number(told[1])));
    };
    const set = Object.getOwnPropertyDescriptor(WebSocket.prototype, 'onmessage') as PropertyDescriptor;
    Object.defineProperty(WebSocket.prototype, 'onmessage', {
      ...set,
      set(this: WebSocket, run: unknown) {
        set.set?.call(this, run);
        real.call(this, 'message', watch);
      },
    });
  });
}

/** Requests of a page other than for sound, pictures of covers and the socket. */
function questions(page: Page): string[] {
  const asked: string[] = [];
  page.on('request', (request) => {
    const { pathname, protocol } = new URL(request.url());
    if (protocol.startsWith('http') && !/^\/(hls|stream|socket\.io|api\/library\/covers)(\/|$)/.test(pathname)) asked.push(pathname);
  });
  return asked;
}

test('an hour of listening asks for nothing but the sound: all that changes is told', async ({ page, mock }) => {
  await page.clock.install();
  await listen(page);
  await open(page, '/', 'en');
  await expect(link(page)).toHaveAttribute('data-link', 'live');
  await playButton(page).click();
  await expectSound(page, 2);
  await expect(page.locator('#coming-up')).toBeVisible();
  for (let i = 0; i < 2; i++) await halfMinute(page, mock, 200);
  const asked = questions(page);
  const next = page.locator('section[aria-labelledby=coming-up] li').first();
  const songs = [[5, 'Slow River'], [7, 'رمل وبحر (Remix)'], [8, 'شمس الصعيد']] as const;
  for (let i = 0; i < 120; i++) {
    await halfMinute(page, mock, 300 + i);
    if (i % 6 !== 0) continue;
    const [index, after] = songs[(i / 6) % songs.length] as (typeof songs)[number];
    mock.scene = { ...mock.scene, index, startedAt: (await pageTime(page)) - 100_000 };
    mock.audience.tellStatus();
    mock.audience.tellQueue();
    await expect(page.locator('section[aria-labelledby=coming-up]')).toContainText(after);
    await expect(page.locator('.listeners')).toHaveText(`${300 + i} listeners`);
  }
  await expect(next).toBeVisible();
  expect(asked).toEqual([]);
  await expect(link(page)).toHaveAttribute('data-link', 'live');
});

test('an hour in the chat, and hidden, asks for nothing', async ({ page, mock }) => {
  await page.clock.install();
  await listen(page);
  await enter(page, 'Nour', 'en');
  for (let i = 0; i < 2; i++) await halfMinute(page, mock, 200);
  const asked = questions(page);
  await page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'hidden' });
    document.dispatchEvent(new Event('visibilitychange'));
  });
  for (let i = 0; i < 60; i++) await halfMinute(page, mock, 300 + i);
  await page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'visible' });
    document.dispatchEvent(new Event('visibilitychange'));
  });
  for (let i = 0; i < 60; i++) await halfMinute(page, mock, 400 + i);
  expect(asked).toEqual([]);
});

test('a page whose socket is cut polls, is right, and asks no more once it is back', async ({ page, mock }) => {
  await page.clock.install();
  await listen(page);
  await open(page, '/', 'en');
  await expect(link(page)).toHaveAttribute('data-link', 'live');
  for (let i = 0; i < 2; i++) await halfMinute(page, mock, 200);
  const title = page.getByRole('heading', { level: 1 });
  await expect(title).toHaveText('يا مسافر وحدك');
  const before = mock.count('/api/status');
  mock.audience.barred = true;
  mock.audience.close();
  mock.audience.forget();
  await expect(link(page)).toHaveAttribute('data-link', 'lost');
  mock.scene = { ...mock.scene, index: 5, startedAt: Date.now() };
  await expect(title).toHaveText('شاي بالنعناع');
  await expect(page.locator('section[aria-labelledby=coming-up]')).toContainText('Slow River');
  mock.scene = { ...mock.scene, index: 7, startedAt: Date.now() };
  await expect(title).toHaveText('Slow River');
  expect(mock.count('/api/status')).toBeGreaterThan(before + 1);
  mock.audience.barred = false;
  await expect(link(page)).toHaveAttribute('data-link', 'live');
  for (let i = 0; i < 2; i++) await halfMinute(page, mock, 200); // in which everybody looks once
  const asked = questions(page);
  for (let i = 0; i < 20; i++) await halfMinute(page, mock, 300 + i);
  mock.scene = { ...mock.scene, index: 8, startedAt: Date.now() };
  mock.audience.tellStatus();
  await expect(title).toHaveText('رمل وبحر (Remix)');
  expect(asked).toEqual([]);
});
