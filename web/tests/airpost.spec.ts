import type { Page } from '@playwright/test';
import { expect, expectAccessible, expectFits, open, test } from './fixtures';
import type { Mock } from './mock/mock';

// A listener's post on the air, as the home page shows it.

const credit = (page: Page) => page.locator('.post a');
const heart = (page: Page) => page.locator('[data-emoji="❤️"]');

function air(mock: Mock, by = 'نور <b>الدين</b>'): void {
  mock.scene = { ...mock.scene, post: { id: 12, by, page: '/social.html?post=12' } };
}

for (const [language, said] of [['ar', 'من المستمعين: نور <b>الدين</b>'], ['en', 'From a listener: نور <b>الدين</b>']] as const) {
  test(`a listener’s post is credited while it airs, and leads to its page: ${language}`, async ({ page, mock }) => {
    air(mock);
    await open(page, '/', language);
    await expect(credit(page)).toHaveText(said);
    await expect(credit(page)).toHaveAttribute('href', '/social.html?post=12');
    await expectFits(page);
    await expectAccessible(page, '.now');
    const { post: _, ...scene } = mock.scene;
    mock.scene = { ...scene, index: scene.index + 2, startedAt: Date.now() };
    mock.audience.tellStatus();
    await expect(credit(page)).toHaveCount(0);
  });
}

test('the heart goes to the post as well, once, and again after it did not arrive', async ({ page, mock }) => {
  air(mock);
  mock.heartFails = 503;
  await open(page, '/', 'en');
  await expect(credit(page)).toBeVisible();
  await page.locator('[data-emoji="🔥"]').click(); // no heart
  await heart(page).click();
  await expect.poll(() => mock.heartFails).toBe(0);
  await expect.poll(async () => {
    await heart(page).click();
    return mock.hearts.length;
  }).toBe(1);
  await heart(page).click();
  await heart(page).click();
  await expect.poll(() => mock.audience.reactions['❤️']).toBeGreaterThanOrEqual(128 + 4); // every one is counted at the station
  expect(mock.hearts).toEqual([{ kind: 'love', on: true, device: await page.evaluate(() => localStorage.getItem('athir.device')) }]);
});

test('a heart for the station’s own music goes to no post', async ({ page, mock }) => {
  await open(page, '/', 'en');
  await heart(page).click();
  await expect.poll(() => mock.audience.reactions['❤️']).toBe(129);
  expect(mock.count('/api/social/posts')).toBe(0);
});
