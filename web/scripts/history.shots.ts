import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { open, test } from '../tests/fixtures';

// What aired, a track's page, and the embedded player in its sizes: npm run shots -- history

const looks = [['ar', 'light'], ['en', 'dark'], ['ar', 'dark'], ['en', 'light']] as const;

for (const [language, colorScheme] of looks) {
  for (const [width, height] of [[390, 844], [1280, 900]] as const) {
    test(`history ${language} ${colorScheme} ${width}`, async ({ page, mock }) => {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme });
      const shot = (name: string) => page.screenshot({ path: `shots/history-${name}-${language}-${colorScheme}-${width}.png` });
      await open(page, '/history', language);
      await page.locator('li[data-row]').first().waitFor();
      await page.locator('li[data-row] .icon').first().waitFor();
      await shot('list');
      await page.goto(`/history?at=${mock.past.list[30]!.startedAt + 1000}`);
      await page.locator('li.meant').waitFor();
      await page.waitForTimeout(300);
      await shot('at');
      await page.goto('/history?q=fairuz');
      await page.locator('li[data-row]').first().waitFor();
      await shot('found');
      mock.past.nextAt = Date.now() + 3_600_000;
      await page.goto(`/track/${mock.past.list[0]!.id}`);
      await page.locator('article').waitFor();
      await page.locator('.loud').waitFor();
      await shot('track');
      await page.goto('/track/aaaaaaaaaaaaaaaa');
      await page.locator('[data-missing]').waitFor();
      await shot('missing');
    });
  }
  test(`history embed ${language} ${colorScheme}`, async ({ page, mock, faults }) => {
    mock.scene = { ...mock.scene, index: language === 'ar' ? 3 : 7 };
    const sizes = [[300, 140, ''], [390, 140, ''], [390, 80, '&compact=1'], [600, 140, ''], [600, 80, '&compact=1'], [1200, 180, ''], [1200, 100, '&accent=0f5c62']] as const;
    const frames = sizes.map(([w, h, more]) => `<p>${w} × ${h} ${more}</p><iframe src="${mock.url}/embed?lang=${language}&theme=${colorScheme}${more}" width="${w}" height="${h}" style="border:0" title="x"></iframe>`).join('');
    const other = createServer((_, response) => response.setHeader('content-type', 'text/html').end(`<!doctype html><body style="background:${colorScheme === 'dark' ? '#222' : '#fff'};color:gray;font:12px sans-serif">${frames}`));
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
    await page.setViewportSize({ width: 1280, height: 1250 });
    await page.goto(`http://localhost:${(other.address() as AddressInfo).port}/`);
    await page.waitForTimeout(1500);
    await page.screenshot({ path: `shots/history-embed-${language}-${colorScheme}.png` });
    other.close();
    faults.strangers.length = 0; // the page of another site
  });
}
