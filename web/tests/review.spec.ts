import type { Page } from '@playwright/test';
import { expect, expectAccessible, expectFits, expectNews, faces, open, stopClock, test } from './fixtures';
import type { Mock } from './mock/mock';

// The moderators' queue of the studio.

const hand = (page: Page) => page.locator('article[data-hand]');
const rows = (page: Page) => page.locator('li[data-post]');
const deck = (page: Page) => page.locator('[data-sound]');
const outcome = (page: Page) => page.locator('.outcome');
const filter = (page: Page, name: string) => page.locator(`[data-filter=${name}]`);

/** The queue of one who has the moderators' key from before. */
async function openQueue(page: Page, mock: Mock, language: 'ar' | 'en' = 'en'): Promise<void> {
  await page.addInitScript((key) => sessionStorage.setItem('athir.admin-key', key), mock.review.adminKey);
  await open(page, '/studio#/review', language);
  if (mock.review.posts.size > 0) await expect(hand(page)).toBeVisible();
}

/**
 * Stops the page's clock once the queue is at rest: the eight seconds in which a decision can be undone do not
 * pass. The queue, of three statuses, is asked for again once events come: that must be over when a minute passes
 * at once. page.clock.install() comes before, and asking() before the page is opened.
 */
async function stopAtRest(page: Page, mock: Mock, asked: ReadonlySet<unknown>): Promise<void> {
  await atRest(mock, asked);
  await stopClock(page);
}

/** Waits until the queue has been asked for again as events began to come, and nothing more is on its way. */
async function atRest(mock: Mock, asked: ReadonlySet<unknown>): Promise<void> {
  await expect.poll(() => mock.asked.filter((path) => path === '/api/social/posts').length >= 6 && asked.size === 0).toBe(true);
}

/** What the page has asked about posts and not been answered. */
function asking(page: Page): ReadonlySet<unknown> {
  const asked = new Set<unknown>();
  page.on('request', (request) => request.url().includes('/api/social/') && asked.add(request));
  page.on('requestfinished', (request) => asked.delete(request));
  page.on('requestfailed', (request) => asked.delete(request));
  return asked;
}

const orders = ({ review }: Mock) => review.taken.map(({ order, body }) => `${order.replace('POST /posts/', '')}${body.code ? ` ${String(body.code)}` : ''}`);

test('a moderator comes in with their own key, and sees nothing of the station’s controls', async ({ page, mock }) => {
  mock.review.fill(2);
  await open(page, '/studio#/review', 'en');
  await page.getByRole('main').getByRole('button', { name: 'Open' }).click();
  const door = page.getByRole('dialog', { name: 'The station’s key' });
  await door.getByLabel('moderators’ key').fill('neither');
  await door.getByLabel('moderators’ key').press('Enter');
  await expect(page.getByRole('alert')).toHaveText('This is neither the station’s key nor the moderators’.');
  await door.getByLabel('moderators’ key').fill(mock.review.adminKey);
  await door.getByLabel('moderators’ key').press('Enter');
  await expect(hand(page)).toContainText('قمر على الكورنيش');
  await expect(page.getByRole('navigation').getByRole('link')).toHaveText([/Posts\s*2/]);
  await expect(page.getByRole('button', { name: 'Skip' })).toHaveCount(0);
  expect(await page.evaluate(() => [sessionStorage.getItem('athir.station-key'), sessionStorage.getItem('athir.admin-key')])).toEqual([null, mock.review.adminKey]);
  await page.keyboard.press('a');
  await expect.poll(() => mock.review.taken.map(({ order, by }) => [order, by])).toEqual([['POST /posts/1/approve', 'admin']]);
  await page.reload();
  await expect(hand(page)).toContainText('Slow River');
  await page.getByRole('button', { name: 'Forget the key' }).click();
  await expect(page.getByRole('navigation').getByRole('link')).toHaveCount(11);
});

test('the operator has it as one more section, with the number that waits', async ({ page, mock }) => {
  mock.review.fill(3);
  await page.addInitScript((key) => sessionStorage.setItem('athir.station-key', key), mock.control.key);
  await open(page, '/studio', 'en');
  await page.getByRole('button', { name: 'Rebuild' }).click(); // the key has opened something
  await expect(page.getByRole('link', { name: /^Posts/ }).getByRole('img', { name: '3 wait' })).toBeVisible();
  await page.getByRole('link', { name: /^Posts/ }).click();
  await expect(hand(page)).toBeVisible();
  await expect(page.getByRole('button', { name: 'Skip' })).toBeVisible();
  await page.keyboard.press('a');
  await expect.poll(() => mock.review.taken[0]?.by).toBe('station');
  await expect(page.getByRole('img', { name: '2 wait' })).toBeVisible();
});

test('twelve posts are handled by keyboard alone', async ({ page, mock }) => {
  mock.review.fill(12);
  await openQueue(page, mock);
  await expect(rows(page)).toHaveCount(12);
  await expect(hand(page)).toHaveAttribute('data-hand', '1'); // the oldest

  // Heard from its loudest ten seconds, then from the start, then 5 s ahead.
  await expect(deck(page)).toHaveAttribute('data-sound', 'ready');
  await page.keyboard.press('Space');
  await expect(deck(page)).toHaveAttribute('data-playing', 'true');
  const at = async () => Number(await page.getByRole('slider').getAttribute('aria-valuenow'));
  await expect.poll(at).toBeGreaterThanOrEqual(20);
  await page.keyboard.press('Space');
  await expect(deck(page)).toHaveAttribute('data-playing', 'false');
  await page.keyboard.press('Shift+Space');
  await expect.poll(at).toBeLessThan(15);
  await page.keyboard.press('Space');
  await expect(deck(page)).toHaveAttribute('data-playing', 'false');
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))); // its place is drawn once more
  const before = await at();
  await page.keyboard.press('ArrowRight');
  await expect.poll(at).toBeCloseTo(before + 5, 0);

  await page.keyboard.press('a');
  await expect(hand(page)).toHaveAttribute('data-hand', '2');
  await page.keyboard.press('j'); // leaves 2 for later
  await page.keyboard.press('r');
  await expect(page.getByRole('dialog', { name: /^Reject / })).toBeVisible();
  await page.keyboard.press('5');
  await expect(hand(page)).toHaveAttribute('data-hand', '4');
  await page.keyboard.press('h');
  await expect(page.getByLabel('What is it waiting for?')).toBeFocused();
  await page.keyboard.type('ask about j and a and 1');
  await page.keyboard.press('Enter');
  await expect(hand(page)).toHaveAttribute('data-hand', '5');
  await page.keyboard.press('p');
  await expect(hand(page)).toHaveAttribute('data-hand', '6');
  await page.keyboard.press('r');
  await expect(page.getByRole('dialog')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.keyboard.press('k');
  await expect(hand(page)).toHaveAttribute('data-hand', '2');
  await page.keyboard.press('a');
  for (const id of ['6', '7', '8', '9']) {
    await expect(hand(page)).toHaveAttribute('data-hand', id);
    await page.keyboard.press('a');
  }
  // The last three at once.
  await page.keyboard.press('Shift+J');
  await page.keyboard.press('Shift+J');
  await expect(page.getByRole('region', { name: 'Decide' })).toContainText('3 selected');
  await page.keyboard.press('a');
  await expect(page.getByRole('heading', { name: 'Nothing waits' })).toBeVisible();
  await expect.poll(() => orders(mock)).toEqual(['1/approve', '3/reject offensive', '4/hold', '5/process', '2/approve', '6/approve', '7/approve', '8/approve', '9/approve', 'POST /decide']);
  expect(mock.review.taken.find(({ order }) => order.endsWith('hold'))?.body.note).toBe('ask about j and a and 1');
  expect(mock.review.taken.at(-1)?.body).toEqual({ ids: [10, 11, 12], action: 'approve' });
  await filter(page, 'held').click();
  await expect(hand(page)).toContainText('ask about j and a and 1');
});

test('on an Arabic keyboard the same keys act by their place', async ({ page, mock }) => {
  mock.review.fill(2);
  await openQueue(page, mock, 'ar');
  await page.evaluate(() => document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'ش', code: 'KeyA', bubbles: true, cancelable: true })));
  await expect.poll(() => orders(mock)[0]).toBe('1/approve');
});

test('a decision is sent at once, and undone within eight seconds it is back in hand', async ({ page, mock }) => {
  mock.review.fill(3);
  await page.clock.install();
  const asked = asking(page);
  await openQueue(page, mock);
  await stopAtRest(page, mock, asked);
  await page.keyboard.press('a');
  await expectNews(page, /Approved: .?قمر على الكورنيش/);
  await expect.poll(() => mock.review.posts.get(1)?.status).toBe('approved');
  await page.keyboard.press('a');
  await expect.poll(() => mock.review.posts.get(2)?.status).toBe('approved');
  await page.getByRole('log').getByRole('button', { name: 'Undo (U)' }).last().click();
  await expect(hand(page)).toHaveAttribute('data-hand', '2');
  await expect.poll(() => mock.review.posts.get(2)?.status).toBe('pending');
  await page.keyboard.press('u'); // the one before it
  await expect(hand(page)).toHaveAttribute('data-hand', '1');
  await expect.poll(() => mock.review.posts.get(1)?.status).toBe('pending');

  // Several come back selected.
  await page.keyboard.press('x');
  await page.keyboard.press('Shift+J');
  await page.keyboard.press('r');
  await page.keyboard.press('2');
  await expect(hand(page)).toHaveAttribute('data-hand', '3');
  await page.keyboard.press('u');
  await expect(rows(page)).toHaveCount(3);
  await expect(rows(page).getByRole('checkbox', { checked: true })).toHaveCount(2);
  await expect.poll(() => mock.review.taken.at(-1)?.body).toEqual({ ids: [1, 2], action: 'review' });

  await page.keyboard.press('Escape');
  await page.keyboard.press('a');
  await expect.poll(() => mock.review.taken.at(-1)?.order).toMatch(/approve$/);
  const sent = mock.review.taken.length;
  await page.clock.fastForward(8100);
  await expect(page.getByRole('log').getByRole('button', { name: 'Undo (U)' })).toHaveCount(0);
  await page.keyboard.press('u');
  await expectNews(page, 'Nothing to undo');
  expect(mock.review.taken).toHaveLength(sent);
});

test('what is decided before the undo of it is answered comes back as it was shown', async ({ page, mock }) => {
  mock.review.fill(3);
  await page.clock.install();
  const asked = asking(page);
  await openQueue(page, mock);
  await stopAtRest(page, mock, asked);
  await page.keyboard.press('a');
  await expect.poll(() => mock.review.posts.get(1)?.status).toBe('approved');
  let answer = () => {};
  mock.review.held = new Promise((done) => (answer = done));
  await page.keyboard.press('u');
  await expect(hand(page)).toHaveAttribute('data-hand', '1');
  await page.keyboard.press('x');
  await page.keyboard.press('Shift+J');
  await page.keyboard.press('r');
  await page.keyboard.press('2');
  await expect.poll(() => mock.review.taken).toHaveLength(3);
  answer();
  await page.keyboard.press('u');
  await expect(rows(page).getByRole('checkbox', { checked: true })).toHaveCount(2);
  await expect(hand(page)).toHaveAttribute('data-hand', '2');
});

test('several at once with one that is refused: what was done, and why that one was not', async ({ page, mock }) => {
  mock.review.fill(5);
  mock.review.refusals.set(2, 'post 2: its file is gone');
  await page.clock.install();
  const asked = asking(page);
  await openQueue(page, mock);
  await stopAtRest(page, mock, asked);
  await page.keyboard.press('*');
  await expect(rows(page).getByRole('checkbox', { checked: true })).toHaveCount(5);
  await page.keyboard.press('a');
  await expect(outcome(page)).toContainText('4 were done, one was refused:');
  await expect(outcome(page)).toContainText('Slow River');
  await expect(outcome(page)).toContainText('post 2: its file is gone');
  await expectNews(page, 'Approved 4 posts');
  await expect(rows(page)).toHaveCount(1);
  await expect(hand(page)).toContainText('post 2: its file is gone');
  await page.keyboard.press('u'); // only what was done is undone
  await expect.poll(() => mock.review.taken.at(-1)?.body).toEqual({ ids: [1, 3, 4, 5], action: 'review' });
  await expect(rows(page)).toHaveCount(5);
});

test('the next is in hand while the station still thinks; a failure brings the post back and says why', async ({ page, mock }) => {
  mock.review.fill(3);
  let answer = () => undefined as void;
  mock.review.held = new Promise((done) => (answer = done));
  mock.review.fails = 503;
  await openQueue(page, mock);
  await page.keyboard.press('a');
  await expect(hand(page)).toHaveAttribute('data-hand', '2');
  await expect(rows(page)).toHaveCount(2);
  answer();
  await expectNews(page, /Not approved: .*It is back in the queue\..*the database is locked/);
  await expect(rows(page)).toHaveCount(3);
  await expect(rows(page).first()).toContainText('The last decision failed');
  await expect(hand(page)).toHaveAttribute('data-hand', '2'); // the hands are left alone
});

test('what another moderator decides stays under the hands, says who did what, and cannot be decided again', async ({ page, mock }) => {
  mock.review.fill(3);
  await openQueue(page, mock);
  await page.keyboard.press('j');
  await expect(hand(page)).toHaveAttribute('data-hand', '2');
  mock.review.decideElsewhere(2, 'reject', 'moderator 192.0.2.9');
  await expect(hand(page)).toContainText('Rejected by a moderator 192.0.2.9 just now');
  await expect(rows(page)).toHaveCount(2);
  await page.keyboard.press('a');
  await expectNews(page, 'Already decided by someone else');
  expect(mock.review.taken).toEqual([]);
  await page.keyboard.press('j');
  await expect(hand(page)).toHaveAttribute('data-hand', '3');
  mock.review.decideElsewhere(1, 'approve', 'moderator 192.0.2.9'); // not in hand: it leaves quietly
  await expect(rows(page)).toHaveCount(1);
  await expect(hand(page)).not.toContainText('192.0.2.9');
});

test('a post is shown with all that speaks for and against it', async ({ page, mock }) => {
  mock.review.fill(4);
  const other = mock.review.add({ status: 'rejected', title: 'قمر الكورنيش', submitter: { id: 's1', posts: 3, approved: 1, rejected: 1, trusted: false, blocked: false } });
  mock.review.add({
    title: 'Win at www.spam.example', createdAt: 1000, submitter: { id: 's1', posts: 3, approved: 1, rejected: 1, trusted: false, blocked: false }, reports: [{ at: Date.now() - 60_000, why: 'spam' }], reason: { code: 'reported', en: 'Reported by listeners', ar: 'أبلغ عنها مستمعون' },
    duplicates: [{ post: other.id, title: other.title, artist: '', difference: 0.034, sameName: true, status: 'rejected' }, { file: 'music/a.mp3', title: 'In the library', artist: '', difference: 0.2, sameName: false }],
  });
  await openQueue(page, mock);
  await filter(page, 'reported').click();
  await expect(hand(page)).toContainText('Contains a link or handle: www.spam.example');
  await expect(hand(page)).toContainText('Reported by listeners');
  await expect(hand(page)).toContainText(/−19\.3 LUFS.* → .*−14\.1 LUFS/);
  await expect(hand(page)).toContainText('allowed 45 secs to 10:00');
  await expect(hand(page)).toContainText('3.4% apart');
  await expect(hand(page).locator('.wave path.whole')).toHaveCount(2); // its own, and that of what is the closest to it
  await expect(hand(page).locator('canvas')).toBeVisible();

  // A and B in alternation, at the same place.
  await expect(deck(page)).toHaveAttribute('data-sound', 'ready');
  await page.keyboard.press('Space');
  await page.keyboard.press('ArrowRight');
  await expect(deck(page)).toHaveAttribute('data-playing', 'true');
  const at = async () => Number(await page.getByRole('slider').first().getAttribute('aria-valuenow'));
  await expect.poll(at).toBeGreaterThan(5);
  const compared = hand(page).getByRole('group', { name: /^Compare with .*قمر/ });
  await compared.getByRole('button', { name: 'B: the other' }).click();
  await expect(compared.getByRole('button', { name: 'B: the other' })).toHaveAttribute('aria-pressed', 'true');
  await expect(deck(page)).toHaveAttribute('data-playing', 'true');
  await expect.poll(at).toBeGreaterThan(5);
  expect(mock.count(`/api/social/posts/${other.id}/audio`)).toBe(1);
  await page.keyboard.press('c');
  await expect(compared.getByRole('button', { name: 'A: this post' })).toHaveAttribute('aria-pressed', 'true');
  expect(mock.asked.filter((path) => path.endsWith('/audio') && path !== `/api/social/posts/${other.id}/audio`).length).toBeLessThanOrEqual(3); // kept, not fetched again

  await hand(page).getByRole('button', { name: 'What they sent before' }).click();
  await expect(hand(page).getByRole('list', { name: 'What they sent before' })).toContainText('قمر الكورنيش');
  await hand(page).getByRole('button', { name: 'Block' }).click();
  await expectNews(page, 'Blocked');
  await expect(hand(page).getByRole('button', { name: 'Unblock' })).toBeVisible();
  expect(mock.review.taken.at(-1)).toMatchObject({ order: 'POST /submitters/s1', body: { trusted: false, blocked: true } });
});

for (const language of ['en', 'ar'] as const) {
  test(`a post and the library’s track that it is like are heard side by side: ${language}`, async ({ page, mock }) => {
    const { id } = mock.review.add({
      title: 'copy', loudestAt: 0, duplicates: [{ file: 'music/ليالي.mp3', title: 'ليالي النيل', artist: 'x', difference: 0.2, sameName: false }, { file: 'music/b.mp3', title: 'Second', artist: '', difference: 0.3, sameName: false }],
    });
    await openQueue(page, mock, language);
    const [first, second] = [hand(page).locator('[data-duplicate="0"]'), hand(page).locator('[data-duplicate="1"]')];
    // Both waveforms stand there before a key is pressed; that of the next track comes once it is heard.
    await expect(hand(page).locator('.deck path.whole')).toHaveCount(1);
    await expect(first.locator('path.whole')).toHaveCount(1);
    await expect(second.locator('path.whole')).toHaveCount(0);
    await page.keyboard.press('Shift+Space');
    await expect(deck(page)).toHaveAttribute('data-playing', 'true');
    const at = async () => Number(await first.getByRole('slider').getAttribute('aria-valuenow'));
    await expect.poll(at).toBeGreaterThan(1);
    const before = await at();
    await page.keyboard.press('c');
    await expect(first.locator('[data-lane]')).toHaveAttribute('data-lane', 'on');
    await expect(deck(page)).toHaveAttribute('data-playing', 'true');
    await expect.poll(at).toBeGreaterThan(0); // none while the other is put on
    expect(await at()).toBeGreaterThanOrEqual(before);
    await page.keyboard.press('c');
    await expect(first.locator('[data-lane]')).toHaveAttribute('data-lane', 'off');
    await second.getByRole('button').last().click();
    await expect(second.locator('path.whole')).toHaveCount(1);
    await expect(deck(page)).toHaveAttribute('data-playing', 'true');
    await page.keyboard.press('c'); // back, and again to what was heard last
    await expect(second.locator('[data-lane]')).toHaveAttribute('data-lane', 'off');
    await page.keyboard.press('c');
    await expect(second.locator('[data-lane]')).toHaveAttribute('data-lane', 'on');
    expect(mock.count(`/api/social/posts/${id}/alike`)).toBe(2); // each is fetched once
    await page.keyboard.press('Space');
    await second.getByRole('slider').click({ position: { x: 2, y: 10 } });
    await expect.poll(async () => Number(await second.getByRole('slider').getAttribute('aria-valuenow'))).toBeLessThan(1);
    await page.keyboard.press('?');
    await expect(page.getByRole('dialog').locator('dt', { hasText: /^C$/ })).toBeVisible();
  });
}

test('filters, types and a search narrow the queue, each with its count', async ({ page, mock }) => {
  mock.review.fill(8);
  mock.review.add({ status: 'failed', title: 'broken' });
  mock.review.add({ status: 'rejected', title: 'long', reason: { code: 'too_long', en: 'Longer than its type allows', ar: 'أطول مما يسمح به نوعها' }, history: [{ at: 1, who: 'machine', action: 'refuse' }] });
  mock.review.add({ status: 'rejected', title: 'please', appeal: 'It is my own song', reason: { code: 'duplicate', en: 'We have this already', ar: 'موجود لدينا' }, history: [{ at: 1, who: 'machine', action: 'refuse' }, { at: 2, who: 'submitter', action: 'appeal' }] });
  mock.review.add({ status: 'approved', title: 'heard' });
  await openQueue(page, mock);
  await expect(filter(page, 'waiting')).toHaveAccessibleName('Waiting: 8');
  for (const [name, title] of [['failed', 'broken'], ['refused', 'long'], ['appeals', 'please']] as const) {
    await expect(filter(page, name)).toContainText('1');
    await filter(page, name).click();
    await expect(hand(page)).toContainText(title);
  }
  await expect(hand(page)).toContainText('It is my own song');
  await filter(page, 'all').click();
  await expect(rows(page)).toHaveCount(12);
  await filter(page, 'waiting').click();
  await page.locator('[data-sort]').click();
  await expect(rows(page).first()).toContainText('هوية المحطة');
  await page.getByLabel('Type').selectOption('song');
  await expect(rows(page)).toHaveCount(3);
  await page.getByRole('searchbox').fill('slow');
  await expect(rows(page)).toHaveCount(1);
  await page.getByRole('searchbox').fill('nothing of the kind');
  await expect(page.getByText('No post matches.')).toBeVisible();
});

test('what listeners vote on is told apart, with its votes, and a decision takes it out of the vote', async ({ page, mock }) => {
  mock.review.fill(2);
  await page.clock.install();
  const asked = asking(page);
  await openQueue(page, mock);
  await expect(filter(page, 'waiting')).toContainText('2');
  await expect(filter(page, 'candidates')).toHaveCount(0); // not unless the operator has it so
  mock.review.approveVotes = 10;
  mock.review.add({ title: 'شرفة', candidate: { needed: 10, has: 7.4 } });
  mock.review.tell();
  await expect(filter(page, 'candidates')).toHaveAccessibleName('Put to the vote: 1');
  await expect(filter(page, 'waiting')).toContainText('2');
  await filter(page, 'candidates').click();
  await expect(rows(page)).toContainText('Votes: 7 of 10');
  await expect(hand(page).locator('[data-votes]')).toContainText('Votes: 7 of 10');
  await stopAtRest(page, mock, asked);
  await page.keyboard.press('a');
  await expect.poll(() => orders(mock)).toEqual(['3/approve']);
  await expect(filter(page, 'candidates')).toHaveAccessibleName('Put to the vote: 0');
  await page.keyboard.press('u');
  await expect.poll(() => orders(mock)).toEqual(['3/approve', '3/review']);
  await expect(filter(page, 'waiting')).toHaveAccessibleName('Waiting: 3');
});

test('a queue longer than a page is known to its end', async ({ page, mock }) => {
  mock.review.fill(120);
  await openQueue(page, mock);
  await expect(rows(page)).toHaveCount(120);
  await expect(hand(page)).toHaveAttribute('data-hand', '1');
});

test('new posts arrive by themselves, and the sound of the next is there before it is in hand', async ({ page, mock }) => {
  await openQueue(page, mock);
  await expect(page.getByRole('heading', { name: 'Nothing waits' })).toBeVisible();
  mock.review.fill(3);
  mock.review.tell();
  await expect(rows(page)).toHaveCount(3);
  await expect.poll(() => mock.count('/api/social/posts/2/audio')).toBe(1);
  await page.getByLabel('Play by itself').check();
  await page.keyboard.press('a'); // the focus is in a checkbox, and types nothing
  await expect(hand(page)).toHaveAttribute('data-hand', '2');
  await expect(deck(page)).toHaveAttribute('data-playing', 'true');
  expect(mock.count('/api/social/posts/2/audio')).toBe(1);
});

test('the picture inside a post is seen with the key, and covered where listeners reported it', async ({ page, mock }) => {
  mock.review.add({ title: 'Plain', cover: '/api/social/posts/1/cover', createdAt: Date.now() - 90_000 });
  mock.review.add({ title: 'Reported', cover: '/api/social/posts/2/cover', reports: [{ at: Date.now(), why: 'offensive' }] });
  await openQueue(page, mock);
  await expect(hand(page)).toContainText('Plain');
  await hand(page).getByRole('button', { name: 'Enlarge the picture of Plain' }).click();
  const large = page.getByRole('dialog', { name: 'Picture of Plain' }).getByRole('img');
  await expect.poll(() => large.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(192);
  await page.keyboard.press('Escape');
  await rows(page).filter({ hasText: 'Reported' }).getByRole('button').first().click();
  await hand(page).getByRole('button', { name: 'Show the picture of Reported' }).click();
  await expect(hand(page).getByRole('button', { name: 'Enlarge the picture of Reported' })).toBeVisible();
  await expectAccessible(page, 'article[data-hand]');
});

test('the door names the file and the settings as they are written, from left to right in Arabic too', async ({ page, mock }) => {
  mock.review.fill(1);
  await open(page, '/studio#/review', 'ar');
  await page.getByRole('main').getByRole('button', { name: 'فتح' }).click();
  const codes = page.locator('#door-where code');
  await expect(codes).toHaveText(['station_key:', 'social_admin_key:', 'athir.yaml', 'STATION_KEY', 'SOCIAL_ADMIN_KEY']);
  for (const direction of await codes.evaluateAll((all) => all.map((code) => getComputedStyle(code).direction))) expect(direction).toBe('ltr');
  await expectAccessible(page, 'dialog[open]');
});

test('closed, a wrong key, and a station that does not answer are told apart', async ({ page, mock }) => {
  mock.review.fill(2);
  mock.review.adminKey = '';
  await page.addInitScript((key) => sessionStorage.setItem('athir.station-key', key), mock.control.key);
  await open(page, '/studio#/review', 'en');
  await expect(page.locator('[data-closed]')).toContainText('social_admin_key is not set');
  mock.review.adminKey = 'set now';
  await page.reload();
  await expect(hand(page)).toBeVisible();
  mock.apiDown = true;
  await page.keyboard.press('a');
  await expectNews(page, /Not approved/);
  await expect(page.getByText('decisions wait until it is back')).toBeVisible();
  await expect(rows(page)).toHaveCount(2);
  mock.apiDown = false;
  mock.control.key = 'another';
  await page.reload();
  await expect(page.getByText('Reviewing takes the station key or the moderators’ key.')).toBeVisible();
});

test('single keys can be turned off', async ({ page, mock }) => {
  mock.review.fill(2);
  await openQueue(page, mock);
  await page.keyboard.press('?');
  await page.getByLabel('Single keys act').uncheck();
  await page.keyboard.press('Escape');
  await page.keyboard.press('j');
  await page.keyboard.press('a');
  await expect(hand(page)).toHaveAttribute('data-hand', '1');
  expect(mock.review.taken).toEqual([]);
});

test.describe('on a phone', () => {
  test.use({ viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });

  test('posts are heard and decided by big buttons, and nothing is cut off', async ({ page, mock }) => {
    mock.review.fill(4);
    await page.clock.install();
    const asked = asking(page);
    await openQueue(page, mock, 'ar');
    await expectFits(page);
    const bar = page.getByRole('region', { name: 'القرار' });
    for (const name of ['قبول', 'رفض', 'تعليق', 'إعادة المعالجة']) {
      await expect(bar.getByRole('button', { name })).toBeInViewport({ ratio: 1 });
      expect((await bar.getByRole('button', { name }).boundingBox())?.height).toBeGreaterThanOrEqual(44);
    }
    await page.locator('[data-play]').tap();
    await expect(deck(page)).toHaveAttribute('data-playing', 'true');
    await hand(page).getByText('السجلّ').scrollIntoViewIfNeeded();
    await expect(hand(page).locator('h3')).not.toBeInViewport();
    await bar.getByRole('button', { name: 'قبول' }).tap();
    await expect(hand(page)).toHaveAttribute('data-hand', '2');
    await expect(hand(page).locator('h3')).toBeInViewport();
    await stopAtRest(page, mock, asked);
    await bar.getByRole('button', { name: 'رفض' }).tap();
    await page.getByRole('dialog').getByRole('button', { name: /دعاية/ }).tap();
    await expect(hand(page)).toHaveAttribute('data-hand', '3');
    await bar.getByRole('button', { name: 'تراجع' }).tap();
    await expect(hand(page)).toHaveAttribute('data-hand', '2');
    await expect.poll(() => orders(mock)).toEqual(['1/approve', '2/reject advertising', '2/review']);
    await expectFits(page);
  });
});

for (const [language, colorScheme] of faces) {
  test(`axe finds nothing in the review: ${language} ${colorScheme}`, async ({ page, mock }) => {
    await page.emulateMedia({ colorScheme });
    await openQueue(page, mock, language);
    await expect(page.locator('.nothing')).toBeVisible();
    await expectAccessible(page);
    mock.review.fill(6);
    mock.review.add({ createdAt: 1, appeal: 'رجاءً', reports: [{ at: Date.now(), why: 'rights' }], duplicates: [{ post: 2, title: 'x', artist: 'y', difference: 0.01, sameName: true, status: 'approved' }] });
    mock.review.tell();
    await expect(rows(page).first()).toBeVisible();
    await filter(page, 'appeals').click();
    await expect(hand(page).locator('canvas')).toBeVisible();
    await page.keyboard.press('x');
    await expectAccessible(page);
    await page.keyboard.press('r');
    await expect(page.getByRole('dialog')).toBeVisible();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await expect(page.getByRole('dialog')).toBeVisible();
    await expectAccessible(page);
  });
}

test('what is told while the queue is being asked for is not missed', async ({ page, mock }) => {
  const under = asking(page);
  await openQueue(page, mock);
  await expect(page.locator('.nothing')).toBeVisible();
  await atRest(mock, under); // events come
  let go = () => {};
  const held = new Promise<void>((resolve) => (go = resolve));
  let asked = 0;
  await page.route(/\/api\/social\/posts\?status=rejected/, async (route) => {
    const answer = await route.fetch();
    if (asked++ === 0) await held; // the look before knows nothing of the posts
    await route.fulfill({ response: answer });
  });
  mock.review.tell();
  await expect.poll(() => asked).toBe(1);
  mock.review.fill(2);
  mock.review.tell();
  await expect(page.getByRole('img', { name: '2 wait' })).toBeVisible(); // it was told
  go();
  await expect(rows(page)).toHaveCount(2);
});
