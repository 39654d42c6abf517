import { open, test } from '../tests/fixtures';

// The shows, one show, one episode and the player bar: npm run shots -- podcasts

const looks = [['ar', 'light'], ['en', 'dark'], ['ar', 'dark'], ['en', 'light']] as const;

for (const [language, colorScheme] of looks) {
  for (const [width, height] of [[390, 844], [1280, 900]] as const) {
    test(`podcasts ${language} ${colorScheme} ${width}`, async ({ page, mock }) => {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme });
      const shot = async (name: string, fullPage = false) => {
        await page.waitForTimeout(300);
        await page.screenshot({ path: `shots/podcasts-${name}-${language}-${colorScheme}-${width}.png`, fullPage });
      };
      const [first, , third, odd] = mock.podcasts.episodes.get('thursday-night')!;
      await open(page, '/podcasts', language);
      await page.locator('[data-show]').first().waitFor();
      await shot('shows');
      await page.goto('/podcasts/thursday-night');
      await page.locator('[data-episode]').first().waitFor();
      await shot('show', true);
      await page.goto(`/podcasts/thursday-night/${first!.id}`);
      await page.locator('h2#episode-chapters').waitFor();
      await shot('episode');
      await page.locator('.loud').click();
      await page.locator('.bar[data-state=playing]').waitFor();
      await page.locator('.chapters li button').nth(2).click();
      await page.waitForTimeout(1500);
      await shot('playing');
      await page.locator('.bar .list').click();
      await shot('chapters');
      await page.keyboard.press('Escape');
      await page.locator('.way a').click();
      await page.locator('[data-episode]').first().waitFor();
      await shot('show-playing');
      await page.goto(`/podcasts/thursday-night/${odd!.id}`);
      await page.locator('h2#episode-chapters').waitFor();
      await shot('odd', true);
      await page.goto(`/podcasts/bulletins/${mock.podcasts.episodes.get('bulletins')![0]!.id}`);
      await page.locator('summary').click();
      await shot('transcript', true);
      await page.goto('/podcasts/delta-story');
      await page.locator('[data-episode]').first().waitFor();
      await shot('serial');
      mock.podcasts.silent = true;
      await page.locator('[data-play]').first().click();
      await page.locator('.bar .say').waitFor();
      await shot('broken');
      mock.podcasts.silent = false;
      await page.goto(`/podcasts/thursday-night/${third!.id}?t=754`);
      await page.locator('.loud').waitFor();
      await shot('at');
      await page.goto('/podcasts/thursday-night/aaaaaaaaaaaaaaaa');
      await page.locator('[data-missing]').waitFor();
      await shot('missing');
      await page.goto('/podcasts');
      await page.locator('.begun').waitFor();
      await shot('go-on');
      mock.podcasts.shows = [];
      await page.goto('/podcasts');
      await page.locator('[data-missing]').waitFor();
      await shot('none');
    });
  }
}
