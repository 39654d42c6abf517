import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { expect, expectAccessible, expectFits, faces, open, test } from './fixtures';
import { problem, reasons } from './mock/social';
import type { Mock } from './mock/mock';

// The listeners' page on a phone. What really becomes of a sound is tested end to end, on a station.

test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, permissions: ['microphone', 'clipboard-read', 'clipboard-write'] });

const card = (page: Page, id: number) => page.locator(`[data-post="${id}"]`);
const mine = (page: Page, id: number) => page.locator(`[data-mine="${id}"]`);
const panel = (page: Page) => page.locator('main [data-upload]');
const tab = (page: Page, name: string) => page.getByRole('navigation').getByRole('link', { name });
const clock = (page: Page) => page.evaluate(() => Number(document.querySelector<HTMLInputElement>('[data-play] input')?.value ?? 0));

/** Waits until the page is told of what happens, and has asked for what it missed before. */
async function follows(page: Page): Promise<void> {
  await expect(page.locator('main')).toHaveAttribute('data-link', 'up');
  await expect(page.locator('main [aria-busy=true]')).toHaveCount(0);
}

/** Waits until the browser has kept what is sent, with the address that the station gave it. */
async function kept(page: Page): Promise<void> {
  await expect.poll(() => page.evaluate(() => new Promise<string>((done) => {
    const asked = indexedDB.open('athir-social');
    asked.onsuccess = () => {
      const found = asked.result.transaction('unsent').objectStore('unsent').getAll() as IDBRequest<{ url: string }[]>;
      found.onsuccess = () => (asked.result.close(), done(found.result[0]?.url ?? ''));
    };
  }))).not.toBe('');
}

/** Fills in what every post needs. */
async function fill(page: Page, title: string, kind = 'Voice'): Promise<void> {
  await page.getByText(kind, { exact: true }).click();
  await page.getByLabel('Title', { exact: true }).fill(title);
  await page.getByLabel('Artist').fill('نور');
  await page.getByLabel('Your name').fill('Nour');
  await page.getByRole('checkbox', { name: /Everything in it is mine/ }).check();
}

/** Opens the form with a file in it, ready to be sent. */
async function withFile(page: Page, file: string | { name: string; mimeType: string; buffer: Buffer }, title = 'من الشرفة'): Promise<void> {
  await open(page, '/social.html#send', 'en');
  await page.getByRole('button', { name: 'File', exact: true }).click();
  await page.getByLabel('Choose a file').setInputFiles(file);
  await fill(page, title, 'Song');
}

const send = (page: Page) => page.getByRole('button', { name: 'Send', exact: true });
const sound = (bytes: number) => ({ name: 'balcony.mp3', mimeType: 'audio/mpeg', buffer: randomBytes(bytes) });

/** The post that arrived, as the page tells it. */
async function arrived(page: Page): Promise<number> {
  await expect(page.locator('[data-arrived]')).toBeVisible();
  return Number(await page.locator('[data-arrived]').getAttribute('data-arrived'));
}

test('a voice is recorded, heard, recorded again, sent, and followed by its secret link', async ({ page, guest, mock }) => {
  await open(page, '/social.html#send', 'en');
  await fill(page, 'Good <i>evening</i>', 'Song');
  await page.getByRole('button', { name: 'Record', exact: true }).last().click();
  await expect(page.getByRole('meter')).toBeVisible();
  await expect(page.locator('[role=timer] strong')).toHaveText(/0:0[1-9]|0:[1-3]/);
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(page.locator('[data-misfit]')).toContainText('Too short: Song lasts 45 seconds to 10 minutes');
  await send(page).click();
  expect(mock.social.tus.asked).toEqual([]); // it would be refused
  await page.getByText('Voice', { exact: true }).click();
  await page.getByRole('button', { name: 'Record again' }).click();
  await expect(page.getByRole('meter')).toHaveAttribute('data-level', /soft|good|loud/); // the browser's false microphone beeps
  await expect(page.locator('[role=timer] strong')).toHaveText(/0:0[3-9]|0:1/);
  await page.keyboard.press('Enter'); // the focus is on Stop
  // It lasts a few seconds: what is shown only meanwhile is remembered.
  const played = await page.locator('[data-recorder=ready]').evaluateHandle((note) => {
    const places = new Set<string>();
    new MutationObserver(() => places.add(note.querySelector('[type=range]')?.getAttribute('aria-valuetext') ?? '')).observe(note, { attributes: true, childList: true, subtree: true });
    return places;
  });
  await page.getByRole('button', { name: /^Play the voice note/ }).click();
  await expect.poll(() => played.evaluate((places) => [...places].some((place) => place !== '' && place !== '0:00'))).toBe(true);
  await send(page).click();
  const id = await arrived(page);
  expect(mock.social.drafts).toMatchObject([{ type: 'voice', title: 'Good <i>evening</i>', artist: 'نور', createdBy: 'Nour', rights: 'true', filename: 'recording.webm' }]);
  expect(mock.social.tus.got.length).toBeGreaterThan(10_000);
  await page.getByRole('button', { name: 'Copy the link' }).click();
  const link = `${mock.url}/social.html#post=${id}&token=s3cret-${id}`;
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(link);

  await page.getByRole('link', { name: 'Follow it' }).click();
  await expect(mine(page, id)).toHaveAttribute('data-step', 'queued');
  for (const stage of ['checking', 'mastering'] as const) {
    mock.social.change(id, { stage, progress: 0.4 });
    await expect(mine(page, id)).toHaveAttribute('data-step', stage);
  }
  mock.social.change(id, { status: 'pending', stage: '' });
  await expect(mine(page, id)).toContainText('Waits for a moderator');
  mock.social.approve(id);
  await expect(mine(page, id)).toContainText('Approved');

  await open(guest, link, 'en'); // another device
  await expect(mine(guest, id)).toContainText('Approved');
  expect(guest.url()).not.toContain('s3cret');
  await guest.reload();
  await expect(mine(guest, id)).toContainText('Good <i>evening</i>'); // text, never markup
});

test('an upload that is cut goes on from where it stopped, and arrives whole as one post', async ({ page, mock }) => {
  const file = sound(20_000_000);
  mock.social.tus.cuts = [3_000_000, 9_000_000, 19_000_000];
  await withFile(page, file);
  await send(page).click();
  const id = await arrived(page);
  expect(mock.social.tus.got.equals(file.buffer)).toBe(true);
  expect([mock.social.tus.uploads.size, mock.social.drafts.length, mock.social.tus.cuts]).toEqual([1, 1, []]);
  expect(mock.social.posts.get(id)?.title).toBe('من الشرفة');
});

test('an upload goes on after the page is loaded again, without choosing the file again', async ({ page, mock }) => {
  const file = sound(12_000_000);
  mock.social.tus.holdAt = 4_000_000;
  await withFile(page, file);
  await send(page).click();
  await expect.poll(() => mock.social.tus.got.length).toBeGreaterThanOrEqual(4_000_000);
  await kept(page);
  await page.reload();
  mock.social.tus.holdAt = Infinity;
  await arrived(page);
  expect(mock.social.tus.got.equals(file.buffer)).toBe(true);
  expect([mock.social.tus.uploads.size, mock.social.drafts.length]).toEqual([1, 1]);
  await page.reload(); // nothing is left to send
  await expect(send(page)).toBeVisible();
});

test('a file that is too large to keep is chosen again after a reload, and no other is taken for it', async ({ page, mock }, info) => {
  const [path, other] = [info.outputPath('concert.wav'), info.outputPath('other.wav')];
  const bytes = randomBytes(53_000_000);
  await writeFile(path, bytes);
  await writeFile(other, bytes.subarray(1));
  mock.social.tus.holdAt = 4_000_000;
  await withFile(page, path);
  await send(page).click();
  await expect.poll(() => mock.social.tus.got.length).toBeGreaterThanOrEqual(4_000_000);
  await kept(page);
  await page.goto('/social.html#mine');
  await page.reload();
  mock.social.tus.holdAt = Infinity;
  await page.getByRole('link', { name: /^Sending/ }).click();
  await expect(panel(page)).toContainText('Choose “concert.wav” again');
  await page.getByLabel('Choose a file').setInputFiles(other);
  await expect(panel(page).getByRole('alert')).toContainText('That is another file');
  await page.getByLabel('Choose a file').setInputFiles(path);
  await arrived(page);
  expect(mock.social.tus.got.equals(bytes)).toBe(true);
  expect(mock.social.tus.uploads.size).toBe(1);
});

test('an upload waits for a station that is down, says so, is paused, goes on, and is cancelled at the station too', async ({ page, mock }) => {
  mock.social.tus.holdAt = 2_000_000;
  await withFile(page, sound(10_000_000));
  await send(page).click();
  await expect.poll(() => mock.social.tus.got.length).toBeGreaterThanOrEqual(2_000_000);
  await panel(page).getByRole('button', { name: 'Pause' }).click();
  await expect(panel(page)).toContainText('Nothing is lost');
  mock.social.tus.down = true;
  await panel(page).getByRole('button', { name: 'Go on' }).click();
  await expect(panel(page)).toContainText(/It broke off\. Going on in \d+ s/);
  mock.social.tus.down = false;
  await panel(page).getByRole('button', { name: 'Try now' }).or(panel(page).locator('[role=progressbar]:visible')).first().click();
  await tab(page, 'Chart').click(); // it goes on while one looks elsewhere
  await expect(page.locator('[data-upload=sending]')).toBeVisible();
  await page.locator('[data-upload]').getByRole('link').click();
  await panel(page).getByRole('button', { name: 'Cancel' }).click();
  await expect(send(page)).toBeVisible();
  await expect.poll(() => mock.social.tus.uploads.size).toBe(0);
  await expect(page.getByLabel('Title', { exact: true })).toHaveValue('من الشرفة'); // what was written is still there
});

test('where the answer to the last byte is lost, the post is still one, and its link is found', async ({ page, mock }) => {
  mock.social.tus.loseAnswer = true;
  await withFile(page, sound(1_000_000));
  await send(page).click();
  expect(await arrived(page)).toBeGreaterThan(0);
  expect(mock.social.drafts).toHaveLength(1);
});

test('the station’s limit is said in words, and the upload waits for it', async ({ page, mock }) => {
  mock.social.tus.refuse = [429, { status: 429, detail: 'at most 6 posts an hour' }, { 'retry-after': '1800' }];
  await withFile(page, sound(100_000));
  await send(page).click();
  await expect(panel(page)).toContainText('The station takes it again in 30 min');
  await expect(panel(page).getByRole('button', { name: 'Try now' })).toHaveCount(0);
  expect(mock.social.tus.asked).toEqual(['POST']);
});

test('what is missing is said at its field, and the first of it has the focus', async ({ page, mock }) => {
  await open(page, '/social.html#send', 'en');
  await send(page).click();
  await expect(page.locator('[data-misfit]')).toContainText('There is no sound yet');
  await page.getByRole('button', { name: 'Link', exact: true }).click();
  await page.getByLabel('Address of the sound').fill('radio.example/x.mp3');
  await expect(page.getByText('begins with https://')).toBeVisible();
  await page.getByLabel('Address of the sound').fill('https://radio.example/x.mp3');
  await send(page).click();
  await expect(page.getByLabel('Title', { exact: true })).toBeFocused();
  await fill(page, 'x');
  await page.getByRole('checkbox').uncheck();
  await send(page).click();
  await expect(page.getByRole('checkbox')).toBeFocused();
  await expect(page.getByText('Tick the box first.')).toBeVisible();
  await page.getByRole('checkbox').check();
  await send(page).click();
  const id = await arrived(page);
  expect(mock.social.drafts).toMatchObject([{ sourceUrl: 'https://radio.example/x.mp3', rights: true, type: 'voice' }]);
  expect(id).toBeGreaterThan(0);
});

for (const [language, why, at] of [['en', 'The station has this sound already.', 'Not accepted'], ['ar', 'هذا الصوت لدى المحطة من قبل.', 'لم تُقبل']] as const) {
  test(`a refusal is told in the page’s language, at once or later, and asked again: ${language}`, async ({ page, mock }) => {
    const { id } = mock.social.post({ title: 'ليل', type: 'song' });
    await open(page, `/social.html#post=${id}&token=s3cret-${id}`, language);
    mock.social.reject(id, 'duplicate', 'fingerprint 7 of 8');
    await page.reload();
    await expect(mine(page, id)).toContainText(at);
    await expect(mine(page, id).locator('[data-reason=duplicate]')).toContainText(why);
    await expect(mine(page, id)).not.toContainText('fingerprint'); // the machine's notes are for moderators
    mock.social.reject(id, 'moderator', 'It aired <b>last week</b>');
    await page.reload();
    await expect(mine(page, id).locator('[data-reason=other]')).toContainText('It aired <b>last week</b>');
    await mine(page, id).getByRole('button', { name: /another look|إعادة النظر/ }).click();
    await expect(page.getByRole('textbox')).toBeFocused();
    await page.getByRole('textbox').fill('It is a new take.');
    await mine(page, id).getByRole('button', { name: /^(Send|أرسل)$/ }).click();
    await expect(mine(page, id)).toHaveAttribute('data-step', 'pending');
    expect(mock.social.posts.get(id)?.appeal).toBe('It is a new take.');
    await page.evaluate(() => localStorage.removeItem('athir.posts'));
  });

  test(`what the station refuses at the door says why, and what was written is kept: ${language}`, async ({ page }) => {
    await open(page, '/social.html#send', language);
    await page.getByRole('button', { name: /^(File|ملف)$/ }).click();
    await page.locator('input[type=file]').setInputFiles(sound(1000));
    await page.locator('[data-for=title]').fill('again');
    await page.locator('[data-for=artist]').fill('x');
    await page.locator('[data-for=from]').fill('x');
    await page.locator('[data-for=rights]').check();
    await page.locator('.go').last().click();
    await expect(page.locator('[data-upload=refused]')).toContainText(why);
    await page.locator('[data-upload] button').click();
    await expect(page.locator('[data-for=title]')).toHaveValue('again');
  });

  test(`a rule of the station is told in its words and never in those of its log: ${language}`, async ({ page, mock }) => {
    const errors = [{ location: 'body.title', message: 'server text' }];
    mock.social.tus.refuse = problem(507, 'server text', { reason: reasons.full });
    await open(page, '/social.html#send', language);
    await page.getByRole('button', { name: /^(File|ملف)$/ }).click();
    await page.locator('input[type=file]').setInputFiles(sound(1000));
    for (const field of ['title', 'artist', 'from']) await page.locator(`[data-for=${field}]`).fill('x');
    await page.locator('[data-for=rights]').check();
    // A queue that is full does not empty while one waits.
    await page.locator('.go').last().click();
    await expect(page.locator('[data-upload=refused]')).toContainText(reasons.full[language]);
    expect(mock.social.tus.asked).toEqual(['POST']);
    await page.locator('[data-upload] button').click();

    mock.social.tus.refuse = [429, { status: 429, detail: 'server text', reason: { ...reasons.limit, at: Date.now() + 1_800_000 } }, { 'retry-after': '1800' }];
    await page.locator('.go').last().click();
    await expect(page.locator('[data-upload=waiting]')).toContainText(reasons.limit[language]);
    await expect(page.locator('[data-upload=waiting]')).toContainText(/30|٣٠/);
    await page.getByRole('button', { name: /^(Cancel|إلغاء)/ }).click();

    mock.social.refuse = { path: '/posts', answer: problem(422, 'validation failed', { errors, reason: reasons.link }) };
    await page.getByRole('button', { name: /^(Link|رابط)$/ }).click();
    await page.locator('input[type=url]').fill('https://radio.example/x.mp3');
    await page.locator('.go').last().click();
    await expect(page.locator('[data-refused]')).toHaveText(reasons.link[language]);
    await expect(page.locator('body')).not.toContainText('server text');
  });
}

test('a post is withdrawn after one question', async ({ page, mock }) => {
  const { id } = mock.social.post({ title: 'ليل' });
  mock.social.approve(id);
  await open(page, `/social.html#post=${id}&token=s3cret-${id}`, 'en');
  await mine(page, id).getByRole('button', { name: 'Withdraw' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Keep it' }).click();
  expect(mock.social.taken).toEqual([]);
  await mine(page, id).getByRole('button', { name: 'Withdraw' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
  await expect(mine(page, id)).toHaveAttribute('data-step', 'withdrawn');
  await mine(page, id).getByRole('button', { name: 'Remove from this list' }).click();
  await expect(page.getByText('You have sent nothing')).toBeVisible();
});

test('a push is offered where the station can, and not where it cannot', async ({ page, context, mock }) => {
  await context.grantPermissions(['notifications']);
  const { id } = mock.social.post({ title: 'ليل' });
  await open(page, `/social.html#post=${id}&token=s3cret-${id}`, 'en');
  await expect(mine(page, id).getByRole('button', { name: 'Withdraw' })).toBeVisible();
  await expect(mine(page, id).getByRole('button', { name: 'Tell me' })).toHaveCount(0);
  mock.social.push = true;
  await page.reload();
  await expect(mine(page, id).getByRole('button', { name: 'Tell me' })).toBeVisible();
  await mine(page, id).getByRole('button', { name: 'Tell me' }).click();
  await expect(page.getByRole('dialog', { name: 'Notifications' })).toBeVisible();
});

test('votes, reactions and reports are one’s own, changeable, and heard by others at once', async ({ page, guest, mock }) => {
  const post = mock.social.post({ title: 'نجمة', votes: { up: 4, down: 1, mine: 0 }, reactions: { fire: 2 } });
  mock.social.approve(post.id, true);
  for (const one of [page, guest]) await open(one, '/social.html', 'en');
  const up = card(page, post.id).getByRole('button', { name: /^Vote for/ });
  await up.click();
  await expect(card(page, post.id).locator('.sum')).toHaveText(/\+4/);
  await expect(up).toHaveAttribute('aria-pressed', 'true');
  await card(page, post.id).getByRole('button', { name: /^Vote against/ }).click();
  await expect(card(page, post.id).locator('.sum')).toHaveText(/\+2/);
  await expect.poll(() => mock.social.taken).toEqual([`vote ${post.id} 1`, `vote ${post.id} -1`]); // a vote waits for the one before, a reaction for neither
  await card(page, post.id).locator('[data-kind=fire]').click();
  await expect(card(page, post.id).locator('[data-kind=fire]')).toHaveText(/3/);
  await expect.poll(() => mock.social.taken).toEqual([`vote ${post.id} 1`, `vote ${post.id} -1`, `react ${post.id} fire true`]);
  mock.social.change(post.id, { plays: 9 });
  await expect(card(guest, post.id).locator('.sum')).toHaveText(/\+2/);
  await expect(card(guest, post.id)).toContainText('aired 9 times');
  await expect(card(page, post.id).locator('[data-kind=fire]')).toHaveAttribute('aria-pressed', 'true'); // the event names nobody's own
  await page.reload();
  await expect(card(page, post.id).locator('[data-mine]')).toHaveAttribute('data-mine', '-1');

  await card(page, post.id).locator('summary').click();
  await expect(card(page, post.id)).toContainText('Has hardly been heard');
  await card(page, post.id).getByRole('button', { name: 'Report' }).click();
  await page.getByRole('dialog').getByText('It is advertising or spam').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Report it' }).click();
  await expect(card(page, post.id)).toContainText('Thank you.');
  expect(mock.social.taken.at(-1)).toBe(`report ${post.id} spam `);
  await page.reload();
  await card(page, post.id).locator('summary').click();
  await expect(card(page, post.id)).toContainText('You have reported this');
});

test('a refused vote is taken back and said with how long to wait', async ({ page, mock }) => {
  mock.social.refuse = { path: '/7/vote', answer: [429, { status: 429, detail: 'too many' }, { 'retry-after': '20' }] };
  await open(page, '/social.html', 'en');
  const before = await card(page, 7).locator('.sum').textContent();
  await card(page, 7).getByRole('button', { name: /^Vote for/ }).click();
  await expect(card(page, 7).getByRole('alert')).toContainText('That was a lot at once. Again in 20 s');
  await expect(card(page, 7).locator('.sum')).toHaveText(before as string);
});

test('the list is sorted, filtered, searched and loaded on; what comes is let in by a press', async ({ page, mock }) => {
  for (let i = 0; i < 45; i++) mock.social.approve(mock.social.post({ title: `Take ${i}`, type: 'jingles', createdAt: Date.now() - (2000 + i) * 60_000 }).id, true);
  await open(page, '/social.html', 'en');
  await expect(page.locator('[data-post]')).toHaveCount(20);
  await page.getByText('Take 12').scrollIntoViewIfNeeded();
  await expect(page.locator('[data-post]')).toHaveCount(40);
  await page.getByText('Take 32').scrollIntoViewIfNeeded();
  await expect(page.locator('[data-post]')).toHaveCount(52);
  await expect(page.getByText('That is all of them.')).toBeVisible();
  await page.getByLabel('Kind').selectOption({ label: 'Voice' });
  await expect(page.locator('[data-post]')).toHaveCount(2);
  await page.getByLabel('Search titles').fill('nothing of the kind');
  await expect(page.getByText('Nothing matches.')).toBeVisible();
  await page.getByLabel('Search titles').fill('');
  await page.getByLabel('Kind').selectOption({ label: 'All kinds' });
  await expect(page.locator('[data-post]')).toHaveCount(20);
  await follows(page);
  const fresh = mock.social.post({ title: 'Fresh' });
  mock.social.approve(fresh.id);
  await page.getByRole('button', { name: 'One new post' }).click();
  await expect(page.locator('[data-post]').first()).toContainText('Fresh');
  mock.social.change(fresh.id, { status: 'pending' });
  await expect(card(page, fresh.id)).toHaveCount(0);
  await page.getByRole('button', { name: 'Top', exact: true }).click();
  await expect(page.locator('[data-post]').first()).toContainText('Take 44');
});

test('one plays at a time, goes on while one looks elsewhere, and obeys the keyboard', async ({ page }) => {
  await open(page, '/social.html', 'en');
  const go = (id: number) => card(page, id).locator('[data-playing]');
  await go(1).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => clock(page)).toBeGreaterThan(0);
  await go(2).click();
  await expect(go(1)).toHaveAttribute('data-playing', 'false');
  await expect(go(2)).toHaveAttribute('data-playing', 'true');
  await tab(page, 'Chart').click();
  await expect(page.locator('main')).toBeFocused();
  await expect(page.locator('[data-play="2"] [data-playing=true]')).toBeVisible();
  await page.keyboard.press('Space');
  await expect(page.locator('[data-play="2"] [data-playing]')).toHaveAttribute('data-playing', 'false');
  await page.locator('[data-play="2"]').getByRole('slider').fill('0.5');
  await expect.poll(() => clock(page)).toBeGreaterThan(0.4);
  await expect(page.locator('[data-play="2"]').getByRole('slider')).toHaveAttribute('aria-valuetext', /0:(29|3\d) of 1:00/);
  await page.locator('[data-play="2"]').getByRole('button', { name: 'Close' }).click();
  await expect(page.locator('[data-play]')).toHaveCount(0);
});

test('a post has a page of its own with its waveform and a link to pass on; one that is not there says so', async ({ page, mock }) => {
  await open(page, '/social.html', 'en');
  await card(page, 2).getByRole('link').first().click();
  await expect(page).toHaveURL(/\?post=2$/);
  await expect(page.getByRole('heading', { name: 'Slow <b>River</b>' })).toBeVisible();
  await expect(page).toHaveTitle(/^Slow <b>River<\/b>/);
  await page.getByRole('button', { name: 'Share' }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(`${mock.url}/social.html?post=2`);
  await page.locator('main [data-playing]').click();
  await page.getByRole('main').getByRole('slider').fill('0.5');
  await expect.poll(() => clock(page)).toBeGreaterThan(0.4);
  await page.goBack();
  await expect(card(page, 1)).toBeVisible();
  await page.goto('/social.html?post=999');
  await expect(page.locator('[data-missing]')).toContainText('This post is not here');
  await page.goto('/social.html?post=3');
  await expect(card(page, 3)).toBeVisible();
  mock.social.change(3, { status: 'pending' });
  await expect(page.locator('[data-missing]')).toBeVisible();
});

test('what happens between the first answer and the connection is asked for once it stands', async ({ page, mock }) => {
  let connect = (): void => undefined;
  let held = Promise.resolve();
  const hold = (): void => void (held = new Promise((resolve) => (connect = resolve)));
  await page.routeWebSocket(/socket\.io/, async (socket) => {
    await held;
    socket.connectToServer();
  });
  hold();
  await open(page, '/social.html', 'en');
  await expect(card(page, 1)).toBeVisible();
  const fresh = mock.social.post({ title: 'Fresh' });
  mock.social.approve(fresh.id);
  connect();
  await expect(page.locator('[data-post]').first()).toContainText('Fresh');

  hold();
  await page.goto('/social.html?post=3');
  await expect(card(page, 3)).toBeVisible();
  mock.social.change(3, { status: 'pending' });
  connect();
  await expect(page.locator('[data-missing]')).toBeVisible();
});

test('the chart is in its order, and a closed, failing or empty station says so', async ({ page, mock }) => {
  await open(page, '/social.html#chart', 'en');
  const places = page.locator('main ol > li');
  await expect(places).toHaveCount(5);
  await expect(places.first()).toContainText('Place 1');
  mock.social.enabled = false;
  await page.goto('/social.html#send');
  await page.reload();
  await expect(page.locator('[data-closed]')).toBeVisible();
  await expect(send(page)).toHaveCount(0);
  mock.social.enabled = true;
  await page.reload();
  await expect(send(page)).toBeVisible();
  await follows(page); // or the list would be asked for twice
  mock.social.refuse = { path: '/posts', answer: problem(503, 'down') };
  await tab(page, 'Listen').click();
  await expect(page.getByRole('alert')).toContainText('Something is wrong at the station');
  mock.social.posts.clear();
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByText('Nothing here yet.')).toBeVisible();
});

test('listeners choose among songs that nobody has checked, see how far each is, and report one', async ({ page, mock }) => {
  await open(page, '/social.html', 'en');
  await expect(card(page, 1)).toBeVisible();
  await expect(page.locator('[data-choose]')).toHaveCount(0); // not unless the operator has it so
  await page.goto('/social.html#choose');
  mock.social.approveVotes = 10;
  await page.reload();
  await expect(page.getByText('There is nothing to choose from at the moment.')).toBeVisible();
  await tab(page, 'Listen').click();
  const song = mock.social.post({ title: 'شرفة <i>البحر</i>', type: 'song', votes: { up: 9, down: 1, mine: 0 } });
  mock.social.putToVote(song.id, 6.3);
  await page.locator('[data-choose]').click();
  await expect(page).toHaveTitle(/^Choose with us/);
  await expect(card(page, song.id)).toContainText('Not checked by the station yet');
  await expect(card(page, song.id).getByRole('progressbar')).toHaveAttribute('aria-valuetext', 'Votes: 6 of 10');
  await expect(card(page, song.id).locator('[data-kind]')).toHaveCount(0); // reactions are for what airs
  await card(page, song.id).locator('[data-playing]').click();
  await expect(page.locator('[data-play] [data-playing=true]')).toBeVisible();
  await card(page, song.id).getByRole('button', { name: /^Vote for/ }).click();
  await expect.poll(() => mock.social.taken).toEqual([`vote ${song.id} 1`]);
  mock.social.putToVote(song.id, 7);
  await expect(card(page, song.id).locator('[data-ballot]')).toHaveAttribute('data-ballot', '7');
  await expect(card(page, song.id).getByRole('button', { name: /^Vote for/ })).toHaveAttribute('aria-pressed', 'true');
  await card(page, song.id).locator('summary').click();
  await expect(card(page, song.id).locator('[data-score] dl')).toHaveCount(0);
  await card(page, song.id).getByRole('button', { name: 'Report' }).click();
  await page.getByRole('dialog').getByText('It insults or frightens').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Report it' }).click();
  await expect(card(page, song.id)).toContainText('Thank you.');

  await follows(page);
  const other = mock.social.post({ title: 'Slow boat' });
  mock.social.putToVote(other.id, 0);
  await page.getByRole('button', { name: 'One new song' }).click();
  await expect(card(page, other.id)).toBeVisible();
  mock.social.change(other.id, { candidate: null }); // a moderator holds it
  await expect(card(page, other.id)).toHaveCount(0);
  mock.social.approve(song.id);
  await expect(page.locator(`[data-chosen="${song.id}"]`)).toContainText('Listeners have chosen it.');
  await page.goto(`/social.html?post=${song.id}`);
  await expect(page.locator('[data-ballot]')).toHaveCount(0);
  await expect(page.locator('[data-kind=love]')).toBeVisible();
});

test('who sent a song that is put to the vote sees how far it is, and can pass it on', async ({ page, mock }) => {
  mock.social.approveVotes = 10;
  const { id } = mock.social.post({ title: 'ليل' });
  mock.social.putToVote(id, 4);
  await open(page, `/social.html#post=${id}&token=s3cret-${id}`, 'en');
  await expect(mine(page, id)).toHaveAttribute('data-step', 'voted');
  await expect(mine(page, id)).toContainText('Listeners vote on it now');
  await expect(mine(page, id)).toContainText('Votes: 4 of 10');
  await expect(mine(page, id).getByRole('button', { name: 'Share' })).toBeVisible();
  await page.goto(`/social.html?post=${id}`);
  await expect(page.locator('main')).toContainText('nobody at the station has checked it yet');
});

test('offline is said, and what is loaded stays', async ({ page, context }) => {
  await open(page, '/social.html', 'en');
  await expect(card(page, 1)).toBeVisible();
  await context.setOffline(true);
  await expect(page.getByText('You are offline.')).toBeVisible();
  await expect(card(page, 1)).toBeVisible();
  await context.setOffline(false);
  await expect(page.getByText('You are offline.')).toHaveCount(0);
});

/** Brings the page to each of its faces. */
const views: Record<string, (page: Page, mock: Mock, language: 'ar' | 'en') => Promise<void>> = {
  listen: async (page) => {
    await card(page, 1).locator('[data-playing]').click();
    await card(page, 1).locator('summary').click();
    await card(page, 2).locator('summary').click();
    await card(page, 2).locator('[data-score] button').click();
    await expect(page.getByRole('dialog')).toBeVisible();
    await expectAccessible(page, 'dialog');
    await page.keyboard.press('Escape');
  },
  send: async (page) => {
    await page.goto('/social.html#send');
    await page.locator('.go').last().click();
    await page.getByRole('button', { name: /^(File|ملف)$/ }).click();
  },
  mine: async (page, mock) => {
    const all = [mock.social.post(), mock.social.post(), mock.social.post()];
    await page.evaluate((ids) => localStorage.setItem('athir.posts', JSON.stringify(ids.map((id) => ({ id, token: `s3cret-${id}`, title: 'x', type: 'song', at: Date.now() })))), all.map(({ id }) => id));
    mock.social.approve(all[1]!.id);
    mock.social.reject(all[2]!.id, 'moderator', 'Too quiet');
    await page.goto('/social.html#mine');
    await page.reload();
    await expect(mine(page, all[2]!.id)).toHaveAttribute('data-step', 'rejected');
  },
  choose: async (page, mock) => {
    mock.social.approveVotes = 10;
    mock.social.putToVote(mock.social.post({ title: 'شرفة البحر', votes: { up: 12, down: 2, mine: 0 } }).id, 7.5);
    const chosen = mock.social.post({ title: 'Slow boat', type: 'mashup' });
    mock.social.putToVote(chosen.id, 9);
    await page.goto('/social.html#choose');
    await page.reload();
    await expect(card(page, chosen.id)).toBeVisible();
    await follows(page); // what was chosen before would not be listed
    mock.social.approve(chosen.id);
    await expect(page.locator('[data-chosen]')).toBeVisible();
  },
  chart: async (page) => {
    await page.goto('/social.html#chart');
    await expect(page.locator('main ol > li')).toHaveCount(5);
  },
  post: async (page) => {
    await page.goto('/social.html?post=1');
    await card(page, 1).locator('[data-playing]').click();
    await card(page, 1).locator('summary').click();
  },
};

for (const [language, colorScheme] of faces) {
  for (const [name, set] of Object.entries(views)) {
    test(`axe finds nothing, and it fits a small phone: ${name} ${language} ${colorScheme}`, async ({ page, mock }) => {
      await page.emulateMedia({ colorScheme });
      await open(page, '/social.html', language);
      await expect(card(page, 1)).toBeVisible();
      await set(page, mock, language);
      await expectAccessible(page);
      await expectFits(page);
    });
  }
}
