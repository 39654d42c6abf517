import type { Page } from '@playwright/test';
import { expect, expectAccessible, expectFits, nextLook, open, test } from './fixtures';
import type { Mock } from './mock/mock';

test('the rotation marks what is on the air and what has aired, and can be narrowed to music', async ({ page }) => {
  await open(page, '/studio', 'en');
  const rotation = page.locator('section[aria-labelledby=rotation]');
  const rows = rotation.locator('ol li');
  await expect(rows).toHaveCount(120);
  await expect(rotation.locator('[aria-current]')).toContainText('يا مسافر وحدك');
  await expect(rotation.locator('[aria-current]')).toBeInViewport();
  await expect(rotation.locator('li.aired')).toHaveCount(37);
  await rotation.getByRole('button', { name: 'Music' }).click();
  await expect(rotation.getByRole('button', { name: 'Music' })).toHaveAttribute('aria-pressed', 'true');
  await expect(rotation.getByText('ZAP')).toHaveCount(0);
  await rotation.getByRole('button', { name: 'Still to come' }).click();
  await expect(rows).toHaveCount(83);
});

const notes = {
  en: [/^02:00–05:00 is English alone, and there are only 10 tracks \(/, /^06:00–07:00 should be Mashups alone, but/, /عمرو دياب.* sings 48% of the music/],
  ar: [/«أغانٍ إنجليزية» وحده، وليس فيه سوى ١٠ مقاطع/, /ولا أغنية فيه/, /^نصيب عمرو دياب من الموسيقى/],
};
async function expectNotes(page: Page, mock: Mock, language: 'ar' | 'en'): Promise<void> {
  mock.scene.notes = [
    { kind: 'short-window', start: '02:00', end: '05:00', category: 'english', songs: 10, lengthMs: 2_400_000 },
    { kind: 'empty-window', start: '06:00', end: '07:00', category: 'mashups', songs: 0 },
    { kind: 'artist-share', artist: 'عمرو دياب', share: 0.48, gapMs: 330_000, songs: 144 },
  ];
  await open(page, '/studio', language);
  const list = page.getByRole('list', { name: language === 'en' ? 'What the library cannot give' : 'ما لا تكفي له المكتبة' });
  await expect(list.getByRole('listitem')).toHaveText(notes[language]);
  await expectFits(page);
  await expectAccessible(page);
}

test('the rotation says what the library cannot give', async ({ page, mock }) => expectNotes(page, mock, 'en'));
test('the rotation says it in Arabic', async ({ page, mock }) => expectNotes(page, mock, 'ar'));

test('the library is searched, narrowed by category and paged', async ({ page }) => {
  await open(page, '/studio', 'en');
  const library = page.locator('section[aria-labelledby=library]');
  await expect(library).toContainText('1–50 of 578');
  await library.getByRole('button', { name: 'Next page' }).click();
  await expect(library).toContainText('51–100 of 578');
  await library.getByRole('searchbox').fill('سلمى');
  await expect(library).toContainText('1–39 of 39');
  await expect(library.locator('.items li').first()).toContainText('سلمى الحديدي');
  await library.getByRole('button', { name: /News/ }).click();
  await expect(library.getByText('Nothing matches.')).toBeVisible();
});

test('quarantined files and processes in trouble are shown with their reasons', async ({ page }) => {
  await open(page, '/studio', 'ar');
  await expect(page.locator('section[aria-labelledby=quarantine]')).toContainText('no audio stream found');
  const nginx = page.locator('section[aria-labelledby=chain] li', { hasText: 'nginx' });
  await expect(nginx).toContainText('تنتظر إعادة التشغيل');
  await expect(nginx).toContainText('exit 1 after 0.2s');
  await expect(nginx).toContainText('٣');
});

test('the newest backup is shown, and why the last try at one failed', async ({ page }) => {
  await open(page, '/studio', 'en');
  const backup = page.locator('section[aria-labelledby=backup]');
  await expect(backup).toContainText(/2 hr\.? ago · 41 MB · verified/);
  await expect(backup).toContainText('/var/lib/athir/backups/athir-النيل.tar.zst');
  await expect(backup).toContainText('The last try failed: no room for a backup');
  await expect(backup).toContainText(/Continuous copy: 3 min\.? ago · 92 MB/);
  await expect(backup).toContainText('/mnt/nas/athir');
  await expect(backup).toContainText('The copy is not whole: the folder is not there');
});

test('an outage of the control plane is said, and what was known stays', async ({ page, mock }) => {
  await page.clock.install();
  await open(page, '/studio', 'en');
  await expect(page.locator('section[aria-labelledby=rotation] ol li')).toHaveCount(120);
  mock.apiDown = true;
  for (let n = 0; n < 2; n++) await nextLook(page, mock);
  await expect(page.getByText('The control plane is not answering')).toBeVisible();
  await expect(page.locator('section[aria-labelledby=rotation] ol li')).toHaveCount(120);
  mock.apiDown = false;
  await nextLook(page, mock);
  await expect(page.getByText('The control plane is not answering')).toBeHidden();
});

test('an empty library is told with what to expect', async ({ page, mock }) => {
  mock.scene.empty = true;
  await open(page, '/studio', 'en');
  await expect(page.getByText('No rotation yet.')).toBeVisible();
  await expect(page.getByText('Emergency audio')).toBeVisible();
});
