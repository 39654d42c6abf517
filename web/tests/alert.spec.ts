import type { Page } from '@playwright/test';
import { enter, expect, expectAccessible, expectFits, link, open, test } from './fixtures';

// The dead-air guard's alarms, as listeners and operators are told of them.

const line = (page: Page) => page.locator('.alert');
const banner = (page: Page) => page.locator('.banner');

const said = {
  ar: { silence: 'انقطع الصوت. نعيده الآن.', emergency: 'يعمل صوت بديل. نعيد البرنامج الآن.' },
  en: { silence: 'The sound has stopped. We are putting it back.', emergency: 'A stand-in is playing. We are putting the programme back.' },
} as const;

test('a listener is told calmly that the sound is being put back, and no longer once it is', async ({ page, guest, mock }) => {
  await open(page, '/', 'ar');
  await expect(link(page)).toHaveAttribute('data-link', 'live');
  await enter(guest, 'Omar', 'en');
  const listeners = [[page, said.ar], [guest, said.en]] as const;
  for (const [listener] of listeners) {
    await expect(line(listener)).toBeEmpty();
    await expect(line(listener)).toHaveAttribute('aria-live', 'polite');
  }
  mock.operator.raise('silence');
  for (const [listener, { silence }] of listeners) await expect(line(listener)).toHaveText(silence);
  mock.operator.raise('emergency');
  for (const [listener, { emergency }] of listeners) await expect(line(listener)).toHaveText(emergency);
  mock.operator.clear();
  for (const [listener] of listeners) await expect(line(listener)).toBeEmpty();
});

test('the studio shows the alarm, since when, and the guard’s step, and leads to the guard', async ({ page, mock }) => {
  await open(page, '/studio', 'en');
  await expect(page.locator('section[aria-labelledby=rotation] ol li')).toHaveCount(120);
  await expect(banner(page).locator('.said')).toBeEmpty();
  await expect(banner(page).locator('.said')).toHaveAttribute('aria-live', 'assertive');
  mock.operator.raise('frozen', 'restart_engine', Date.now() - 95_000);
  await expect(banner(page).locator('.said')).toContainText('The same sound keeps repeating');
  await expect(banner(page).locator('.said')).toContainText('restarting the engine');
  await expect(banner(page).locator('.since')).toHaveText(/since \d{1,2}:\d\d:\d\d.*ago/);
  await expectAccessible(page, '.banner');
  await banner(page).getByRole('link').click();
  await expect(page.locator('#guard')).toBeFocused();
  await expect(page.locator('#guard')).toBeInViewport();
  await expect(page.locator('[data-guard]')).toHaveAttribute('data-guard', 'recovering'); // without the key as well
  mock.operator.clear();
  await expect(banner(page).locator('.said')).toBeEmpty();
  await expect(page.locator('[data-guard]')).toHaveAttribute('data-guard', 'watching');
});

test('what no listener hears is told to none, and a page that comes later knows', async ({ page, mock }) => {
  mock.operator.raise('playlist');
  await open(page, '/', 'en');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('يا مسافر وحدك');
  await expect(line(page)).toBeEmpty();
  mock.operator.raise('gone');
  await page.reload();
  await expect(line(page)).toHaveText(said.en.silence); // from the status: no event was sent since
});

test('the alarm is seen on a phone without sideways scrolling', async ({ page, mock }) => {
  mock.operator.raise('gone', 'restart_server', Date.now() - 95_000);
  for (const path of ['/', '/chat', '/studio']) {
    await open(page, path, 'ar');
    await expect(page.locator(path === '/studio' ? '.banner.on' : '.alert:not(:empty)')).toBeVisible();
    await expectFits(page);
  }
  await expect(banner(page).locator('.said')).toContainText('إعادة تشغيل خادم البث');
  await expect(banner(page).locator('.since')).toHaveText(/منذ .*د/);
});
