import type { Page } from '@playwright/test';
import { expect, expectAccessible, expectFits, expectNews, faces, open, test } from './fixtures';
import type { Mock } from './mock/mock';

// The studio's lists of singers and trend queries, which the sources are asked for.

const panel = (page: Page) => page.locator('section[aria-labelledby=wanted]');
const list = (page: Page, kind: 'singers' | 'queries') => panel(page).locator(`[data-list=${kind}]`);
const texts = (page: Page, kind: 'singers' | 'queries') => list(page, kind).locator('li input').evaluateAll((fields) => fields.map((field) => (field as HTMLInputElement).value));

/** The button that takes a row away; names of another direction than the page's are isolated in its label. */
const removal = (page: Page, name: string) => list(page, 'singers').getByRole('button', { name: new RegExp(`^Remove \\u2068?${name}\\u2069?$`) });

/** The section of a station that needs no key and has some lists. */
async function openWanted(page: Page, { control }: Mock, language: 'ar' | 'en' = 'en'): Promise<void> {
  control.key = '';
  control.config.SINGERS = { arabic_hits: ['أم كلثوم', 'فيروز', 'عبد الحليم حافظ'], english: ['The Delta'] };
  control.config.QUERIES = { arabic_hits: ['أغاني هادئة <b>2026</b>', 'https://video.example/playlist?list=PL7'] };
  await open(page, '/studio#/production', language);
  await expect(list(page, 'singers').locator('li input')).toHaveCount(3);
}

test('singers and queries are added, changed and taken away, a removal is undone, and each list is sent whole', async ({ page, mock }) => {
  await openWanted(page, mock);
  const singers = list(page, 'singers');
  await singers.getByLabel('Add a singer').fill('وردة');
  await page.keyboard.press('Enter');
  await page.keyboard.type('Nour'); // the field is ready for the next
  await page.keyboard.press('Enter');
  await singers.getByLabel('Singer 2').fill('فيروز الرحبانية');
  await removal(page, 'أم كلثوم').press('Enter');
  await page.keyboard.press('Enter'); // the same button takes it back
  await removal(page, 'عبد الحليم حافظ').click();
  await expect(singers.getByLabel('Singer 3')).toHaveAttribute('readonly');
  await removal(page, 'Nour').click();
  await list(page, 'queries').getByRole('button', { name: /^Remove .?https/ }).click();
  await panel(page).locator('[data-category=english]').click();
  await singers.getByLabel('Add a singer').fill('Amal Haddad'); // typed, and not added
  mock.control.keepsEdits = false; // saving is a step of its own
  await expect(panel(page)).toContainText('5 changes not applied yet');
  expect(mock.control.taken).toEqual([]);
  await panel(page).getByRole('button', { name: 'Apply' }).click();
  await expect(panel(page)).toContainText('lost at the next restart');
  expect(mock.control.taken).toEqual([
    { order: 'POST singers', body: { category: 'arabic_hits', replace: ['أم كلثوم', 'فيروز الرحبانية', 'وردة'] } },
    { order: 'POST singers', body: { category: 'english', replace: ['The Delta', 'Amal Haddad'] } },
    { order: 'PUT queries', body: { category: 'arabic_hits', queries: ['أغاني هادئة <b>2026</b>'] } },
  ]);
  await panel(page).getByRole('button', { name: 'Save permanently' }).click();
  await expectNews(page, 'Saved permanently.');
  expect(mock.control.taken.at(-1)?.order).toBe('POST config/save');
  mock.control.keepsEdits = true;
  await panel(page).locator('[data-category=english]').click();
  await singers.getByLabel('Add a singer').fill('Dido');
  await panel(page).getByRole('button', { name: 'Apply' }).click();
  await expect(panel(page).getByRole('button', { name: /^(Apply|Save)/ })).toHaveCount(0); // it is saved
  await page.reload();
  expect(await expect(list(page, 'singers').locator('li input')).toHaveCount(3).then(() => texts(page, 'singers'))).toEqual(['أم كلثوم', 'فيروز الرحبانية', 'وردة']);
});

test('what is refused is told beside its field, other lists are in force, and the draft outlives the page', async ({ page, mock }) => {
  await openWanted(page, mock, 'ar');
  await list(page, 'queries').getByLabel('إضافة عبارة').fill('جديد الأغاني');
  await page.keyboard.press('Enter');
  await list(page, 'singers').getByLabel('المطرب ٢').fill('   ');
  await page.reload();
  await expect(list(page, 'singers').getByLabel('المطرب ٢')).toHaveValue('   ');
  await panel(page).getByRole('button', { name: 'تطبيق' }).click();
  await expect(list(page, 'singers').getByLabel('المطرب ٢')).toHaveAccessibleDescription('يلزم اسم');
  await expect(list(page, 'singers').getByLabel('المطرب ٢')).toHaveAttribute('aria-invalid', 'true');
  await expect(panel(page)).toContainText('لم تقبل المحطة ما عليه علامة');
  expect(mock.control.config.QUERIES.arabic_hits).toContain('جديد الأغاني');
  expect(mock.control.config.SINGERS.arabic_hits).toContain('فيروز');
  await list(page, 'singers').getByLabel('المطرب ٢').fill('فيروز');
  await expect(list(page, 'singers').locator('.wrong')).toHaveCount(0);
  await expect(panel(page).getByRole('button', { name: 'تطبيق' })).toHaveCount(0); // it is as the station has it
});

test('a list is pasted line by line, and who is there already is not added again', async ({ page, mock }) => {
  await openWanted(page, mock);
  const field = list(page, 'singers').getByLabel('Add a singer');
  await field.evaluate((input) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', 'شادية\r\nام كلثوم\n\n نجاة \n');
    input.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  });
  await expect(list(page, 'singers')).toContainText(/أم كلثوم\u2069? is already in the list\./);
  expect(await texts(page, 'singers')).toEqual(['أم كلثوم', 'فيروز', 'عبد الحليم حافظ', 'شادية', 'نجاة']);
  await panel(page).getByRole('button', { name: 'Discard' }).click();
  await expect(list(page, 'singers').locator('li input')).toHaveCount(3);
});

test('what another operator did meanwhile is kept', async ({ page, mock }) => {
  await openWanted(page, mock);
  await removal(page, 'فيروز').click();
  mock.control.config.SINGERS = { arabic_hits: ['صباح', 'فيروز'] };
  await panel(page).getByRole('button', { name: 'Apply' }).click();
  await expect(list(page, 'singers').locator('li input')).toHaveCount(1);
  expect(mock.control.config.SINGERS.arabic_hits).toEqual(['صباح']);
});

test('the lists wait for the key, say when they do not come, and are empty on the first day', async ({ page, mock }) => {
  await open(page, '/studio#/production', 'en');
  await panel(page).getByRole('button', { name: 'Open' }).click();
  await page.getByLabel('Station key').fill(mock.control.key);
  await page.keyboard.press('Enter');
  await expect(list(page, 'singers')).toContainText('No singers yet.');
  await expect(list(page, 'queries')).toContainText('No queries yet.');
  let asked = 0;
  await page.route('**/api/station/queries', (route) => (asked++, route.abort()));
  await page.reload();
  await expect.poll(() => asked).toBe(2); // at first, and once the door has opened: none comes after by itself
  await expect(panel(page)).toContainText('The lists could not be loaded.');
  await panel(page).getByRole('button', { name: 'Try again' }).click();
  await expect.poll(() => asked).toBe(3);
  await page.unroute('**/api/station/queries');
  await panel(page).getByRole('button', { name: 'Try again' }).click();
  await expect(list(page, 'queries')).toContainText('No queries yet.');
  await list(page, 'queries').getByLabel('Add a query').fill('slow river');
  await page.route('**/api/station/queries', (route) => route.abort());
  await panel(page).getByRole('button', { name: 'Apply' }).click();
  await expectNews(page, 'The control plane did not answer.');
  expect(await texts(page, 'queries')).toEqual(['slow river']); // nothing is lost
});

for (const [language, colorScheme] of faces) {
  test(`axe finds nothing in the lists, and they fit a phone: ${language} ${colorScheme}`, async ({ page, mock }) => {
    await page.emulateMedia({ colorScheme });
    await openWanted(page, mock, language);
    await list(page, 'singers').locator('li button').first().click();
    await list(page, 'singers').locator('li input').nth(1).fill(' ');
    await panel(page).locator('.key').click();
    await expect(list(page, 'singers').locator('li .wrong')).toBeVisible();
    await expectAccessible(page, 'section[aria-labelledby=wanted]');
    await expectFits(page);
  });
}
