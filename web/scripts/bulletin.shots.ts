import { expect, open, test } from '../tests/fixtures';

// Pictures of the bulletin, read and heard before it airs: npm run shots -- bulletin

const sizes = { phone: { width: 390, height: 844 }, wide: { width: 1440, height: 900 } };

for (const [size, viewport] of Object.entries(sizes)) {
  for (const [language, colorScheme] of [['ar', 'light'], ['en', 'dark']] as const) {
    test(`the bulletin: ${size} ${language} ${colorScheme}`, async ({ page, mock }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport);
      mock.control.key = '';
      mock.production.weather = 'الطَّقْسُ فِي القَاهِرَةِ: السَّمَاءُ صَافِيَةٌ، وَدَرَجَةُ الحَرَارَةِ ثَلَاثٌ وَعِشْرُونَ دَرَجَةً مِئَوِيَّةً.';
      await open(page, '/studio#/production', language);
      const part = page.locator('section[aria-labelledby=bulletin]');
      const shoot = async (name: string) => {
        await part.locator('#script-title').scrollIntoViewIfNeeded();
        await page.screenshot({ path: `shots/bulletin-${name}-${size}-${language}.png`, fullPage: name === 'whole' });
      };
      await expect(part.locator('[data-said] li')).toHaveCount(8);
      await shoot('whole');
      const box = part.getByRole('textbox');
      mock.production.held = true;
      await part.locator('.ear button').click();
      await expect(part.getByRole('progressbar')).toBeVisible();
      await part.locator('.ear').scrollIntoViewIfNeeded();
      await page.screenshot({ path: `shots/bulletin-making-${size}-${language}.png` });
      mock.production.held = false;
      await expect(part.locator('.ear .figures').last()).toContainText(/1|١/);
      await page.screenshot({ path: `shots/bulletin-playing-${size}-${language}.png` });
      mock.production.weather = '';
      await box.fill('افتتاح خط جديد لمترو الأنفاق يربط شرق القاهرة بغربها\n…');
      await expect(part.locator('.wrong')).toBeVisible();
      await shoot('refused');
      await box.fill('');
      await expect(part.locator('[data-said] li')).toHaveCount(3);
      for (const fold of await part.locator('summary').all()) await fold.click();
      await shoot('empty');
      mock.production.unspoken = {
        code: 'unspoken', en: 'No voice could speak the bulletin. Check the settings below speech and the machine’s connection to the internet, then listen again.',
        ar: 'لم يتمكن أي صوت من نطق النشرة. راجع إعدادات speech واتصال جهاز المحطة بالإنترنت، ثم استمع من جديد.', detail: 'no segment was spoken: edge:ar-EG-SalmaNeural: dial tcp: no route to host\nespeak-ng:ar: exit code 1',
      };
      await part.locator('.ear button').click();
      if (await part.locator('.ear button').textContent().then((text) => /Listen|استماع/.test(text ?? ''))) await part.locator('.ear button').click();
      await expect(part.locator('.detail')).toBeVisible();
      await part.locator('.detail').scrollIntoViewIfNeeded();
      await page.screenshot({ path: `shots/bulletin-unspoken-${size}-${language}.png` });
    });
  }
}
