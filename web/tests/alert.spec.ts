import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { enter, expect, link, open, test } from './fixtures';

// The dead-air guard's alarms, as listeners and operators are told of them.

const line = (page: Page) => page.locator('.alert');
const banner = (page: Page) => page.locator('.banner');

const said = {
  ar: { silence: 'انقطع الصوت. نعيده الآن.', emergency: 'يعمل صوت بديل. نعيد البرنامج الآن.' },
  en: { silence: 'The sound has stopped. We are putting it back.', emergency: 'A stand-in is playing. We are putting the programme back.' },
} as const;

for (const language of ['ar', 'en'] as const) {
  test(`a listener is told calmly that the sound is being put back, and no longer once it is: ${language}`, async ({ page, guest, mock }) => {
    await open(page, '/', language);
    await expect(link(page)).toHaveAttribute('data-link', 'live');
    await enter(guest, 'Omar', language);
    for (const listener of [page, guest]) {
      await expect(line(listener)).toBeEmpty();
      await expect(line(listener)).toHaveAttribute('aria-live', 'polite');
    }
    mock.operator.raise('silence');
    for (const listener of [page, guest]) await expect(line(listener)).toHaveText(said[language].silence);
    mock.operator.raise('emergency');
    for (const listener of [page, guest]) await expect(line(listener)).toHaveText(said[language].emergency);
    mock.operator.clear();
    for (const listener of [page, guest]) await expect(line(listener)).toBeEmpty();
  });

  test(`the studio shows the alarm, since when, and the guard’s step, and leads to the guard: ${language}`, async ({ page, mock }) => {
    await open(page, '/studio', language);
    await expect(page.locator('section[aria-labelledby=rotation] ol li')).toHaveCount(120);
    await expect(banner(page).locator('.said')).toBeEmpty();
    await expect(banner(page).locator('.said')).toHaveAttribute('aria-live', 'assertive');
    mock.operator.raise('frozen', 'restart_engine', Date.now() - 95_000);
    await expect(banner(page).locator('.said')).toContainText(language === 'ar' ? 'الصوت نفسه يتكرر' : 'The same sound comes again and again');
    await expect(banner(page).locator('.said')).toContainText(language === 'ar' ? 'إعادة تشغيل المحرّك' : 'restarting the engine');
    await expect(banner(page).locator('.since')).toHaveText(language === 'ar' ? /منذ .*دقيقت|منذ .*دقائق|منذ .*د/ : /since \d{1,2}:\d\d:\d\d.*ago/);
    expect((await new AxeBuilder({ page }).include('.banner').analyze()).violations).toEqual([]);
    await banner(page).getByRole('link').click();
    await expect(page.locator('#guard')).toBeFocused();
    await expect(page.locator('#guard')).toBeInViewport();
    await expect(page.locator('[data-guard]')).toHaveAttribute('data-guard', 'recovering'); // without the key as well
    mock.operator.clear();
    await expect(banner(page).locator('.said')).toBeEmpty();
    await expect(page.locator('[data-guard]')).toHaveAttribute('data-guard', 'watching');
  });
}

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
  await page.setViewportSize({ width: 360, height: 740 });
  mock.operator.raise('gone', 'restart_server');
  for (const path of ['/', '/chat', '/studio']) {
    await open(page, path, 'ar');
    await expect(page.locator(path === '/studio' ? '.banner.on' : '.alert:not(:empty)')).toBeVisible();
    expect([path, await page.evaluate(() => Math.max(360, document.documentElement.scrollWidth))]).toEqual([path, 360]);
  }
});
