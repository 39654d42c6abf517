import { expect, open, test } from '../tests/fixtures';

// Pictures of the library: npm run shots -- library

const sizes = { phone: { width: 390, height: 844 }, tablet: { width: 768, height: 1024 }, wide: { width: 1920, height: 1080 } };

for (const [size, viewport] of Object.entries(sizes)) {
  for (const [language, colorScheme] of [['ar', 'light'], ['en', 'dark']] as const) {
    test(`the library: ${size} ${language} ${colorScheme}`, async ({ page, mock }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport);
      const shoot = (name: string) => page.screenshot({ path: `shots/library-${name}-${size}-${language}.png` });
      const kept = mock.people.add('omar', 'programme', { name: 'Omar Naguib' });
      mock.library.tracks[1]?.say({ title: 'نهر بطيء', cueInMs: 9000, cueOutMs: 140_000, crossMs: 8000, limits: { hours: [[6, 10]], perDay: 2 }, aliases: ['nahr', 'slow nahr'] });
      mock.intake.still = true;
      mock.intake.arrive('twin.mp3');
      mock.intake.arrive('أغنية جديدة.mp3', { folder: 'ألبومات/٢٠٢٦' });
      mock.intake.arrive('broken.mp3');
      await page.request.post('/api/session', { data: { login: 'omar', password: kept.password } });
      await open(page, '/studio#/library', language);
      await expect(page.locator('[data-path]').first()).toBeVisible();
      await shoot('list');
      await page.locator('[data-path]').nth(2).getByRole('checkbox').check();
      await shoot('selected');
      await page.locator('[data-foot] .pill').nth(3).click();
      await expect(page.locator('dialog[open] [data-hour]')).toHaveCount(24);
      await shoot('limits');
      await page.keyboard.press('Escape');
      await page.locator('[data-foot] .bare').click();
      await page.goto(`/studio#/library/track/${encodeURIComponent('english/Slow_River.mp3')}`);
      await expect(page.locator('.lane .whole')).toBeVisible();
      await page.locator('.lane').scrollIntoViewIfNeeded();
      await shoot('track');
      await page.locator('[data-hour="12"]').scrollIntoViewIfNeeded();
      await shoot('track-limits');
      await page.locator('#track-deeds').scrollIntoViewIfNeeded();
      await shoot('track-end');
      await page.goto('/studio#/library');
      await page.locator('#library-title ~ .key').click();
      await expect(page.locator('[data-arrival]')).toHaveCount(3);
      await shoot('uploads');
    });
  }
}
