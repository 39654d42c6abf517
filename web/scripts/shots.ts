import { expectSound, open, playButton, test } from '../tests/fixtures';

// Shoots both pages into web/shots to look at: npm run shots
const sizes = { wide: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } };

for (const [size, viewport] of Object.entries(sizes)) {
  for (const language of ['ar', 'en'] as const) {
    for (const colorScheme of ['dark', 'light'] as const) {
      test(`${size} ${language} ${colorScheme}`, async ({ browser, baseURL }) => {
        const context = await browser.newContext({ viewport, colorScheme, baseURL: baseURL as string, hasTouch: size === 'phone', isMobile: size === 'phone', deviceScaleFactor: size === 'phone' ? 2 : 1 });
        const page = await context.newPage();
        await open(page, '/', language);
        await playButton(page).click();
        await expectSound(page, 1);
        await page.mouse.move(0, 0);
        await page.screenshot({ path: `shots/player-${language}-${size}-${colorScheme}.png` });
        await page.goto('/studio');
        await page.waitForSelector('section[aria-labelledby=rotation] ol li, section[aria-labelledby=rotation] .quiet');
        await page.waitForTimeout(500); // fonts swap in
        await page.screenshot({ path: `shots/studio-${language}-${size}-${colorScheme}.png`, fullPage: size === 'phone' });
        await context.close();
      });
    }
  }
}
