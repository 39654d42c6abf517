import { expect, open, test } from '../tests/fixtures';

// Pictures of the listeners' figures: npm run shots -- figures

const sizes = { phone: { width: 390, height: 844 }, desk: { width: 1440, height: 900 } };

for (const [size, viewport] of Object.entries(sizes)) {
  for (const language of ['ar', 'en'] as const) {
    for (const colorScheme of ['light', 'dark'] as const) {
      test(`figures: ${size} ${language} ${colorScheme}`, async ({ page, mock }) => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(viewport);
        const shoot = (name: string) => page.screenshot({ path: `shots/figures-${name}-${size}-${language}-${colorScheme}.png`, fullPage: size === 'desk' });
        mock.control.key = '';
        await open(page, '/studio#/listeners', language);
        const stage = page.getByRole('slider');
        await expect(page.locator('.band span').first()).toBeVisible();
        await stage.focus();
        for (let i = 0; i < 60; i++) await page.keyboard.press('ArrowLeft');
        await shoot('now');
        const curve = (name: string) => page.locator('section[aria-labelledby=listeners-chart]').screenshot({ path: `shots/figures-curve-${name}-${size}-${language}-${colorScheme}.png` });
        await curve('day');
        await page.locator('.ranges button').first().click();
        await page.locator('.after [aria-pressed]').first().click();
        await expect(page.locator('.scrolls')).toBeVisible();
        await curve('hour');
        await page.locator('.ranges button').nth(4).click();
        await curve('year');
        const known = mock.library.tracks.find((track) => track.file.plays > 1)!;
        mock.operator.figures.tracks = mock.operator.figures.tracks.map((track, i) => (i ? track : { ...track, file: known.path, listenerHours: 9999 }));
        await page.locator('main nav a').nth(1).click();
        await expect(page.locator('tbody tr').first()).toBeVisible();
        await page.locator('.row').first().click();
        await expect(page.locator('.airings li').first()).toBeVisible();
        await page.locator('.row').first().scrollIntoViewIfNeeded();
        await shoot('tracks');
        await page.locator('main nav a').nth(2).click();
        await expect(page.locator('[data-part]').first()).toBeVisible();
        await shoot('crowd');
        mock.operator.figures.crowd = { ...mock.operator.figures.crowd, countries: [], geo: { on: false } };
        await page.locator('.ranges button').first().click();
        await expect(page.locator('[data-geo]')).toBeVisible();
        await page.locator('[data-geo]').scrollIntoViewIfNeeded();
        await shoot('crowd-no-geo');
        await page.locator('main nav a').nth(3).click();
        await expect(page.locator('tbody tr').first()).toBeVisible();
        await page.locator('.sums').scrollIntoViewIfNeeded();
        await shoot('royalties');
      });
    }
  }
}
