import { randomBytes } from 'node:crypto';
import type { Page } from '@playwright/test';
import { open, test } from '../tests/fixtures';
import type { Mock } from '../tests/mock/mock';

// The listeners' page in each of its states: npm run shots -- social

test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2, permissions: ['microphone'] });

type Language = 'ar' | 'en';

const fill = async (page: Page, language: Language): Promise<void> => {
  await page.locator('[data-for=title]').fill(language === 'ar' ? 'من الشرفة' : 'From the balcony');
  await page.locator('[data-for=artist]').fill(language === 'ar' ? 'نور السيد' : 'Nour');
  await page.locator('[data-for=from]').fill(language === 'ar' ? 'نور' : 'Nour');
  await page.locator('[data-for=rights]').check();
};

const uploading = async (page: Page, mock: Mock, language: Language): Promise<void> => {
  mock.social.tus.holdAt = 4_000_000;
  await open(page, '/social.html#send', language);
  await page.locator('.ways button').nth(1).click();
  await page.locator('input[type=file]').setInputFiles({ name: 'balcony.mp3', mimeType: 'audio/mpeg', buffer: randomBytes(9_000_000) });
  await fill(page, language);
  await page.locator('.go').last().click();
  await page.waitForTimeout(1500);
};

const parts: Record<string, (page: Page, mock: Mock, language: Language) => Promise<void>> = {
  listen: async (page, mock, language) => {
    mock.social.change(1, { onAir: true });
    await open(page, '/social.html', language);
    await page.locator('[data-post="1"] [data-playing]').click();
    await page.locator('[data-post="1"] [data-kind=love]').click();
    await page.locator('[data-post="1"] [aria-pressed]').first().click();
    await page.locator('[data-post="1"] summary').click();
    await page.waitForTimeout(3000);
  },
  report: async (page, _, language) => {
    await open(page, '/social.html', language);
    await page.locator('[data-post="1"] summary').click();
    await page.locator('[data-post="1"] [data-score] button').click();
  },
  send: async (page, _, language) => {
    await open(page, '/social.html#send', language);
    await page.locator('.kind').nth(2).click();
    await page.locator('.ways button').nth(1).click();
    await page.locator('.go').last().click();
  },
  record: async (page, _, language) => {
    await open(page, '/social.html#send', language);
    await page.locator('.kind').nth(2).click();
    await page.locator('.record .big').click();
    await page.waitForTimeout(3200);
  },
  recorded: async (page, _, language) => {
    await parts.record!(page, _, language);
    await page.locator('.record .big').click();
    await page.waitForTimeout(600);
  },
  uploading,
  paused: async (page, mock, language) => {
    await uploading(page, mock, language);
    mock.social.tus.down = true;
    mock.social.tus.holdAt = Infinity;
    await page.locator('[data-upload] .pill').first().click();
    await page.locator('[data-upload] .loud').first().click();
    await page.locator('[data-upload=waiting]').waitFor();
    await page.locator('nav a').first().click();
    await page.locator('[data-post]').first().waitFor();
  },
  arrived: async (page, mock, language) => {
    await uploading(page, mock, language);
    mock.social.tus.holdAt = Infinity;
    await page.locator('[data-arrived]').waitFor();
  },
  mine: async (page, mock, language) => {
    await open(page, '/social.html', language);
    const all = [mock.social.post({ title: 'موج' }), mock.social.post({ title: 'Slow River' }), mock.social.post({ title: 'قهوة الفجر' }), mock.social.post({ title: 'Held' })];
    await page.evaluate((ids) => localStorage.setItem('athir.posts', JSON.stringify(ids.map((id) => ({ id, token: `s3cret-${id}`, title: 'x', type: 'song', at: Date.now() })))), all.map(({ id }) => id));
    mock.social.change(all[0]!.id, { stage: 'mastering', progress: 0.6 });
    mock.social.approve(all[1]!.id);
    mock.social.reject(all[2]!.id, 'moderator', language === 'ar' ? 'الصوت خافت جدًا' : 'It is far too quiet');
    mock.social.change(all[3]!.id, { status: 'pending', stage: '' });
    await page.goto('/social.html#mine');
    await page.reload();
    await page.locator('[data-step=rejected]').waitFor();
  },
  withdraw: async (page, mock, language) => {
    const { id } = mock.social.post({ title: 'موج' });
    await open(page, `/social.html#post=${id}&token=s3cret-${id}`, language);
    await page.locator('article .quiet').click();
  },
  chart: async (page, _, language) => {
    await open(page, '/social.html#chart', language);
    await page.locator('[data-post]').first().waitFor();
  },
  post: async (page, _, language) => {
    await open(page, '/social.html?post=1', language);
    await page.locator('main [data-playing]').click();
    await page.waitForTimeout(3000);
  },
  missing: async (page, _, language) => {
    await open(page, '/social.html?post=999', language);
    await page.locator('[data-missing]').waitFor();
  },
};

for (const [part, set] of Object.entries(parts)) {
  for (const [language, colorScheme] of [['ar', 'light'], ['ar', 'dark'], ['en', 'light'], ['en', 'dark']] as const) {
    test(`social ${part} ${language} ${colorScheme}`, async ({ page, mock }) => {
      await page.emulateMedia({ colorScheme });
      await set(page, mock, language);
      await page.screenshot({ path: `shots/social-${part}-${language}-${colorScheme}.png`, fullPage: part === 'send' });
    });
  }
}
