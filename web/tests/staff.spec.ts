import type { Page } from '@playwright/test';
import { enter, expect, expectAccessible, expectFits, expectNews, faces, open, stopClock, test, write } from './fixtures';
import type { Mock } from './mock/mock';

// An operator in the chat: the studio's key, the badge, and a hand on every message.

const messages = (page: Page) => page.locator('article');
const act = (page: Page, text: string) => messages(page).filter({ hasText: text }).locator('.act').click();

/** From the studio, where the key was given, into the chat as staff. */
async function asStaff(page: Page, mock: Mock, language: 'ar' | 'en' = 'en'): Promise<void> {
  await page.addInitScript((key) => sessionStorage.getItem('athir.station-key') ?? sessionStorage.setItem('athir.station-key', key), mock.control.key);
  await open(page, '/chat#staff', language);
  await expect(page.locator('#name')).toHaveValue('إذاعة النيل');
  await page.locator('form button[type=submit]').click();
  await expect(page.locator('textarea')).toBeVisible();
}

test('an operator comes from the studio, writes with the badge, and the key is in no address and no listener’s storage', async ({ page, guest, mock }) => {
  const urls: string[] = [];
  page.on('request', (request) => urls.push(decodeURIComponent(request.url())));
  await open(page, '/studio#/listeners', 'en');
  await page.getByRole('main').getByRole('button', { name: 'Open' }).click();
  await page.getByLabel('Station key').fill(mock.control.key);
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Write as the station' }).click();
  await expect(page).toHaveURL(/\/chat#staff$/);
  await expect(page.locator('#staff-key')).toHaveCount(0); // the studio has it
  await page.getByLabel('Name that listeners see').fill('أثير');
  await page.getByRole('button', { name: 'Enter' }).click();
  await enter(guest, 'Omar', 'en');
  await write(page, 'good evening from the desk');
  await expect(messages(guest).filter({ hasText: 'from the desk' }).locator('.staff')).toHaveText('Station');
  await expect(messages(guest).filter({ hasText: 'from the desk' }).locator('bdi')).toHaveText('أثير'); // a name that listeners may not take
  await write(guest, 'good evening');
  const listeners = messages(page).filter({ hasText: 'good evening', hasNotText: 'from the desk' });
  await expect(listeners).toHaveCount(1);
  await expect(listeners.locator('.staff')).toHaveCount(0);
  await expect(messages(guest).locator('.act')).toHaveCount(0);

  expect(urls.filter((url) => url.includes(mock.control.key))).toEqual([]);
  expect(await page.evaluate(() => [Object.values(localStorage).includes(sessionStorage.getItem('athir.station-key')), Object.keys(sessionStorage)])).toEqual([false, ['athir.station-key']]);
  const shown = mock.audience.shown.length;
  await page.goto('/chat'); // as a listener again: the key stays behind
  await expect.poll(() => mock.audience.shown.length).toBeGreaterThan(shown);
  await expect(page.locator('[data-link=live], #name')).toBeVisible();
  expect(mock.audience.shown.slice(shown).filter(Boolean)).toEqual([]);
});

test('a message is deleted and its author muted from the message itself, and the mute is undone', async ({ page, guest, mock }) => {
  await enter(guest, 'Omar', 'en');
  await page.clock.install();
  await asStaff(page, mock);
  await write(guest, 'buy pills');
  await write(guest, 'buy more');
  await expect(messages(page).filter({ hasText: 'buy more' })).toHaveCount(1);
  await stopClock(page); // the offer to undo stays
  await act(page, 'buy pills');
  const dialog = page.getByRole('dialog', { name: 'Message of Omar' });
  await expect(dialog).toContainText('This cannot be undone.');
  await dialog.getByRole('button', { name: 'Delete for everyone' }).click();
  for (const reader of [page, guest]) await expect(messages(reader).filter({ hasText: 'buy pills' })).toHaveCount(0);
  await expectNews(page, 'Deleted.');

  await act(page, 'buy more');
  await dialog.getByRole('button', { name: 'an hour' }).click();
  await expectNews(page, 'Omar is muted: an hour.');
  expect(mock.operator.sanctions).toHaveLength(1);
  await page.getByRole('log', { name: 'What happened' }).getByRole('button', { name: 'Undo' }).click();
  await expectNews(page, 'Omar may write again.');
  expect(mock.operator.sanctions).toEqual([]);
  expect(mock.operator.taken.map(({ order, body }) => [order, body])).toEqual([['DELETE chat/messages/m1', {}], ['POST chat/mute', { of: 'm2', minutes: 60 }], ['POST chat/lift', { id: 1 }]]);
});

test('the staff write where a room is closed and slow; their own messages are not muted', async ({ page, mock }) => {
  await asStaff(page, mock, 'ar');
  mock.audience.tellState('main', { slow: 30, closed: true, links: false });
  await expect(page.locator('.room .state')).toContainText('الغرفة مغلقة');
  await write(page, 'نعود بعد قليل');
  await expect(messages(page).filter({ hasText: 'نعود بعد قليل' }).locator('.staff')).toHaveText('المحطة');
  await page.locator('textarea').fill('ثم');
  await expect(page.locator('.send')).toBeEnabled(); // at once
  await act(page, 'نعود بعد قليل');
  await expect(page.getByRole('dialog').getByRole('group')).toHaveCount(0);
  await page.getByRole('dialog').getByRole('button', { name: 'إغلاق' }).press('Enter');
  await expect(messages(page).locator('.act')).toBeFocused();
});

test('a wrong or stale key is said, tried once, and a listener’s door stays open', async ({ page, mock }) => {
  await open(page, '/chat#staff', 'en');
  await page.getByLabel('Name that listeners see').fill('Desk');
  await page.getByLabel('Station key').fill('not it');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('alert').filter({ hasText: 'This is not the station’s key.' })).toBeVisible();
  expect(mock.audience.shown).toEqual([]); // the events never saw it
  await page.getByLabel('Station key').fill(mock.control.key);
  await page.keyboard.press('Enter');
  await expect(page.locator('textarea')).toBeVisible();
  await expect.poll(() => mock.audience.shown).toHaveLength(1);
  mock.control.key = 'another';
  mock.audience.close();
  await expect(page.getByRole('alert').filter({ hasText: 'The saved key is no longer valid.' })).toBeVisible();
  expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  expect(mock.audience.shown).toHaveLength(2);
  await page.goto('/chat');
  await page.locator('#name').fill('Nour');
  await page.keyboard.press('Enter');
  await expect(page.locator('textarea')).toBeVisible();
});

test('no listener loads the staff’s part', async ({ page, mock }) => {
  await enter(page, 'Nour', 'en');
  expect(mock.asked.filter((path) => /\/assets\/(desk|door)/.test(path))).toEqual([]);
});

for (const [language, colorScheme] of faces) {
  test(`axe finds nothing in the staff’s chat, and it fits a phone: ${language} ${colorScheme}`, async ({ page, mock }) => {
    await page.emulateMedia({ colorScheme });
    const look = async () => {
      await expectFits(page);
      await expectAccessible(page);
    };
    await page.clock.install();
    await open(page, '/chat#staff', language);
    await expect(page.locator('#staff-key')).toBeVisible();
    await look();
    await page.locator('#staff-key').fill(mock.control.key);
    await page.keyboard.press('Enter');
    await expect(page.locator('textarea')).toBeVisible();
    mock.audience.say({ user: 'Omar', text: 'buy pills' });
    await act(page, 'buy pills');
    const { x, width } = (await page.getByRole('dialog').boundingBox())!;
    expect([x >= 8, x + width <= 352]).toEqual([true, true]); // beside the message, off the edge
    await look();
    await stopClock(page); // the news stays
    await page.getByRole('dialog').getByRole('group').getByRole('button').first().click();
    await expect(page.locator('.toast')).toBeVisible();
    await page.clock.resume(); // axe needs it
    await look();
  });
}
