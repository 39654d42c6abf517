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

  /** A second listener, with a browser profile of their own. */
  guest: async ({ browser, baseURL }, use) => {
    const context = await browser.newContext({ baseURL: baseURL as string, locale: 'en-GB' });
    await use(await context.newPage());
    await context.close();
  },

  faults: [
    async ({ page, baseURL }, use) => {
      const faults: Faults = { errors: [], violations: [], strangers: [] };
      page.on('console', (message: ConsoleMessage) => {
        if (/Content Security Policy|TrustedHTML|TrustedScript/.test(message.text())) faults.violations.push(message.text());
        else if (message.type() === 'error' && !/^Failed to load resource|^WebSocket connection to/.test(message.text())) faults.errors.push(message.text());
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

/** The audio element's clock, seconds. */
export function audioClock(page: Page): Promise<number> {
  return page.evaluate(() => document.querySelector('audio')?.currentTime ?? 0);
}

export function decodedBytes(page: Page): Promise<number> {
  return page.evaluate(() => (document.querySelector('audio') as unknown as { webkitAudioDecodedByteCount: number }).webkitAudioDecodedByteCount);
}

/** Waits until the audio clock has moved on by so many seconds. */
export async function expectSound(page: Page, seconds = 2): Promise<void> {
  await expect(page.locator('.play')).toHaveAttribute('data-state', 'playing', { timeout: 30_000 });
  const from = await audioClock(page);
  await expect.poll(async () => (await audioClock(page)) - from, { timeout: 30_000 }).toBeGreaterThan(seconds);
}

/** Enters the chat under a name. */
export async function enter(page: Page, name: string, language: 'ar' | 'en'): Promise<void> {
  await open(page, '/chat', language);
  await page.locator('#name').fill(name);
  await page.keyboard.press('Enter');
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
