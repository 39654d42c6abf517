import type { Page } from '@playwright/test';
import { open, test } from '../tests/fixtures';
import { nile, picture, wrongField } from '../tests/mock/facing';
import type { Mock } from '../tests/mock/mock';

// The station's own face in the studio: npm run shots -- face

const sizes = { wide: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

type Set = (page: Page, mock: Mock, language: 'ar' | 'en') => Promise<void>;

const faced: Set = async (page, mock, language) => {
  mock.facing.set();
  await open(page, '/studio#/station', language);
  await page.locator('#face-names').waitFor();
  await page.evaluate(() => document.querySelectorAll('img[loading=lazy]').forEach((img) => img.setAttribute('loading', 'eager')));
};

const parts: Record<string, Set> = {
  face: faced,
  empty: async (page, _, language) => {
    await open(page, '/studio#/station', language);
    await page.locator('#face-names').waitFor();
  },
  changed: async (page, mock, language) => {
    await faced(page, mock, language);
    await page.locator('[data-path="name.ar"] input').fill('صوت النيل');
    await page.locator('.presets button').nth(2).click();
    await page.locator('[data-choose=icon]').setInputFiles({ name: 'icon.png', mimeType: 'image/png', buffer: picture(160, 90, [214, 69, 127]) });
    await page.locator('[data-picture=icon] .note:not(:empty)').waitFor();
    await page.locator('[data-choose=logo]').setInputFiles({ name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from('<svg/>') });
  },
  wrong: async (page, mock, language) => {
    await faced(page, mock, language);
    await page.locator('#face-email').fill('nobody');
    await page.locator('[data-path="links[1].url"] input').fill('ftp://nile');
    await page.keyboard.press('Control+s');
    await page.locator('.bar .bad').waitFor();
  },
  refused: async (page, mock, language) => {
    await faced(page, mock, language);
    mock.facing.refusal = wrongField('tagline.ar', 'must have at most 120 characters', 'النص 120 حرفًا على الأكثر');
    await page.locator('[data-path="tagline.ar"] input').fill('ليل');
    await page.keyboard.press('Control+s');
    await page.locator('[data-path="tagline.ar"] .wrong').waitFor();
  },
  conflict: async (page, mock, language) => {
    await faced(page, mock, language);
    await page.locator('[data-path="name.en"] input').fill('The Nile');
    mock.facing.change({ accent: '#8e5bd0', links: nile().links.slice(0, 1) });
    await page.keyboard.press('Control+s');
    await page.locator('.conflict').waitFor();
  },
  saved: async (page, mock, language) => {
    await faced(page, mock, language);
    await page.locator('[data-path="name.en"] input').fill('The Nile');
    await page.keyboard.press('Control+s');
    await page.locator('.toasts li').waitFor();
  },
};

for (const [part, set] of Object.entries(parts)) {
  for (const language of ['ar', 'en'] as const) {
    for (const [size, viewport] of Object.entries(sizes)) {
      for (const colorScheme of ['light', 'dark'] as const) {
        test(`face ${part} ${language} ${size} ${colorScheme}`, async ({ page, mock }) => {
          mock.control.key = '';
          await page.setViewportSize(viewport);
          await page.emulateMedia({ colorScheme });
          await set(page, mock, language);
          await page.screenshot({ path: `shots/face-${part}-${language}-${size}-${colorScheme}.png`, fullPage: part === 'face' || part === 'empty' || part === 'changed' });
        });
      }
    }
  }
}
