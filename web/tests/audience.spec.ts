import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { expect, expectAccessible, expectFits, expectNews, faces, open, stopClock, test } from './fixtures';
import type { Mock } from './mock/mock';

// The listeners' section of the studio: what aired, and clearing what one author wrote.

const airings = (page: Page) => page.locator('section[aria-labelledby=airings]');
const rows = (page: Page) => airings(page).locator('tbody tr');

/** The section of a station that needs no key. */
async function openListeners(page: Page, mock: Mock, language: 'ar' | 'en' = 'en'): Promise<void> {
  mock.control.key = '';
  await open(page, '/studio#/listeners', language);
  await expect(page.locator('#moderation')).toBeVisible();
  await expect(page.locator('#airings')).toBeVisible();
}

/** A flood of one, and an innocent. */
function flood({ audience }: Mock): void {
  for (let i = 1; i <= 7; i++) audience.say({ user: 'سبّاق', text: `اشترِ ${i}`, at: Date.now() - 5 * 60_000 + i });
  audience.say({ user: 'سبّاق', text: 'قديم', at: Date.now() - 3 * 3_600_000 });
  audience.comment('سبّاق', 'وهنا أيضًا');
  audience.say({ user: 'Nour', text: 'good evening' });
}

/** The flood is seen before the clock stops, which stops what is under way. */
async function stopAtFlood(page: Page): Promise<void> {
  await expect(page.locator('.found li').filter({ hasText: 'اشترِ 7' })).toBeVisible();
  await stopClock(page);
}

async function clearFlood(page: Page) {
  await page.locator('.found li').filter({ hasText: 'اشترِ 7' }).getByRole('button', { name: /^Clear what/ }).click();
  return page.getByRole('dialog', { name: /^Clear what/ });
}

test('what aired is listed by day with who listened, searched, and drawn', async ({ page, mock }) => {
  await openListeners(page, mock);
  await airings(page).getByRole('button', { name: 'The day before' }).click();
  await expect(airings(page).getByLabel('Day', { exact: true })).not.toHaveValue('');
  await expect(rows(page)).toHaveCount(50);
  await expect(airings(page).getByText('هوية المحطة')).toHaveCount(0); // imaging is asked for
  await airings(page).getByLabel('Jingles and effects too').check();
  await expect(airings(page).getByText('هوية المحطة').first()).toBeVisible();
  await expect(airings(page).getByRole('img', { name: /^Listeners through the day by what was on: [\d.]+ at the peak/ })).toBeVisible();
  await expect(rows(page).first()).toContainText(/\+\d+ −\d+/);
  await airings(page).getByLabel('Find in titles, artists and files').fill('اغنيه'.replace('ه', 'ة'));
  await expect(rows(page).first()).toContainText('أُغنية الصعيد'); // without its hamza and marks
  await airings(page).getByLabel('Find in titles, artists and files').fill('slow river');
  await expect(rows(page).first()).toContainText('<b>Slow River</b>'); // text, never markup
  await airings(page).getByLabel('Find in titles, artists and files').fill('nothing of the kind');
  await expect(airings(page)).toContainText('Nothing on this day matches.');
  const day = await airings(page).getByLabel('Day', { exact: true }).inputValue();
  await airings(page).getByLabel('Day', { exact: true }).fill('2020-01-01');
  await expect(airings(page)).toContainText('Nothing aired on this day');
  await airings(page).getByLabel('Day', { exact: true }).fill(day);
  await airings(page).getByLabel('Find in titles, artists and files').fill('');
  await expect(rows(page).first()).toBeVisible();
});

test('the day’s table is downloaded with the key in its header, whole', async ({ page, mock }) => {
  const addresses: string[] = [];
  page.on('request', (request) => addresses.push(decodeURIComponent(request.url())));
  await open(page, '/studio#/listeners', 'en');
  await page.getByRole('main').getByRole('button', { name: 'Open' }).click();
  await page.getByLabel('Station key').fill(mock.control.key);
  await page.keyboard.press('Enter');
  await airings(page).getByRole('button', { name: 'The day before' }).click();
  await expect(rows(page)).toHaveCount(50);
  const day = await airings(page).getByLabel('Day', { exact: true }).inputValue();
  const coming = page.waitForEvent('download');
  await airings(page).getByRole('button', { name: 'Download (CSV)' }).click();
  const table = await coming;
  expect(table.suggestedFilename()).toBe(`airings-${day}.csv`);
  const lines = (await readFile(await table.path(), 'utf8')).trim().split('\n');
  expect(lines.length).toBeGreaterThan(200);
  expect(addresses.filter((address) => address.includes(mock.control.key))).toEqual([]);
});

test('a purge is counted first, held for a while, and taken back', async ({ page, guest, mock }) => {
  flood(mock);
  await page.clock.install();
  await openListeners(page, mock);
  await open(guest, '/chat', 'en');
  await stopAtFlood(page); // the seconds in which it can be taken back do not pass
  const dialog = await clearFlood(page);
  await expect(dialog.locator('.count')).toContainText('8 messages will be deleted');
  await expect(dialog).toContainText('and 3 more');
  await dialog.getByLabel('How far back').selectOption({ label: 'the last day' });
  await expect(dialog.locator('.count')).toContainText('9 messages will be deleted');
  await dialog.getByRole('button', { name: 'Clear them' }).click();
  await page.clock.fastForward(5000);
  await page.getByRole('log').getByRole('button', { name: 'Undo' }).click();
  await expectNews(page, 'Nothing was deleted.');
  expect(mock.operator.taken.every(({ body }) => body.dryRun)).toBe(true);
  expect(mock.audience.messages).toHaveLength(9);

  await (await clearFlood(page)).getByRole('button', { name: 'Clear them' }).click();
  await page.getByRole('link', { name: 'Log' }).click(); // whoever leaves meant it
  await expectNews(page, '8 messages were deleted.');
  expect(mock.operator.taken.at(-1)).toEqual({ order: 'POST chat/purge', body: { of: 'm7', minutes: 60, address: false } });
  expect(mock.audience.messages.map(({ text }) => text)).toEqual(['قديم', 'good evening']);
});

test('a purge that would delete nothing cannot be ordered, and closing a page carries out what was ordered', async ({ page, mock }) => {
  flood(mock);
  await page.clock.install();
  await openListeners(page, mock);
  await stopAtFlood(page);
  const old = page.locator('.found li').filter({ hasText: 'قديم' });
  await old.getByRole('button', { name: /^Clear what/ }).click();
  const dialog = page.getByRole('dialog', { name: /^Clear what/ });
  await dialog.getByLabel('How far back').selectOption({ label: 'the last ten minutes' });
  await expect(dialog.locator('.count')).toContainText('8 messages will be deleted');
  await dialog.getByRole('button', { name: 'Clear them' }).click();
  await page.goto('/'); // away from the studio before its time
  await expect.poll(() => mock.audience.messages.length).toBe(2);
  await page.clock.resume();
  await page.goto('/studio#/listeners');
  await old.getByRole('button', { name: /^Clear what/ }).click();
  await dialog.getByLabel('How far back').selectOption({ label: 'the last hour' });
  await expect(dialog).toContainText('Nothing to delete.');
  await expect(dialog.getByRole('button', { name: 'Clear them' })).toHaveCount(0);
});

test('moderators see the pictures and hear the voice notes they judge; what is deleted has none', async ({ page, mock, media }) => {
  const { audience } = mock;
  audience.media.set('/chat/media/1.png', { body: await readFile('public/icon-512.png'), type: 'image/png' });
  audience.media.set('/chat/media/2.ogg', { body: media.ogg, type: 'audio/ogg' });
  audience.say({ user: 'ليلى', text: 'النيل', type: 'image', url: '/chat/media/1.png', mime: 'image/png', width: 512, height: 512 });
  audience.say({ user: 'Nour', text: '', type: 'voice', url: '/chat/media/2.ogg', mime: 'audio/ogg', durationMs: 4000 });
  audience.say({ user: 'Foe', text: '', type: 'image', url: 'https://elsewhere.example/1.png' });
  await openListeners(page, mock);
  const found = (name: string) => page.locator('.found li').filter({ hasText: name });
  await found('ليلى').getByRole('button', { name: /^Enlarge the picture from/ }).click();
  const large = page.getByRole('dialog', { name: 'النيل' }).getByRole('img');
  await expect.poll(() => large.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(512);
  await expectAccessible(page, 'dialog[open]');
  await page.keyboard.press('Escape');
  await expect(large).toHaveCount(0);
  await found('Nour').getByRole('button', { name: 'Play the voice note of Nour' }).click();
  await expect(found('Nour').getByRole('button', { name: 'Pause the voice note of Nour' })).toBeVisible();
  await expect(found('Foe')).toContainText('[picture]'); // only what the station serves is loaded
  await found('ليلى').getByRole('button', { name: /^Clear what/ }).click();
  const dialog = page.getByRole('dialog', { name: /^Clear what/ });
  await dialog.getByRole('button', { name: /^Show the picture from/ }).click(); // covered until somebody wants to see it
  await expect(dialog.getByRole('button', { name: /^Enlarge the picture from/ })).toBeVisible();
  await dialog.getByRole('button', { name: 'Not now' }).click();
  await found('ليلى').getByRole('button', { name: /^Delete/ }).click();
  await expect(found('ليلى')).toContainText('The picture is deleted with it.');
  await expect(found('ليلى').locator('img')).toHaveCount(0);
});

test('the events of webhooks are told in the page’s language, and one it does not know in the station’s words', async ({ page, mock }) => {
  await openListeners(page, mock, 'ar');
  const event = (name: string) => page.locator('section[aria-labelledby=hooks] fieldset label').filter({ hasText: name });
  await expect(event('track.change')).toContainText('تغيّر ما يُبث');
  await expect(event('dead_air.raised')).toContainText('انقطع الصوت');
  await expect(event('of.tomorrow')).toContainText('Something of a later version');
});

for (const [language, colorScheme] of faces) {
  test(`axe finds nothing in the listeners’ section, and it fits a phone: ${language} ${colorScheme}`, async ({ page, mock }) => {
    await page.emulateMedia({ colorScheme });
    flood(mock);
    await openListeners(page, mock, language);
    await expectAccessible(page);
    await expectFits(page);
    await page.locator('.found li').filter({ hasText: 'اشترِ 7' }).locator('.acts button').last().click();
    await expect(page.locator('dialog[open] li').first()).toBeVisible();
    await expectAccessible(page, 'dialog[open]');
  });
}
