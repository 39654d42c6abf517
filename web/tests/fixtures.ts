import AxeBuilder from '@axe-core/playwright';
import { test as base, expect, type ConsoleMessage, type Page } from '@playwright/test';
import { makeMedia, type Media } from './mock/media';
import { Mock } from './mock/mock';

/** A station to test against instead of the mock: ATHIR_URL=http://127.0.0.1:5000 npm run e2e */
export const realStation = process.env.ATHIR_URL ?? '';

/** What a page must never do, collected while a test runs. */
export interface Faults {
  /** Console errors but the browser's own reports of requests that failed, which outages cause. */
  errors: string[];
  /** Violations of the content security policy. */
  violations: string[];
  /** Requests that left the page's origin. */
  strangers: string[];
}

export const test = base.extend<{ mock: Mock; faults: Faults; guest: Page }, { media: Media }>({
  media: [async ({}, use) => use(makeMedia()), { scope: 'worker' }],

  mock: async ({ media }, use) => {
    const mock = new Mock(media);
    await mock.open();
    await use(mock);
    await mock.close();
  },

  baseURL: async ({ mock }, use) => use(realStation || mock.url),

  context: async ({ context }, use) => {
    await context.addInitScript(keepNews);
    await use(context);
  },

  /** A second listener, with a browser profile of their own. */
  guest: async ({ browser, baseURL }, use) => {
    const context = await browser.newContext({ baseURL: baseURL as string, locale: 'en-GB' });
    await context.addInitScript(keepNews);
    await use(await context.newPage());
    await context.close();
  },

  faults: [
    async ({ page, baseURL }, use) => {
      const faults: Faults = { errors: [], violations: [], strangers: [] };
      page.on('console', (message: ConsoleMessage) => {
        if (/Content Security Policy|TrustedHTML|TrustedScript/.test(message.text())) faults.violations.push(message.text());
        else if (message.type() === 'error' && !/^Failed to load resource|^WebSocket connection to|^WebSocket is already in CLOSING|^An unknown error occurred when fetching the script/.test(message.text())) faults.errors.push(message.text());
      });
      page.on('pageerror', (error) => faults.errors.push(String(error)));
      page.on('request', (request) => {
        const url = new URL(request.url());
        if (url.protocol.startsWith('http') && url.origin !== new URL(baseURL as string).origin) faults.strangers.push(request.url());
      });
      await use(faults);
      expect(faults).toEqual({ errors: [], violations: [], strangers: [] });
    },
    { auto: true },
  ],
});

export { expect };

/** Each language and each theme once: colours do not depend on the language, nor words on the theme. */
export const faces = [['ar', 'light'], ['en', 'dark']] as const;

/** Opens a page in a language, as a visitor who chose it before. */
export async function open(page: Page, path: string, language: 'ar' | 'en'): Promise<void> {
  await page.addInitScript((chosen) => {
    if (!localStorage.getItem('athir.language')) localStorage.setItem('athir.language', chosen);
  }, language);
  await page.goto(path);
}

/** Runs in the page: keeps what its news said, which goes away by itself after some seconds. */
function keepNews(): void {
  const kept: string[] = [];
  Object.assign(globalThis, { keptNews: kept });
  new MutationObserver((changes) => {
    for (const node of changes.flatMap(({ addedNodes }) => [...addedNodes])) {
      if (node instanceof Element && node.matches('.toasts li, .news .toast')) kept.push(node.textContent ?? '');
    }
  }).observe(document, { childList: true, subtree: true });
}

/** Expects that the page has told something since it was loaded, whether or not it is still shown. */
export async function expectNews(page: Page, text: string | RegExp): Promise<void> {
  const news = expect.poll(() => page.evaluate(() => (globalThis as { keptNews?: string[] }).keptNews?.join('\n') ?? ''));
  await (typeof text === 'string' ? news.toContain(text) : news.toMatch(text));
}

/**
 * Stops the page's clock, which page.clock.install() took over before the page was opened: what goes
 * away after some seconds stays until page.clock.fastForward(). A minute passes as it stops: nothing
 * that has a time limit may be under way.
 */
export async function stopClock(page: Page): Promise<void> {
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 60_000);
}

/** Sets the page's clock ahead, which page.clock.install() took over, until the page asks the station again. */
export async function nextLook(page: Page, mock: Mock, path = '/api/status'): Promise<void> {
  const before = mock.count(path);
  await expect.poll(async () => {
    await page.clock.fastForward(21_000); // the longest from one look to the next
    return mock.count(path);
  }).toBeGreaterThan(before);
}

/** Expects that axe finds nothing, in a part of the page or in all of it. Legacy mode spares a second page: there are no frames. */
export async function expectAccessible(page: Page, part = 'body'): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().include(part).analyze();
  expect(violations.map((v) => `${v.id}: ${v.nodes.map((node) => `${node.target} ${node.failureSummary}`).join('\n')}`)).toEqual([]);
}

/** Expects that nothing is scrolled sideways, on a small phone unless the page has another width. */
export async function expectFits(page: Page, viewport = { width: 360, height: 740 }): Promise<void> {
  await page.setViewportSize(viewport);
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(viewport.width);
}

/** The audio element's clock, seconds. */
export function audioClock(page: Page): Promise<number> {
  return page.evaluate(() => document.querySelector('audio')?.currentTime ?? 0);
}

export function decodedBytes(page: Page): Promise<number> {
  return page.evaluate(() => (document.querySelector('audio') as unknown as { webkitAudioDecodedByteCount: number }).webkitAudioDecodedByteCount);
}

/** Waits until the audio clock has moved on by so many seconds. */
export async function expectSound(page: Page, seconds = 1): Promise<void> {
  await expect(page.locator('.play')).toHaveAttribute('data-state', 'playing');
  let from = await audioClock(page);
  await expect.poll(async () => {
    const now = await audioClock(page);
    from = Math.min(from, now); // a source that is opened anew begins anew
    return now - from;
  }).toBeGreaterThan(seconds);
}

/**
 * Ends a broadcast by two taps. On a starved machine the question may be over before the second tap, and is
 * asked again; or the first one lasts so long that it is enough.
 */
export async function stopBroadcast(phone: Page): Promise<void> {
  const button = phone.locator('.dock button[aria-describedby=stop-hint]');
  await expect.poll(async () => {
    if (await button.isVisible()) await button.click();
    return phone.locator('[data-sign]').getAttribute('data-sign');
  }).toBe('stopped');
}

/** Enters the chat under a name. */
export async function enter(page: Page, name: string, language: 'ar' | 'en'): Promise<void> {
  await open(page, '/chat', language);
  await page.locator('#name').fill(name);
  await page.locator('#name').press('Enter'); // whatever has the focus by then
  await expect(page.locator('textarea')).toBeVisible();
}

/** Writes to the room that is looked at. */
export async function write(page: Page, text: string): Promise<void> {
  await page.locator('textarea').fill(text);
  await page.keyboard.press('Enter');
}

/** The event transport's state, as the home page tells it. */
export const link = (page: Page) => page.locator('[data-link]');

export const playButton = (page: Page) => page.locator('.play');
export const notice = (page: Page) => page.locator('.notice');
