import { readFileSync } from 'node:fs';
import { test } from '@playwright/test';

// Paints public/icon.svg at the sizes home screens ask for: npm run icons
const dir = new URL('../public/', import.meta.url).pathname;

for (const size of [180, 192, 512]) {
  test(`icon ${size}`, async ({ page }) => {
    await page.setViewportSize({ width: size, height: size });
    const svg = readFileSync(`${dir}icon.svg`, 'base64');
    await page.setContent(`<body style="margin:0"><img width="${size}" height="${size}" src="data:image/svg+xml;base64,${svg}">`);
    await page.screenshot({ path: `${dir}icon-${size}.png` });
  });
}
