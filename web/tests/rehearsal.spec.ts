import type { Page } from '@playwright/test';
import { expect, expectAccessible, expectFits, open, test } from './fixtures';
import type { Mock } from './mock/mock';

const bulletin = (page: Page) => page.locator('section[aria-labelledby=bulletin]');
const said = (page: Page) => bulletin(page).locator('[data-said] li');
const box = (page: Page) => bulletin(page).getByRole('textbox');
const listening = '/api/station/bulletin/preview/audio';

async function openBulletin(page: Page, mock: Mock, language: 'ar' | 'en' = 'en'): Promise<void> {
  mock.control.key = '';
  await open(page, '/studio#/production', language);
  await expect(said(page).last()).toContainText('نَعُودُ الآنَ إِلَى المُوسِيقَى.');
}

test('what the next bulletin will say follows the headlines, and is no request for each letter', async ({ page, mock }) => {
  await openBulletin(page, mock);
  const part = bulletin(page);
  await expect(part).toContainText('As if it were made now.');
  await expect(said(page)).toContainText(['هُنَا أَثِيرْ', 'السَّاعَةُ الآنَ', 'إِلَيْكُمْ', 'مهرجان القاهرة', '<b>ألبومها</b>', 'Open-air concerts', 'كَانَتْ هَذِهِ']);
  await expect(part).toContainText('Without weather: the station asks for it when the bulletin is made');
  await part.getByText('If there is time left').click();
  await expect(part).toContainText('مَعَ فيروز');

  const asked = mock.production.previewed.length;
  await box(page).fill('');
  await box(page).pressSequentially('خبر أول');
  await expect(said(page).filter({ hasText: 'خبر أول.' })).toHaveCount(1);
  await expect(part).toContainText('they are not saved yet');
  expect(mock.production.previewed.length - asked).toBeLessThan(5); // of seven letters
  expect(mock.production.previewed.at(-1)).toEqual(['خبر أول']);

  await box(page).fill('خبر أول\n...');
  await expect(part.getByText('Headline 2: there is nothing in it to read.')).toBeVisible();
  await expect(part.getByRole('button', { name: 'Listen' })).toHaveAttribute('aria-disabled', 'true');
  await box(page).fill(`خبر أول\n${'ط'.repeat(161)}`);
  await expect(part.getByText('Headline 2: 161 characters; 160 are allowed at most.')).toBeVisible();
  await box(page).fill('أول\nثان\nثالث\nرابع\nخامس');
  await expect(part).toContainText('2 more headlines wait and are not read.');
  await expect(said(page).filter({ hasText: 'رابع' })).toHaveCount(0);
  await box(page).fill('');
  await expect(part).toContainText('Without headlines: no headlines yet. Type one above.');
  await expect(said(page)).toHaveCount(3);
  await expect(part.locator('.unseen[role=status]')).toHaveText('The text of the bulletin has changed. 3 sentences.');
  expect(mock.production.taken).toEqual([]);
});

test('an answer that comes late never stands over a newer one, and an outage keeps the text', async ({ page, mock }) => {
  await openBulletin(page, mock);
  const held: (() => void)[] = (mock.production.keptBack = []);
  await box(page).fill('خبر قديم');
  await expect.poll(() => held.length).toBe(1);
  await box(page).fill('خبر جديد');
  await expect.poll(() => held.length).toBe(2);
  held[1]?.();
  await expect(said(page).filter({ hasText: 'خبر جديد.' })).toHaveCount(1);
  held[0]?.();
  mock.production.keptBack = null;
  await box(page).fill('خبر أخير');
  await expect(said(page).filter({ hasText: 'خبر أخير.' })).toHaveCount(1);
  await expect(said(page).filter({ hasText: 'خبر قديم' })).toHaveCount(0);
  mock.apiDown = true;
  await box(page).fill('خبر بعد العطل');
  await expect(bulletin(page).getByText('The text could not be updated.')).toBeVisible();
  await expect(said(page).filter({ hasText: 'خبر أخير.' })).toHaveCount(1);
  mock.apiDown = false;
  await bulletin(page).getByRole('button', { name: 'Try again' }).click();
  await expect(said(page).filter({ hasText: 'خبر بعد العطل.' })).toHaveCount(1);
});

test('the bulletin is heard before it airs, again without a job, and anew once it is another', async ({ page, mock }) => {
  await openBulletin(page, mock);
  const part = bulletin(page);
  await part.getByText('If there is time left').click();
  const listen = part.getByRole('button', { name: 'Listen' });
  await listen.focus();
  await page.keyboard.press('Enter');
  await expect(part.getByRole('progressbar')).toBeVisible();
  await expect(part.getByText('speaking', { exact: true })).toBeVisible();
  const stop = part.getByRole('button', { name: 'Stop' });
  await expect(stop).toBeFocused();
  await expect(part.getByText(/^0:0\d of 0:10$/)).toBeVisible();
  await expect(part.getByText('0:01 of 0:10')).toBeVisible(); // it plays
  await expect(part.locator('.spares li').first()).toContainText('in what you heard');
  await page.keyboard.press('Enter');
  await expect(listen).toBeFocused();
  const lines = await box(page).inputValue().then((text) => text.split('\n'));
  expect(mock.production.taken).toEqual([{ path: listening, body: { headlines: lines } }]);

  await page.keyboard.press('Enter');
  await expect(part.getByText('0:01 of 0:10')).toBeVisible();
  await box(page).fill('خبر آخر');
  await expect(part.getByText('This is the text before your last change.')).toBeVisible();
  await stop.click();
  expect(mock.production.taken).toHaveLength(1);
  await listen.click();
  await expect(stop).toBeVisible();
  await expect(part.getByText(/^0:0\d of 0:10$/)).toBeVisible();
  expect(mock.production.taken.slice(1)).toEqual([{ path: listening, body: { headlines: ['خبر آخر'] } }]);
  await page.getByRole('link', { name: 'Log' }).click(); // left, it is silent
  await expect(stop).toHaveCount(0);
});

test('stopping ends the job, and what a voice says of its failure is told with the remedy', async ({ page, mock }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  mock.production.held = true;
  await openBulletin(page, mock, 'ar');
  const part = bulletin(page);
  const listen = part.getByRole('button', { name: 'استماع' });
  await listen.click();
  await expect(part.getByText('نطق النشرة')).toBeVisible();
  await expectAccessible(page, 'section[aria-labelledby=bulletin]');
  await part.getByRole('button', { name: 'إيقاف' }).click();
  await expect.poll(() => mock.production.jobs.map(({ kind, state }) => `${kind}: ${state}`)).toEqual(['rehearsal: cancelled']);
  await expect(listen).toBeVisible();

  mock.production.held = false;
  mock.production.unspoken = { code: 'unspoken', en: 'No voice could speak the bulletin.', ar: 'لم يتمكن أي صوت من نطق النشرة. راجع إعدادات speech.', detail: 'espeak-ng:ar: exit code 1' };
  await listen.click();
  await expect(part.getByText('لم يتمكن أي صوت من نطق النشرة. راجع إعدادات speech.')).toBeVisible();
  await expect(part.getByText('espeak-ng:ar: exit code 1')).toBeVisible();
  for (const fold of await part.locator('summary').all()) await fold.click();
  await expectAccessible(page, 'section[aria-labelledby=bulletin]');
  await expectFits(page, { width: 390, height: 844 });

  mock.production.unspoken = undefined;
  mock.production.mute = true;
  await listen.click();
  await expect(part.getByText('تعذّر تشغيل الصوت.')).toBeVisible();
});

test('who may only look is shown no text, and nothing is asked for them', async ({ page, mock }) => {
  const kept = mock.people.add('nour', 'viewer');
  await page.request.post('/api/session', { data: { login: 'nour', password: kept.password } });
  await open(page, '/studio#/production', 'en');
  await expect(box(page)).toHaveValue(/corniche$/);
  await expect(bulletin(page).getByText('What the next bulletin will say')).toHaveCount(0);
  expect(mock.production.previewed).toEqual([]);
});
