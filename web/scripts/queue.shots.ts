import type { Page } from '@playwright/test';
import { open, test } from '../tests/fixtures';

// The queue by hand, in both languages and themes, on a desk and on a phone.

const rotation = (page: Page) => page.locator('section[aria-labelledby=rotation]');

for (const language of ['ar', 'en'] as const) {
  for (const scheme of ['light', 'dark'] as const) {
    for (const [width, height] of [[1440, 1000], [390, 844]] as const) {
      test(`queue ${language} ${scheme} ${width}`, async ({ page, mock }) => {
        const name = (part: string) => `shots/queue-${part}-${language}-${scheme}-${width}.png`;
        mock.control.key = '';
        mock.hand.held = 0;
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme: scheme });
        await open(page, '/studio', language);
        const rows = rotation(page).locator('[data-place]');
        await rows.nth(5).waitFor();
        await rotation(page).scrollIntoViewIfNeeded();
        await rows.nth(3).focus();
        await page.keyboard.press('l');
        await rotation(page).locator('.heldto').waitFor();
        await page.screenshot({ path: name('held') });
        await rows.nth(7).focus();
        await page.keyboard.press('Alt+ArrowUp');
        for (let i = 0; i < 6; i++) await page.keyboard.press('Alt+ArrowUp');
        await rotation(page).locator('.bar').waitFor();
        await page.screenshot({ path: name('asks') });
        await page.keyboard.press('Escape');
        await rows.nth(4).locator('.more').click();
        await page.getByRole('menu').waitFor();
        await page.screenshot({ path: name('menu') });
        await page.getByRole('menuitem').filter({ hasText: /Move|نقل/ }).click();
        await rotation(page).locator('.bar select').waitFor();
        await page.screenshot({ path: name('place') });
      });
    }
  }
}

test('library rows', async ({ page, mock }) => {
  mock.control.key = '';
  for (const [width, language] of [[390, 'ar'], [1440, 'en']] as const) {
    await page.setViewportSize({ width, height: 844 });
    await open(page, '/studio#/library', language);
    await page.locator('[data-path]').nth(2).waitFor();
    await page.screenshot({ path: `shots/queue-library-${width}.png` });
    const { id } = mock.lists.add({ name: `Friday ${width}` }, mock.lists.paths(5));
    await page.goto(`/studio#/library/playlists/${id}`);
    await page.locator('[data-item]').nth(2).waitFor();
    await page.screenshot({ path: `shots/queue-list-${width}.png` });
    await page.goto('/studio#/air');
    await page.getByRole('button', { name: /Play now…|تشغيل الآن…/ }).click();
    await page.getByRole('combobox').fill('river');
    await page.getByRole('option').first().waitFor();
    await page.screenshot({ path: `shots/queue-finder-${width}.png` });
    await page.keyboard.press('Escape');
  }
});
