import type { Page } from '@playwright/test';
import { expect, expectAccessible, expectFits, expectNews, faces, open, test } from './fixtures';
import type { Mock } from './mock/mock';

// What the studio does with listeners' requests: the section of its own, and the list beside the live desk.

const minute = 60_000;
const rows = (page: Page) => page.locator('section[aria-labelledby=asked] li[data-request]');
const panel = (page: Page, id: string) => page.locator(`section[aria-labelledby=${id}]`);

/** A queue of three. */
function queue({ requests }: Mock): void {
  const now = Date.now();
  requests.add(0, 'منى', { status: 'planned', expectedAt: now + 12 * minute, note: 'لأختي في <b>بورسعيد</b>', at: now - 20 * minute });
  requests.add(3, '', { at: now - 3 * minute });
  requests.add(4, 'Omar', { status: 'planned', expectedAt: now + 40 * minute, at: now - 9 * minute });
}

/** The section of a station that needs no key. */
async function openAsking(page: Page, mock: Mock, language: 'ar' | 'en' = 'en'): Promise<void> {
  mock.control.key = '';
  await open(page, '/studio#/requests', language);
  await expect(panel(page, 'asked')).toBeVisible();
}

test('the queue is listed as it will air, with name, note and time, and follows the event', async ({ page, mock }) => {
  queue(mock);
  await openAsking(page, mock);
  await expect(rows(page)).toHaveCount(3);
  await expect(panel(page, 'asked').getByRole('status')).toHaveText('3 waiting');
  await expect(rows(page).nth(0)).toContainText('منى');
  await expect(rows(page).nth(0)).toContainText('لأختي في <b>بورسعيد</b>'); // text, never markup
  await expect(rows(page).nth(0)).toContainText(/airs at about \d+:\d\d, in 1[12] min/);
  await expect(rows(page).nth(1)).toContainText('Omar');
  await expect(rows(page).nth(2)).toContainText('A listener');
  await expect(rows(page).nth(2)).toContainText('no time yet');
  mock.requests.add(5, 'Nour', { note: 'tonight' });
  mock.requests.tell();
  await expect(rows(page)).toHaveCount(4);
  mock.requests.become(1, 'aired');
  await expect(rows(page)).toHaveCount(3);
  await expect(panel(page, 'asked-over')).toContainText('نسم علينا الهوى');
});

test('one is refused with a word that is ready, with one’s own, or with none, and the asker reads it', async ({ page, mock }) => {
  queue(mock);
  await openAsking(page, mock);
  await rows(page).nth(0).getByRole('button', { name: /^Refuse/ }).click();
  const dialog = page.getByRole('dialog', { name: /^Refuse .*نسم/ });
  await page.keyboard.press('2');
  await expect(dialog).toHaveCount(0);
  await expectNews(page, 'Refused. The listener is told.');
  await expect(rows(page)).toHaveCount(2);
  expect(mock.requests.list.find(({ id }) => id === 1)).toMatchObject({ status: 'refused', word: 'We played it a short while ago' });
  await expect(panel(page, 'asked-audit')).toContainText('We played it a short while ago');
  await rows(page).nth(0).getByRole('button', { name: /^Refuse/ }).click();
  const own = page.getByLabel('Your own words');
  await own.fill('غدًا 2 إن شاء الله'); // a number that is typed chooses nothing
  await own.press('Enter');
  await expect(rows(page)).toHaveCount(1);
  expect(mock.requests.list.find(({ id }) => id === 3)).toMatchObject({ status: 'refused', word: 'غدًا 2 إن شاء الله' });
  await rows(page).nth(0).getByRole('button', { name: /^Refuse/ }).click();
  await page.getByRole('button', { name: 'Refuse without a word' }).click();
  await expect(panel(page, 'asked')).toContainText('No requests are waiting.');
});

test('a song is put next, another taken away after a question, and the door closed and opened', async ({ page, mock }) => {
  queue(mock);
  await openAsking(page, mock);
  await rows(page).nth(0).getByRole('button', { name: /^Play .* next$/ }).click();
  await expect(rows(page).nth(0)).toContainText('Plays next');
  expect(mock.requests.queued).toEqual(['music/arabic_hits/0.mp3']);
  await rows(page).nth(2).getByRole('button', { name: 'Take away Harbour Lights' }).click();
  await page.getByRole('dialog', { name: 'Take Harbour Lights away?' }).getByRole('button', { name: 'Leave it' }).click();
  await expect(rows(page)).toHaveCount(3);
  await rows(page).nth(2).getByRole('button', { name: 'Take away Harbour Lights' }).click();
  await page.getByRole('dialog', { name: 'Take Harbour Lights away?' }).getByRole('button', { name: 'Take away' }).click();
  await expect(rows(page)).toHaveCount(2);
  await expect(panel(page, 'asked-audit')).toContainText('taken away');
  await page.getByRole('button', { name: 'Close requests' }).click();
  await expect(panel(page, 'asking-door')).toContainText('Nobody can ask for a song now');
  expect(mock.requests.open).toBe(false);
  await page.getByRole('button', { name: 'Open requests' }).click();
  await expect(panel(page, 'asking-door')).toContainText('Listeners may ask for songs.');
});

test('what another has decided meanwhile is said, and the list is as it is', async ({ page, mock }) => {
  queue(mock);
  await openAsking(page, mock);
  await expect(rows(page)).toHaveCount(3);
  mock.requests.refusal = { status: 409, body: { status: 409, detail: 'request 1 is aired' } };
  await rows(page).nth(0).getByRole('button', { name: /^Play .* next$/ }).click();
  await expectNews(page, 'request 1 is aired');
  await expect(rows(page).nth(0).getByRole('button', { name: /^Play .* next$/ })).toBeEnabled();
});

test('a key is asked for, an outage is said, and a station without requests says how they are switched on', async ({ page, mock }) => {
  queue(mock);
  await open(page, '/studio#/requests', 'en');
  await page.getByRole('main').getByRole('button', { name: 'Open', exact: true }).click();
  await page.locator('#station-key').fill(mock.control.key);
  await page.keyboard.press('Enter');
  await expect(rows(page)).toHaveCount(3);
  // With a key the studio takes away as the studio, whoever asked.
  await rows(page).nth(2).getByRole('button', { name: /^Take away/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Take away' }).click();
  await expect(rows(page)).toHaveCount(2);
  mock.apiDown = true;
  mock.requests.tell();
  await expect(page.getByText('The station is not answering. What you see may be out of date.')).toBeVisible();
  await expect(rows(page)).toHaveCount(2);
  mock.apiDown = false;
  mock.requests.enabled = false;
  mock.requests.tell();
  await expect(page.getByText('requests.enabled is off')).toBeVisible();
});

test('whoever is on the air has the requests beside the desk', async ({ page, mock }) => {
  for (let i = 0; i < 7; i++) mock.requests.add(i, `n${i}`);
  mock.control.key = '';
  await open(page, '/studio#/live', 'en');
  const list = panel(page, 'live-requests');
  await expect(list.locator('li')).toHaveCount(5);
  await expect(list).toContainText('and 2 more');
  await list.locator('li').first().getByRole('button', { name: /^Play .* next$/ }).click();
  await expect(list.locator('li').first()).toContainText('Plays next');
  await list.getByRole('button', { name: 'Close requests' }).click();
  await expect(list.getByRole('button', { name: 'Open requests' })).toBeVisible();
  await list.getByRole('link', { name: 'All requests' }).click();
  await expect(rows(page)).toHaveCount(7);
});

test('a station without requests leaves the live desk as it was', async ({ page, mock }) => {
  mock.requests.enabled = false;
  mock.control.key = '';
  await open(page, '/studio#/live', 'en');
  await expect(panel(page, 'live-show')).toBeVisible();
  await expect.poll(() => mock.count('/api/station/requests')).toBeGreaterThan(0);
  await expect(panel(page, 'live-requests')).toHaveCount(0);
});

for (const [language, colorScheme] of faces) {
  test(`axe finds nothing in the studio’s requests, and a small phone holds them: ${language} ${colorScheme}`, async ({ page, mock }) => {
    queue(mock);
    mock.requests.add(6, 'هالة');
    mock.requests.become(4, 'refused', { word: 'ليست ضمن برنامج اليوم' });
    await page.emulateMedia({ colorScheme });
    await openAsking(page, mock, language);
    await expect(rows(page)).toHaveCount(3);
    await expectAccessible(page);
    await expectFits(page);
    await rows(page).first().locator('[aria-haspopup]').first().click();
    await expect(page.locator('dialog[open]')).toBeVisible();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.goto('/studio#/live');
    await expect(panel(page, 'live-requests')).toBeVisible();
    await expectAccessible(page);
    await expectFits(page);
  });
}
