import { expect, open, test } from '../tests/fixtures';

// Pictures of the import: npm run shots -- import

const sizes = { phone: { width: 390, height: 844 }, tablet: { width: 768, height: 1024 }, wide: { width: 1920, height: 1080 } };

for (const [size, viewport] of Object.entries(sizes)) {
  for (const [language, colorScheme] of [['ar', 'light'], ['en', 'dark']] as const) {
    test(`import: ${size} ${language} ${colorScheme}`, async ({ page, mock }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport);
      const shoot = (name: string) => page.screenshot({ path: `shots/import-${name}-${size}-${language}.png`, fullPage: true });
      const kept = mock.people.add('omar', 'owner', { name: 'Omar Naguib' });
      await page.request.post('/api/session', { data: { login: 'omar', password: kept.password } });
      await open(page, '/studio#/library/import', language);
      await expect(page.locator('.way')).toHaveCount(4);
      await shoot('source');
      await page.locator('.way').nth(1).click();
      await page.locator('.way').nth(3).click();
      await page.locator('.go .key').click();
      await shoot('address');
      await page.locator('.way').nth(0).click();
      await page.locator('.way').nth(2).click();
      mock.imports.keptBack = [];
      await page.locator('.file input').setInputFiles({ name: 'azuracast_backup_2026-11-27.tzst', mimeType: 'application/zstd', buffer: Buffer.alloc(3_000_000, 1) });
      await expect.poll(() => mock.imports.keptBack?.length).toBe(1);
      await shoot('upload');
      mock.imports.keptBack.forEach((give) => give());
      mock.imports.keptBack = null;
      await expect(page.locator('.held')).toBeVisible();
      mock.imports.fails = { en: 'This is no backup of AzuraCast: it has no db.sql.', ar: 'ليست نسخة احتياطية من AzuraCast: لا db.sql فيها.' };
      await page.locator('.go .key').click();
      await expect(page.locator('.told')).toBeVisible();
      await shoot('failed');
      await page.locator('.go .key').click();
      await expect(page.locator('details').first()).toBeVisible();
      await shoot('plan');
      await page.locator('details').evaluateAll((all) => all.forEach((one) => ((one as HTMLDetailsElement).open = true)));
      await shoot('plan-whole');
      mock.imports.stops = 800;
      await page.locator('.go .key').click();
      await expect(page.locator('[data-stage=files]')).toContainText(language === 'ar' ? '٨٢٤' : '824');
      await shoot('run');
      mock.imports.stops = Infinity;
      await expect(page.locator('.secrets').first()).toBeVisible();
      await page.locator('details summary').click();
      await shoot('report');
    });
  }
}
