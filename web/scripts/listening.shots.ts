import type { Page } from '@playwright/test';
import { expectSound, open, playButton, test } from '../tests/fixtures';
import { idAt } from '../tests/mock/data';
import { nile } from '../tests/mock/face';
import type { Mock } from '../tests/mock/mock';

// What listeners get: npm run shots -- -g face

const sizes = { tiny: { width: 360, height: 740 }, phone: { width: 390, height: 844 }, tablet: { width: 768, height: 1024 }, wide: { width: 1280, height: 860 } };

const parts: Record<string, { path: string; whole?: boolean; set: (page: Page, mock: Mock) => Promise<void> }> = {
  home: {
    path: '/',
    whole: true,
    set: async (page) => {
      await playButton(page).click();
      await expectSound(page, 1);
      await page.locator('.about').waitFor();
    },
  },
  ad: {
    path: '/',
    set: async (page, mock) => {
      mock.scene = { index: 9, startedAt: Date.now() - 9000, empty: false };
      await page.reload();
      await page.locator('[data-kind=ad]').waitFor();
    },
  },
  long: {
    path: '/',
    set: async (page) => {
      await page.route('**/api/status', async (route) => {
        const status = await (await route.fetch()).json();
        status.track.title = 'سهرة مع أغنيات عبد الحليم حافظ من حفلات الربيع (تسجيل نادر)';
        await route.fulfill({ json: status });
      });
      await page.reload();
      await page.locator('h1.long').waitFor();
    },
  },
  sleep: { path: '/', set: async (page) => page.locator('[popovertarget=sleep]').first().click() },
  quality: { path: '/', set: async (page) => page.locator('[popovertarget=quality]').first().click() },
  lyrics: {
    path: '/',
    set: async (page, mock) => {
      const synced = Array.from({ length: 30 }, (_, i) => ({ atMs: i * 8000, text: i % 7 === 6 ? '' : `يا مسافر وحدك وفايتني، السطر ${i}` }));
      mock.lyrics.set(idAt(3), { lyrics: '', synced });
      await page.locator('[popovertarget=lyrics]').first().click();
      await page.locator('.lines .now').waitFor();
    },
  },
  chat: { path: '/chat', set: async (page) => page.locator('#name').waitFor() },
  social: { path: '/social.html', whole: true, set: async (page) => page.locator('.about').waitFor() },
};

for (const [part, { path, whole, set }] of Object.entries(parts)) {
  for (const [size, viewport] of Object.entries(sizes)) {
    for (const [language, scheme] of [['ar', 'light'], ['en', 'dark'], ['ar', 'dark'], ['en', 'light']] as const) {
      test(`face ${part} ${size} ${language} ${scheme}`, async ({ page, mock }) => {
        mock.face = nile;
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme: scheme });
        await open(page, path, language);
        await set(page, mock);
        await page.waitForTimeout(500);
        await page.screenshot({ path: `shots/face-${part}-${size}-${language}-${scheme}.png`, fullPage: whole ?? false });
      });
    }
  }
}
