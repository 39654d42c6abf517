import type { Page } from '@playwright/test';
import { expect, expectAccessible, expectFits, faces, open, test } from './fixtures';
import { planOf } from './mock/import';
import type { Mock } from './mock/mock';
import type { Role } from '../src/studio/rights';

// A station of another system is brought over from the studio: from where, what would come, and the import.

const at = '/studio#/library/import';
const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 3 });
const backup = { name: 'azuracast_backup.tzst', mimeType: 'application/zstd', buffer: Buffer.from('a backup') };
const input = (page: Page) => page.locator('.file input[type=file]');
const orders = (mock: Mock) => mock.imports.taken;
const fold = (page: Page, name: string) => page.locator('details').filter({ has: page.locator('summary', { hasText: name }) });

async function as(page: Page, mock: Mock, role: Role = 'owner', language: 'ar' | 'en' = 'en'): Promise<void> {
  const kept = mock.people.add(role, role);
  const answer = await page.request.post('/api/session', { data: { login: kept.person.login, password: kept.password } });
  expect(answer.status()).toBe(200);
  await open(page, at, language);
}

/** What a backup would bring. */
async function look(page: Page, mock: Mock): Promise<void> {
  await as(page, mock);
  await input(page).setInputFiles(backup);
  await expect(page.getByText('Uploaded. The file is deleted')).toBeVisible();
  await page.getByRole('button', { name: 'See what comes over' }).click();
  await expect(heading(page, 'What comes over')).toBeFocused();
}

test.use({ viewport: { width: 1280, height: 900 } });

test('a backup is uploaded, looked into and brought over, by the keyboard alone', async ({ page, mock }) => {
  // Listened for from the start: a press that comes before the browser knows of it opens a window of its own.
  const chooser = page.waitForEvent('filechooser', { timeout: 0 });
  await as(page, mock);
  const choose = page.getByRole('button', { name: 'Choose a file' });
  await page.getByRole('radio', { name: 'AzuraCast' }).focus();
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('radio', { name: 'LibreTime' })).toBeChecked();
  await page.keyboard.press('ArrowUp');
  await page.getByRole('button', { name: 'See what comes over' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('alert')).toHaveText('Choose a backup file first.');
  await expect(choose).toBeFocused();
  await page.keyboard.press('Enter');
  await (await chooser).setFiles(backup);
  await expect(page.getByText('Uploaded. The file is deleted')).toBeVisible();
  expect([...mock.imports.files.values()]).toEqual([backup.buffer.length]);
  await page.getByRole('button', { name: 'See what comes over' }).focus();
  await page.keyboard.press('Enter');

  await expect(heading(page, 'What comes over')).toBeFocused();
  await expect(page.getByText('Nothing has changed yet.')).toBeVisible();
  await expect(page.locator('dl')).toContainText('1,204 songs');
  await expect(page.locator('dl')).toContainText('9.4 GB');
  await expect(fold(page, 'Playlists')).toContainText('alone while it is open');
  await expect(fold(page, 'Playlists')).toContainText(/Fri · .20:00–01:00/);
  const presenters = fold(page, 'Presenters').locator('summary');
  await presenters.focus();
  await page.keyboard.press('Enter');
  await expect(page.getByText('Gets an invitation').first()).toBeVisible();
  await fold(page, 'What else').locator('summary').focus();
  await page.keyboard.press('Enter');
  await expect(fold(page, 'What else')).toContainText('Mount points');
  await page.getByRole('button', { name: 'Start the import' }).focus();
  await page.keyboard.press('Enter');

  await expect(heading(page, 'The import is done')).toBeFocused();
  await expect(page.getByText('1,204 songs copied, 87 were here already')).toBeVisible();
  await expect(page.getByText('4 playlists made, with 1,016 songs')).toBeVisible();
  await expect(page.getByText(`${mock.url}/studio#/invited/tok-sami`)).toBeVisible();
  await expect(page.getByText('whsec_4f6b1d0a9c8e7f6a5b4c3d2e')).toBeVisible();
  await fold(page, 'What did not').locator('summary').focus();
  await page.keyboard.press('Enter');
  await expect(fold(page, 'What did not')).toContainText('WMA is not taken');
  const [file] = mock.imports.files.keys();
  expect(orders(mock)).toEqual([{ order: 'plan', body: { system: 'azuracast', file } }, { order: 'apply', body: { system: 'azuracast', file } }]);
  await page.getByRole('link', { name: 'Go to the playlists' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'Playlists', exact: true })).toBeVisible();
});

test('an upload is called off, dropped anew, and given up at the station', async ({ page, mock }) => {
  await as(page, mock);
  mock.imports.keptBack = [];
  await input(page).setInputFiles(backup);
  await expect(page.getByRole('progressbar', { name: 'Uploading' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'See what comes over' })).toBeDisabled();
  await page.getByRole('button', { name: 'Cancel the upload' }).click();
  await expect(page.getByRole('button', { name: 'Choose a file' })).toBeVisible();
  await expect(page.getByRole('alert').filter({ hasText: 'broke' })).toHaveCount(0);
  mock.imports.keptBack = null;

  // A backup is none to put into the library, wherever in the form it falls.
  const data = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(['a dump'], 'libretime.sql'));
    return transfer;
  });
  await page.getByRole('radio', { name: 'From the running system' }).check();
  await page.dispatchEvent('form:has(.go)', 'dragover', { dataTransfer: data });
  await page.dispatchEvent('form:has(.go)', 'drop', { dataTransfer: data });
  await expect(page.getByText('libretime.sql')).toBeVisible();
  await page.reload();
  await expect(page.getByText('libretime.sql')).toBeVisible();
  await page.getByRole('button', { name: 'Another file' }).click();
  await expect.poll(() => mock.imports.files.size).toBe(0);

  mock.imports.refusal = [422, { title: 'Problem', status: 422, detail: 'validation failed', errors: [{ location: 'body', message: 'the disk has no room for it' }] }];
  await input(page).setInputFiles(backup);
  await expect(page.getByRole('alert')).toHaveText('the disk has no room for it');
  await input(page).setInputFiles({ ...backup, buffer: Buffer.alloc(0) });
  await expect(page.getByRole('alert')).toHaveText('The file is empty.');
});

test('a running system is read by its address, and its secrets are kept nowhere', async ({ page, mock }) => {
  await as(page, mock);
  await page.getByRole('radio', { name: 'LibreTime' }).check();
  await page.getByRole('radio', { name: 'From the running system' }).check();
  const go = page.getByRole('button', { name: 'See what comes over' });
  await go.click();
  await expect(page.getByRole('textbox', { name: 'Address' })).toBeFocused();
  await expect(page.getByRole('alert')).toHaveText(['Type the address, https://…', 'Type the API key, or login and password.']);
  await page.getByRole('textbox', { name: 'Address' }).fill('radio.example.org/');
  await page.getByLabel('login').fill('admin');
  await page.getByLabel('Password').fill('the-secret');
  await go.click();
  await expect(heading(page, 'What comes over')).toBeFocused();
  expect(orders(mock)).toEqual([{ order: 'plan', body: { system: 'libretime', address: 'https://radio.example.org', user: 'admin', password: 'the-secret' } }]);
  expect(await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))).not.toContain('the-secret');

  await page.reload();
  await expect(heading(page, 'What comes over')).toBeVisible();
  await expect(page.getByText('The key is not kept')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Start the import' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Another source' }).click();
  await expect(page.getByRole('textbox', { name: 'Address' })).toHaveValue('radio.example.org/');
  await expect(page.getByLabel('Password')).toHaveValue('');
});

test('of several stations another one is looked at', async ({ page, mock }) => {
  await look(page, mock);
  await page.getByLabel('Another station').selectOption('Nile Jazz');
  mock.imports.plan = { ...planOf(), name: 'Nile Jazz', others: [], tracks: { bring: 0, there: 4, not: 0, bytes: 0 }, playlists: [], people: [], webhooks: [] };
  await page.getByRole('button', { name: 'Look at this one' }).click();
  await expect(page.getByText('Nile Jazz, from AzuraCast')).toBeVisible();
  expect(orders(mock).at(-1)?.body.station).toBe('Nile Jazz');
  await expect(page.getByText('There is nothing to import.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Start the import' })).toHaveCount(0);
});

test('where a source has several stations, one is chosen', async ({ page, mock }) => {
  await as(page, mock);
  mock.imports.stations = ['Nile', 'Nile Jazz'];
  await input(page).setInputFiles(backup);
  const go = page.getByRole('button', { name: 'See what comes over' });
  await go.click();
  await expect(page.getByRole('alert')).toContainText('There are several stations in it');
  await go.click();
  await expect(page.getByRole('alert').filter({ hasText: 'Choose a station.' })).toBeVisible();
  await expect(page.getByRole('combobox', { name: 'Station' })).toBeFocused();
  await page.getByRole('combobox', { name: 'Station' }).selectOption('Nile Jazz');
  await go.click();
  await expect(heading(page, 'What comes over')).toBeVisible();
  expect(orders(mock).map(({ body }) => body.station)).toEqual([undefined, 'Nile Jazz']);
});

test('an import outlives a reload, is cancelled, and goes on where it was', async ({ page, mock }) => {
  await look(page, mock);
  mock.imports.stops = 800;
  await page.getByRole('button', { name: 'Start the import' }).click();
  await expect(heading(page, 'The import is running')).toBeFocused();
  await expect(page.locator('[data-stage=files]')).toContainText('824 of 1,204');
  await page.evaluate(() => sessionStorage.clear()); // another device
  await page.reload();
  await expect(heading(page, 'The import is running')).toBeVisible();
  await expect(page.locator('[data-stage=files]')).toHaveAttribute('data-at', 'now');
  await page.getByRole('button', { name: 'Cancel the import' }).click();
  const asked = page.getByRole('dialog', { name: 'Cancel the import?' });
  await expect(asked).toContainText('goes on where it was');
  await asked.getByRole('button', { name: 'Yes, cancel' }).click();
  await expect(heading(page, 'The import was cancelled')).toBeFocused();
  await expect(page.getByText('412 songs copied')).toBeVisible();
  await page.getByRole('button', { name: 'Choose the same source' }).click();
  mock.imports.stops = Infinity;
  await page.getByRole('button', { name: 'Result of the last import' }).click();
  await expect(heading(page, 'The import was cancelled')).toBeVisible();
  await page.getByRole('button', { name: 'Choose the same source' }).click();
  await input(page).setInputFiles(backup);
  await page.getByRole('button', { name: 'See what comes over' }).click();
  await page.getByRole('button', { name: 'Start the import' }).click();
  await expect(heading(page, 'The import is done')).toBeVisible();
});

test('what fails is told in words, and a station that is away is waited for', async ({ page, mock }) => {
  await as(page, mock);
  await input(page).setInputFiles(backup);
  mock.imports.fails = { en: 'This is no backup of AzuraCast: it has no db.sql.', ar: 'ليست نسخة احتياطية من AzuraCast: لا db.sql فيها.' };
  await page.getByRole('button', { name: 'See what comes over' }).click();
  await expect(page.getByRole('alert')).toContainText('It could not be read');
  await expect(page.getByRole('alert')).toContainText('it has no db.sql');

  mock.imports.stops = 400;
  await page.getByRole('button', { name: 'See what comes over' }).click();
  await page.getByRole('button', { name: 'Start the import' }).click();
  await expect(page.locator('[data-stage=files]')).toContainText('412 of');
  mock.apiDown = true;
  await expect(page.getByText('The station is not answering. What it does goes on')).toBeVisible();
  mock.imports.fails = { en: 'The disk is full: make room, and go on.', ar: 'القرص ممتلئ. أفسح مكانًا ثم استكمل.' };
  mock.apiDown = false;
  await expect(heading(page, 'The import stopped')).toBeVisible();
  await expect(page.getByRole('alert')).toHaveText('The disk is full: make room, and go on.');
  mock.imports.stops = Infinity;
  await page.getByRole('button', { name: 'Go on' }).click();
  await expect(heading(page, 'The import is done')).toBeVisible();

  // The backup was removed after a day.
  await page.getByRole('button', { name: 'Another import' }).click();
  mock.imports.files.clear();
  await page.getByRole('button', { name: 'See what comes over' }).click();
  await expect(page.getByRole('alert')).toHaveText('The uploaded file is not at the station any more. Choose it again.');
  await expect(page.getByRole('button', { name: 'Choose a file' })).toBeVisible();
});

test('whoever is no owner reads why not', async ({ page, mock }) => {
  await as(page, mock, 'programme');
  await expect(heading(page, 'Only an owner of the station can import')).toBeVisible();
  await expect(page.locator('.way')).toHaveCount(0);
  expect(orders(mock)).toEqual([]);
});

for (const [language, colorScheme] of faces) {
  test(`nothing keeps anybody out, and it fits a phone: ${language}`, async ({ page, mock }) => {
    await page.emulateMedia({ colorScheme });
    await as(page, mock, 'owner', language);
    const body = page.locator('.body').first();
    await expect(body.locator('[data-head]')).toBeVisible();
    const check = async () => {
      await expectAccessible(page);
      await expectFits(page, { width: 390, height: 844 });
      const small = await page.locator('.panel .body').first().evaluate((part) => [...part.querySelectorAll<HTMLElement>('button, a, summary, select, label.check, input:not([type=radio], [type=file])')].filter((one) => one.offsetHeight > 0 && one.offsetHeight < 43.5).map((one) => one.outerHTML.slice(0, 90)));
      expect(small).toEqual([]);
      await page.setViewportSize({ width: 1280, height: 900 });
    };
    await check();
    await page.locator('.way').nth(1).click();
    await page.locator('.way').nth(3).click();
    await check();
    await page.locator('.way').nth(0).click();
    await page.locator('.way').nth(2).click();
    await input(page).setInputFiles(backup);
    await expect(page.locator('.held')).toBeVisible();
    await page.locator('.go .key').click();
    await expect(page.locator('details').first()).toBeVisible();
    await page.locator('details').evaluateAll((all) => all.forEach((one) => ((one as HTMLDetailsElement).open = true)));
    await check();
    mock.imports.stops = 800;
    await page.locator('.go .key').click();
    await expect(page.locator('[data-stage]')).toHaveCount(5);
    await check();
    mock.imports.stops = Infinity;
    await expect(page.locator('.secrets').first()).toBeVisible();
    await page.locator('details summary').click();
    await check();
  });
}
