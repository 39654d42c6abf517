import type { Page } from '@playwright/test';
import { open } from '../tests/fixtures';
import type { Whip } from '../tests/mock/whip';
import { link, phone, test } from '../tests/phone';

// The presenters' page in each of its states: npm run shots -- golive

test.use({ ...phone(), deviceScaleFactor: 2 });

async function live(page: Page, whip: Whip, language: 'ar' | 'en'): Promise<void> {
  await open(page, link, language);
  await page.locator('.big').click();
  await page.locator('[data-sign=waiting]').waitFor();
  whip.tell({ state: 'on air', since: Date.now() - 754_000, until: Date.now() + 3_600_000 });
  await page.locator('[data-sign="on air"]').waitFor();
}

const parts: Record<string, (page: Page, whip: Whip, language: 'ar' | 'en') => Promise<void>> = {
  key: async (page, _, language) => open(page, '/go-live', language),
  ready: async (page, _, language) => open(page, link, language),
  tried: async (page, _, language) => {
    await open(page, link, language);
    await page.locator('.try').click();
    await page.locator('[data-level]').waitFor();
    await page.locator('#show').fill(language === 'ar' ? 'شاي المساء' : 'Evening tea');
    await page.locator('#presenter').fill(language === 'ar' ? 'نور' : 'Nour');
    await page.waitForTimeout(1200);
  },
  waiting: async (page, whip, language) => {
    whip.tell({ takenBy: 'هالة منصور', until: Date.now() + 3_600_000 });
    await open(page, link, language);
    await page.locator('.big').click();
    await page.locator('[data-sign=waiting]').waitFor();
    await page.waitForTimeout(1200);
  },
  onair: async (page, whip, language) => {
    await live(page, whip, language);
    await page.waitForTimeout(1200);
  },
  wrapup: async (page, whip, language) => {
    await live(page, whip, language);
    whip.tell({ wrapUpAt: Date.now() + 60_000 });
    await page.locator('[data-wrap-up]').waitFor();
    await page.locator('.big').click();
    await page.locator('[data-warning=muted]').waitFor();
    await page.getByRole('button', { name: /إنهاء|Stop/ }).click();
  },
  grace: async (page, whip, language) => {
    await live(page, whip, language);
    whip.tell({ state: 'grace' });
    await page.locator('[data-sign=grace]').waitFor();
  },
  retrying: async (page, whip, language) => {
    await live(page, whip, language);
    whip.away = true;
    whip.end('server');
    await page.locator('[data-sign=retrying]').waitFor();
  },
  early: async (page, whip, language) => {
    whip.refuse = { status: 403, body: { code: 'early', retryAt: Date.now() + 100_000_000 } };
    await open(page, link, language);
    await page.locator('.big').click();
    await page.locator('[data-sign=early]').waitFor();
  },
  denied: async (page, _, language) => {
    await page.addInitScript(() => (navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('no', 'NotAllowedError'))));
    await open(page, link, language);
    await page.locator('.big').click();
    await page.locator('[data-sign=denied]').waitFor();
  },
  stopped: async (page, whip, language) => {
    await live(page, whip, language);
    for (let i = 0; i < 2; i++) await page.getByRole('button', { name: /إنهاء|Stop|Tap again|ثانيةً/ }).click();
    await page.locator('[data-sign=stopped]').waitFor();
  },
  revoked: async (page, whip, language) => {
    await live(page, whip, language);
    whip.end('revoked');
    await page.locator('[data-sign=revoked]').waitFor();
  },
};

for (const [part, set] of Object.entries(parts)) {
  for (const [language, colorScheme] of [['ar', 'light'], ['ar', 'dark'], ['en', 'light'], ['en', 'dark']] as const) {
    test(`golive ${part} ${language} ${colorScheme}`, async ({ page, whip }) => {
      await page.emulateMedia({ colorScheme });
      await set(page, whip, language);
      await page.screenshot({ path: `shots/golive-${part}-${language}-${colorScheme}.png` });
    });
  }
}
