import { expect, expectNews, open, realStation, test } from './fixtures';

// Long work through the page. It runs against a real station too, given its key:
// ATHIR_URL=http://127.0.0.1:5000 ATHIR_KEY=… npm run e2e

test('stingers are ordered with the key, seen to the end, and a long order is cancelled', { tag: '@key' }, async ({ page, mock }) => {
  test.setTimeout(600_000);
  const key = realStation ? (process.env.ATHIR_KEY ?? '') : mock.control.key;
  await open(page, '/studio#/production', 'en');
  const imaging = page.locator('section[aria-labelledby=imaging]');
  const jobs = page.locator('section[aria-labelledby=jobs]');
  await expect(jobs.getByRole('button', { name: 'Open' })).toBeVisible();
  await expect(page.locator('section[aria-labelledby=bulletin]')).toContainText('The time, as spoken'); // open to all

  await imaging.getByLabel('Stingers', { exact: true }).fill('2');
  await imaging.getByRole('button', { name: 'Make stingers' }).click();
  await page.getByLabel('Station key').fill(key);
  await page.keyboard.press('Enter');
  await expectNews(page, 'Stingers: done.'); // of this order: the station may have made others before
  const done = jobs.locator('[data-kind-of-job=stingers][data-state=done]').first();
  await expect(done).toContainText('made: 2 files');
  await expect(imaging.locator('.made li')).toHaveCount(2);
  await expect(imaging.locator('.made li').first()).toContainText('LUFS');

  await imaging.getByLabel('Stingers', { exact: true }).fill('200');
  await imaging.getByRole('button', { name: 'Make stingers' }).click();
  const running = jobs.locator('[data-kind-of-job=stingers][data-state=running]');
  await expect(running.getByRole('progressbar')).toHaveAttribute('value', /0\.\d+/); // some of it is made
  await running.getByRole('button', { name: 'Cancel: Stingers' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Yes, cancel' }).click();
  await expectNews(page, 'Stingers: cancelled.');
  await expect(jobs.locator('[data-kind-of-job=stingers][data-state=cancelled]').first()).toBeVisible();
  await expect(running).toHaveCount(0);
});
