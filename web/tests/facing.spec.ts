import type { Locator, Page } from '@playwright/test';
import type { Texts } from '../src/studio/face/answers';
import { expect, expectAccessible, expectFits, expectNews, faces, open, stopClock, test } from './fixtures';
import { nile, picture, wrongField } from './mock/facing';
import type { Mock } from './mock/mock';

// The station's own face, given from the studio.

const path = (page: Page, of: string): Locator => page.locator(`[data-path="${of}"]`);
const field = (page: Page, of: string): Locator => path(page, of).locator('input, textarea').first();
const bar = (page: Page): Locator => page.locator('[data-foot]');
const save = (page: Page): Promise<void> => bar(page).locator('.key').click();
const texts = (mock: Mock, i = -1): Texts => (mock.facing.taken.filter(({ order }) => order === 'PUT').at(i)?.body as { face: Texts }).face;
const png = (buffer: Buffer, name = 'a.png', mimeType = 'image/png') => ({ name, mimeType, buffer });

/** Serves the studio with the face in it, as a station does. */
async function served(page: Page, mock: Mock): Promise<void> {
  await page.route('**/studio', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: mock.facing.within(await response.text()) });
  });
}

/** The section of a station that needs no key and has a face, where nothing else is wanted. */
async function openFace(page: Page, mock: Mock, { language = 'en', set = true }: { language?: 'ar' | 'en'; set?: boolean } = {}): Promise<void> {
  mock.control.key = '';
  if (set) mock.facing.set();
  await open(page, '/studio#/station', language);
  await expect(page.locator('#face-names')).toBeVisible();
}

test('texts, colour, languages, links, contact and CSS are saved by one press, and the previous face comes back by another', async ({ page, mock }) => {
  await page.clock.install();
  await openFace(page, mock);
  await expect(bar(page)).toContainText('Everything is saved.');
  await field(page, 'name.ar').fill('صوت النيل');
  await field(page, 'about.en').fill('Two lines\nof it');
  await page.getByRole('button', { name: 'Rose' }).click();
  await page.getByRole('button', { name: 'Put English first' }).click();
  await page.getByRole('button', { name: 'Add a link' }).click();
  await expect(field(page, 'links[3].url')).toBeFocused();
  await page.keyboard.type('t.me/nile');
  await page.keyboard.press('Tab'); // a known place names itself
  await expect(path(page, 'links[3].label').locator('input').first()).toHaveValue('تليجرام');
  await page.getByLabel('Phone', { exact: true }).fill('+20 2 2574 0000');
  await page.getByLabel('CSS of your own').fill('h1 { letter-spacing: 0 }');
  await page.getByLabel('Show the line “Runs on Athir”').uncheck();
  await expect(bar(page)).toContainText('Changes not saved: name, description, languages, colour, links, contact, Athir’s line, CSS');
  await stopClock(page); // the offer to undo stays
  await page.keyboard.press('Control+s');
  await expectNews(page, 'Saved. Listeners see it now.');
  expect(texts(mock)).toEqual({
    ...nile(), name: { ar: 'صوت النيل', en: 'Nile Radio' }, about: { ...nile().about, en: 'Two lines\nof it' }, languages: ['en', 'ar'], accent: '#d6457f',
    links: [...nile().links, { label: { ar: 'تليجرام', en: 'Telegram' }, url: 'https://t.me/nile' }], contact: { ...nile().contact, phone: '+20 2 2574 0000' }, credit: false, css: 'h1 { letter-spacing: 0 }',
  });
  await expect(bar(page)).toContainText('Everything is saved.');
  await expect(page.locator('header .name')).toHaveText('Nile Radio');
  await page.getByRole('log', { name: 'What happened' }).getByRole('button', { name: 'Undo' }).click();
  await expectNews(page, 'The face from before is back.');
  expect(texts(mock)).toEqual(nile());
  await expect(field(page, 'name.ar')).toHaveValue('إذاعة النيل');
});

test('where somebody else saved first, what was typed stays, and both are kept or theirs is shown', async ({ page, mock }) => {
  await openFace(page, mock);
  await field(page, 'name.en').fill('The Nile');
  mock.facing.change({ accent: '#8e5bd0', tagline: { ar: 'ليل', en: 'Night' } });
  await save(page);
  await expect(bar(page).getByRole('alert')).toContainText('somebody else changed this meanwhile: tagline, colour');
  await expect(field(page, 'name.en')).toHaveValue('The Nile');
  await bar(page).getByRole('button', { name: 'Save mine' }).click();
  await expectNews(page, 'Saved.');
  expect(mock.facing.texts).toEqual({ ...nile(), name: { ar: 'إذاعة النيل', en: 'The Nile' }, accent: '#8e5bd0', tagline: { ar: 'ليل', en: 'Night' } });

  await field(page, 'name.en').fill('Mine');
  mock.facing.change({ name: { ar: 'لهم', en: 'Theirs' } });
  await page.keyboard.press('Control+s');
  await bar(page).getByRole('button', { name: 'Show theirs' }).click();
  await expect(field(page, 'name.en')).toHaveValue('Theirs');
  await expect(bar(page)).toContainText('Everything is saved.');
});

test('an order whose answer was lost is no conflict, and what was changed since is not undone', async ({ page, mock }) => {
  await page.clock.install();
  await openFace(page, mock);
  mock.facing.lost = true;
  await field(page, 'name.en').fill('The Nile');
  await save(page);
  await expectNews(page, /did not answer|Saved/); // the browser may have sent it again by itself
  await expect(bar(page)).toContainText('Everything is saved.');
  await field(page, 'tagline.en').fill('Songs');
  await stopClock(page);
  await save(page);
  const news = page.getByRole('log', { name: 'What happened' });
  await expect(news.getByRole('button', { name: 'Undo' })).toBeVisible();
  mock.facing.change({ credit: false });
  await news.getByRole('button', { name: 'Undo' }).click();
  await expectNews(page, 'Not undone: the face has been changed again since.');
  expect(mock.facing.texts).toEqual({ ...nile(), name: { ...nile().name, en: 'The Nile' }, tagline: { ...nile().tagline, en: 'Songs' }, credit: false });
  await expect(page.getByLabel('Show the line “Runs on Athir”')).not.toBeChecked();
});

test('what is wrong is said at its field in the operator’s language, before it is sent and as the station says it', async ({ page, mock }) => {
  await openFace(page, mock, { language: 'ar' });
  await page.getByLabel('رمز اللون').fill('teal');
  await page.getByLabel('البريد الإلكتروني').fill('nobody');
  await field(page, 'links[1].url').fill('javascript:alert(1)');
  await save(page);
  await expect(bar(page)).toContainText('لم يُحفظ: ٣ حقول تحتاج إلى تصحيح.');
  expect(mock.facing.taken).toEqual([]);
  await expect(path(page, 'accent').locator('.wrong')).toContainText('اكتب اللون');
  await expect(page.getByLabel('رمز اللون')).toBeFocused(); // the first of them
  await expect(path(page, 'contact.email').locator('input')).toHaveAccessibleDescription(/ليس بريدًا/);
  await page.getByLabel('رمز اللون').fill('0F8F9C'); // its sign is meant
  await page.getByLabel('البريد الإلكتروني').fill('a@nile.example');
  await field(page, 'links[0].url').fill('');
  await path(page, 'links[0].label').locator('input').first().fill('');
  await path(page, 'links[0].label').locator('input').last().fill(''); // an empty row is not sent, and counts as a row all the same
  await field(page, 'links[1].url').fill('https://nile.example/2');
  mock.facing.refusal = wrongField('links[0].url', 'must have a host', 'يلزم الرابط موقع');
  await save(page);
  await expect(path(page, 'links[1].url').locator('.wrong')).toHaveText('يلزم الرابط موقع');
  await expect(field(page, 'links[1].url')).toBeFocused();
  await expect(field(page, 'links[1].url')).toHaveValue('https://nile.example/2');
  mock.facing.refusal = wrongField('weather', 'must be fair', 'لا بد أن يكون صحوًا'); // of a station that knows more than this page
  await save(page);
  await expect(bar(page)).toContainText('لا بد أن يكون صحوًا');
});

test('a logo is chosen, seen before it is saved, replaced, taken away and brought back', async ({ page, mock }) => {
  await page.clock.install();
  await openFace(page, mock, { set: false });
  const box = page.locator('[data-picture=logo]');
  const choose = page.locator('[data-choose=logo]');
  await choose.setInputFiles(png(Buffer.from('<svg/>'), 'a.svg', 'image/svg+xml'));
  await expect(box).toContainText('SVG pictures are not accepted');
  await choose.setInputFiles(png(Buffer.from('no picture')));
  await expect(box).toContainText('cannot be opened');
  await choose.setInputFiles(png(Buffer.alloc(4 * 1024 * 1024 + 1)));
  await expect(box).toContainText('larger than 4 MB');
  await expect(box.locator('img')).toHaveCount(0);
  await choose.setInputFiles(png(picture(60, 40, [9, 9, 9])));
  await expect(box).toContainText('will look blurred');
  const first = picture(480, 200, [200, 30, 30]);
  await choose.setInputFiles(png(first));
  await expect(box.getByRole('img')).toHaveCount(2); // on light and on dark ground
  await expect(box).toContainText('Not saved yet');
  expect(mock.facing.taken).toEqual([]);
  await save(page);
  await expectNews(page, 'Saved.');
  expect(mock.facing.taken).toEqual([{ order: 'PUT logo', body: { type: 'image/png', bytes: first.length } }]);
  await expect(page.locator('header .brand img')).toHaveAttribute('src', /^\/face\/logo\.png\?v=1$/);

  await box.getByRole('button', { name: 'Logo: remove the picture' }).click();
  await expect(box.locator('img')).toHaveCount(0);
  await box.getByRole('button', { name: 'Logo: keep the saved picture' }).click();
  await expect(box.locator('img')).toHaveCount(2);
  await box.getByRole('button', { name: 'Logo: remove the picture' }).click();
  await stopClock(page);
  await save(page);
  await expect.poll(() => mock.facing.pictures.logo).toBeNull();
  await page.getByRole('log', { name: 'What happened' }).getByRole('button', { name: 'Undo' }).click();
  await expectNews(page, 'The face from before is back.');
  expect(mock.facing.pictures.logo?.equals(first)).toBe(true);

  mock.facing.refusal = { status: 422, body: { detail: 'validation failed', errors: [{ location: 'logo', message: 'is damaged, or no whole picture' }], reason: { code: 'field', en: 'The picture is damaged.', ar: 'ملف الصورة تالف' } } };
  await choose.setInputFiles(png(picture(200, 200, [1, 2, 3])));
  await save(page);
  await expect(box).toContainText('The picture is damaged.');
  await expect(box).toContainText('Not saved yet');
});

test('a picture that is dropped on its box is no upload to the library', async ({ page, mock }) => {
  await openFace(page, mock);
  const data = await page.evaluateHandle((base64) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], 'icon.png', { type: 'image/png' }));
    return transfer;
  }, picture(300, 200, [9, 90, 200]).toString('base64'));
  await page.dispatchEvent('[data-picture=icon]', 'dragover', { dataTransfer: data });
  await page.dispatchEvent('[data-picture=icon]', 'drop', { dataTransfer: data });
  await expect(page.locator('[data-picture=icon]')).toContainText('not a square');
  await expect(page.locator('.net')).toHaveCount(0);
  await save(page);
  await expect.poll(() => mock.facing.taken.map(({ order }) => order)).toEqual(['PUT icon']);
});

test('links are moved by keyboard and by hand, and removed', async ({ page, mock }) => {
  await openFace(page, mock);
  const rows = page.locator('[data-path=links] li');
  const order = () => rows.evaluateAll((all) => all.map((row) => row.querySelector('input')?.value.replace(/^https:\/\/(www\.)?/, '').split(/[./]/)[0]));
  await expect(rows.nth(0).locator('[data-brand]')).toHaveAttribute('data-brand', 'facebook');
  await expect(rows.nth(2).locator('[data-brand]')).toHaveAttribute('data-brand', 'website');
  await page.getByRole('button', { name: /^Move Facebook/ }).focus();
  await page.keyboard.press('ArrowUp'); // it is the first
  expect(await order()).toEqual(['facebook', 'youtube', 'nile']);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  expect(await order()).toEqual(['youtube', 'nile', 'facebook']);
  await expect(page.getByRole('button', { name: /^Move Facebook/ })).toBeFocused();
  await expect(page.locator('section[aria-labelledby=face-links] [role=status]')).toHaveText('Moved to place 3 of 3.');

  const grip = page.getByRole('button', { name: /^Move Facebook/ });
  await grip.scrollIntoViewIfNeeded();
  const [from, to] = [await grip.boundingBox(), await rows.nth(0).boundingBox()];
  if (!from || !to) throw new Error('no boxes');
  await page.mouse.move(from.x + 10, from.y + 10);
  await page.mouse.down();
  await page.mouse.move(from.x + 10, to.y + 6, { steps: 6 });
  await page.mouse.up();
  expect(await order()).toEqual(['facebook', 'youtube', 'nile']);
  await page.getByRole('button', { name: 'Remove YouTube' }).click();
  await save(page);
  await expectNews(page, 'Saved.');
  expect(texts(mock).links.map(({ url }) => url)).toEqual(['https://www.facebook.com/nile', 'https://nile.example']);
});

test('a draft is kept while another section is looked at, and asked about before the page is left', async ({ page, mock }) => {
  await openFace(page, mock);
  await field(page, 'name.en').fill('Half a name');
  await page.locator('nav').getByRole('link', { name: 'Log' }).click();
  await expect(page.locator('nav a[href="#/station"] [role=img]')).toHaveAccessibleName('Changes not saved');
  await page.locator('nav a[href="#/station"]').click();
  await expect(field(page, 'name.en')).toHaveValue('Half a name');
  let asked = '';
  page.once('dialog', (dialog) => ((asked = dialog.type()), void dialog.dismiss()));
  await page.close({ runBeforeUnload: true });
  await expect.poll(() => asked).toBe('beforeunload');
  await bar(page).getByRole('button', { name: 'Discard changes' }).click();
  await expect(field(page, 'name.en')).toHaveValue('Nile Radio');
  await expect(page.locator('nav a[href="#/station"] [role=img]')).toHaveCount(0);
});

test('the preview follows what is typed, in each language and theme, and markup stays text', async ({ page, mock }) => {
  await openFace(page, mock);
  const phone = page.locator('.phone');
  await field(page, 'name.en').fill('<b>Nile</b> & co');
  await page.getByRole('group', { name: 'Language of the preview' }).getByRole('button', { name: 'English' }).click();
  await expect(phone.locator('strong')).toHaveText('<b>Nile</b> & co');
  await page.getByLabel('Colour code').fill('#ffffff');
  for (const [theme, signal] of [['Light', /^#(?!ffffff)/], ['Dark', /^#ffffff$/]] as const) {
    await page.getByRole('group', { name: 'Theme of the preview' }).getByRole('button', { name: theme }).click();
    expect(await phone.evaluate((node) => getComputedStyle(node).getPropertyValue('--signal'))).toMatch(signal); // by day white would be no button
  }
  await page.getByLabel('Show the line “Runs on Athir”').uncheck();
  await expect(phone).not.toContainText('Athir');
  await page.locator('.card').scrollIntoViewIfNeeded();
  await expect(page.locator('.card')).toHaveAttribute('src', '/card/now.png?v=7');
  await expect.poll(() => page.locator('.card').evaluate((card: HTMLImageElement) => card.naturalWidth)).toBeGreaterThan(0);
});

test('the code for other sites follows its options', async ({ page, mock }) => {
  await openFace(page, mock);
  const code = page.locator('section[aria-labelledby=face-embed] code');
  await expect(code).toHaveText(`<script async src="${mock.url}/embed.js" data-title="Nile Radio"></script>`);
  const options = page.locator('section[aria-labelledby=face-embed]');
  await options.getByLabel('Frame', { exact: true }).check();
  await options.getByLabel('Dark').check();
  await options.getByLabel('Arabic').check();
  await page.getByLabel('Another one').check();
  await page.getByLabel('One line').check();
  await expect(code).toHaveText(`<iframe src="${mock.url}/embed?theme=dark&#38;accent=0f8f9c&#38;lang=ar&#38;compact=1" title="Nile Radio" width="600" height="80" style="border:0;max-width:100%" allow="autoplay" loading="lazy"></iframe>`);
});

test('who may not change it reads it', async ({ page, mock }) => {
  mock.facing.set();
  mock.people.add('salma', 'presenter');
  await page.request.post('/api/session', { data: { login: 'salma', password: 'salma-password-1' } });
  await open(page, '/studio#/station', 'en');
  await expect(page.locator('.looks')).toContainText('change nothing in it');
  await expect(field(page, 'name.en')).toHaveValue('Nile Radio');
  await expect(field(page, 'name.en')).toBeDisabled();
  await expect(page.getByRole('button', { name: /^(Move|Remove|Logo|Add)/ })).toHaveCount(0);
  await expect(bar(page)).toHaveCount(0);
  await page.keyboard.press('Control+s');
  expect(mock.facing.taken).toEqual([]);
  await expect(page.locator('section[aria-labelledby=face-embed] code')).toBeVisible(); // theirs to copy
});

test('a station that cannot answer, one that has no such part, and one that wants a key say so', async ({ page, mock }) => {
  mock.facing.offered = false;
  mock.control.key = '';
  await open(page, '/studio#/station', 'en');
  await expect(page.getByText('does not offer a face of its own yet')).toBeVisible();
  mock.facing.offered = true;
  mock.facing.set();
  mock.control.key = 'نهر';
  await page.reload();
  await page.getByRole('main').getByRole('button', { name: 'Open' }).click();
  await page.getByLabel('Station key').fill('نهر');
  await page.keyboard.press('Enter');
  await expect(field(page, 'name.en')).toHaveValue('Nile Radio');
});

test('the studio bears the station’s own name and logo, and ours where it has none', async ({ page, mock }) => {
  mock.control.key = '';
  mock.facing.set();
  await served(page, mock);
  await open(page, '/studio', 'en');
  await expect(page.locator('header .name')).toHaveText('Nile Radio');
  await expect(page.locator('header .brand img')).toHaveAttribute('src', '/face/logo.png?v=7');
  await expect(page).toHaveTitle('Studio · Nile Radio');
  await page.unroute('**/studio');
  await page.reload();
  await expect(page.locator('header .brand svg')).toHaveAccessibleName('Athir');
});

test('a phone: everything fits and can be pressed with a thumb', async ({ page, mock }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await served(page, mock);
  await openFace(page, mock, { language: 'ar' });
  await field(page, 'name.ar').fill('صوت النيل');
  await expectFits(page, { width: 390, height: 844 });
  const small = await page.locator('main section, [data-foot]').locator('button:visible, a:visible, input:visible:not([type=checkbox], [type=radio]), label.check:visible').evaluateAll((all) =>
    all.filter((one) => one.closest('.columns, [data-foot]')).map((one) => [one.getAttribute('aria-label') ?? one.textContent ?? one.id, Math.round(one.getBoundingClientRect().height)] as const).filter(([, high]) => high < 44));
  expect(small).toEqual([]);
  await bar(page).getByRole('button', { name: 'عرض المعاينة' }).click();
  await expect(page.locator('.phone strong')).toBeInViewport();
  await expectFits(page);
});

for (const [language, colorScheme] of faces) {
  test(`axe finds nothing: ${language}, ${colorScheme}`, async ({ page, mock }) => {
    await page.emulateMedia({ colorScheme });
    await served(page, mock);
    await openFace(page, mock, { language });
    await expectAccessible(page);
    await field(page, 'links[1].url').fill('nowhere');
    await page.locator('#face-email').fill('nobody');
    await page.locator('.presets button').nth(3).click();
    await page.locator('[data-choose=icon]').setInputFiles(png(picture(100, 60, [9, 90, 200])));
    await save(page);
    await expect(bar(page).locator('.bad')).toBeVisible();
    await expectAccessible(page);
    await page.locator('#face-email').fill('');
    await field(page, 'links[1].url').fill('https://nowhere.example');
    mock.facing.change({ credit: false });
    await save(page);
    await expect(bar(page).getByRole('alert')).toBeVisible();
    await expectAccessible(page);
  });
}
