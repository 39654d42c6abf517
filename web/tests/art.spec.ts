import { expect, open, playButton, test } from './fixtures';

// Songs are shown with the pictures that are in their files, and drawn covers where there is none.

const real = 'a1'.repeat(16);
const gone = 'b2'.repeat(16);

test.beforeEach(({ mock }) => {
  mock.library.covers.set(real, Buffer.alloc(0));
  mock.scene.covers = { 'ليل القاهرة': real, 'Harbour Lights': real, 'شاي بالنعناع': gone };
  mock.scene.index = 0;
});

test('a song shows the picture in its file over the drawn cover', async ({ page }) => {
  await open(page, '/', 'ar');
  const picture = page.locator('.now .cover img');
  await expect(picture).toHaveClass(/loaded/);
  await expect(picture).toHaveAttribute('alt', 'ليل القاهرة');
  await expect(picture).toHaveAttribute('srcset', [96, 320, 640].map((size) => `/api/library/covers/${real}?size=${size} ${size}w`).join(', '));
  await expect(page.locator('.now .cover svg')).toBeVisible();
});

test('coming songs show theirs, and one that does not come leaves the drawn cover', async ({ page }) => {
  await open(page, '/', 'en');
  const row = (title: string) => page.locator('.songs li', { hasText: title });
  await expect(row('Harbour Lights').locator('.cover img')).toHaveClass(/loaded/);
  await expect(row('Harbour Lights').locator('.cover img')).toHaveAttribute('alt', '');
  await expect(row('شاي بالنعناع').locator('.cover img')).not.toHaveClass(/loaded/);
  await expect(row('شاي بالنعناع').locator('.cover img')).toHaveCSS('opacity', '0');
  await expect(row('شاي بالنعناع').locator('.cover svg')).toBeVisible();
  await expect(row('Slow River').locator('.cover img')).toHaveCount(0);
});

test('the lock screen gets the real picture in its sizes, else a painted one', async ({ page, mock, baseURL }) => {
  const artwork = () => page.evaluate(() => navigator.mediaSession.metadata?.artwork.map(({ src, sizes, type }) => [src, sizes, type]));
  await open(page, '/', 'en');
  await playButton(page).click();
  await expect.poll(artwork).toEqual([96, 320, 640].map((size) => [`${baseURL}/api/library/covers/${real}?size=${size}`, `${size}x${size}`, 'image/jpeg']));
  mock.scene.covers = {};
  await page.reload();
  await playButton(page).click();
  await expect.poll(async () => (await artwork())?.[0]?.[2]).toBe('image/png');
});
