import type { Page } from '@playwright/test';
import { enter, expect, expectSound, link, open, playButton, test, write } from './fixtures';

// What only a station that can be broken on purpose shows: these run against the mock.

const comments = (page: Page) => page.locator('section[aria-labelledby=comments] li[data-id]');
const messages = (page: Page) => page.locator('article');
const state = (page: Page) => page.locator('.room .state');

test('what is written while the station is away goes out when it is back, once and in order', async ({ page, guest, mock }) => {
  await enter(page, 'نور', 'ar');
  await enter(guest, 'Omar', 'en');
  await write(page, 'قبل');
  await expect(messages(guest).filter({ hasText: 'قبل' })).toHaveCount(1);
  const back = mock.vanish();
  await expect(state(page)).toHaveAttribute('data-link', 'lost');
  await expect(state(page)).toContainText('انقطع الاتصال');
  for (const text of ['أولى', 'ثانية', 'ثالثة']) await write(page, text);
  await expect(page.locator('.pending')).toHaveCount(3);
  await expect(page.locator('.pending').first()).toContainText('يُرسل عند عودة الاتصال');
  back();
  mock.audience.say({ user: 'Guest', text: 'first after the outage' });
  await expect(page.locator('.pending')).toHaveCount(0);
  for (const reader of [page, guest]) {
    await expect(messages(reader).filter({ hasText: /أولى|ثانية|ثالثة/ })).toHaveText([/أولى/, /ثانية/, /ثالثة/]);
    await expect(messages(reader).filter({ hasText: 'first after the outage' })).toHaveCount(1); // missed by event, found in the history
    await expect(messages(reader).filter({ hasText: 'قبل' })).toHaveCount(1);
  }
  expect(mock.audience.messages.filter(({ type }) => type === 'text')).toHaveLength(5);
});

test('a connection that breaks is taken up where it broke: nothing is missed, and nothing asked again', async ({ page, guest, mock }) => {
  await open(page, '/', 'en');
  await expect(link(page)).toHaveAttribute('data-link', 'live');
  await enter(guest, 'نور', 'ar');
  mock.audience.comment('Omar', 'before');
  mock.audience.say({ user: 'Omar', text: 'before' });
  await expect(comments(page).filter({ hasText: 'before' })).toHaveCount(1);
  await expect(messages(guest).filter({ hasText: 'before' })).toHaveCount(1);
  const asked = mock.count('/api/comments');
  const joined = mock.audience.joined;
  for (const n of [1, 2, 3]) {
    mock.audience.close();
    mock.audience.comment('Omar', `away ${n}`);
    mock.audience.say({ user: 'Omar', text: `away ${n}` });
    await expect(comments(page).filter({ hasText: `away ${n}` })).toHaveCount(1);
    await expect(messages(guest).filter({ hasText: `away ${n}` })).toHaveCount(1);
  }
  await write(guest, 'back');
  await expect(messages(guest).filter({ hasText: /before|away|back/ })).toHaveText([/before/, /away 1/, /away 2/, /away 3/, /back/]);
  await expect(comments(page).filter({ hasText: /before|away/ })).toHaveCount(4);
  expect([mock.count('/api/comments'), mock.audience.joined]).toEqual([asked, joined]);
});

test('a name entered while there is no connection comes in once there is one', async ({ page, mock }) => {
  await open(page, '/chat', 'en');
  await expect(page.locator('#name')).toBeVisible();
  await expect.poll(() => mock.audience.io.sockets.sockets.size).toBe(1); // what cannot begin to connect loads again
  const back = mock.vanish();
  await expect(page.locator('#refused')).toContainText('Trying again');
  await page.locator('#name').fill('Omar');
  await page.locator('#name').press('Enter');
  await expect(page.getByRole('button', { name: 'Entering…' })).toBeDisabled();
  back();
  await expect(page.locator('textarea')).toBeVisible();
  await write(page, 'patient');
  await expect(messages(page).filter({ hasText: 'patient' })).toHaveCount(1);
});

test('an answer lost on the way doubles neither a message nor a comment', async ({ page, guest, mock }) => {
  await enter(page, 'Nour', 'en');
  mock.audience.loseAnswer = true;
  await write(page, 'only once');
  await expect.poll(() => mock.audience.written.length).toBe(2); // sent again, under one id
  await expect(page.locator('.pending')).toHaveCount(0);
  await expect(messages(page).filter({ hasText: 'only once' })).toHaveCount(1);
  await expect(messages(page).filter({ hasText: 'only once' })).toHaveClass(/mine/);

  await open(guest, '/', 'en');
  await expect(link(guest)).toHaveAttribute('data-link', 'live');
  mock.audience.loseAnswer = true;
  await guest.getByLabel('Your name').fill('Omar');
  await guest.getByLabel('Your comment').fill('once as well');
  await guest.keyboard.press('Enter');
  await expect.poll(() => mock.audience.written.length).toBe(4);
  await expect(guest.locator('.pending')).toHaveCount(0);
  await expect(comments(guest).filter({ hasText: 'once as well' })).toHaveCount(1);
  const ids = mock.audience.written;
  expect(new Set(ids).size).toBe(2); // under one id
  expect([mock.audience.comments.length, mock.audience.messages.length]).toEqual([1, 1]);
});

test('the home page says that it reconnects, keeps its news meanwhile, and is live again', async ({ page, mock }) => {
  await open(page, '/', 'en');
  await expect(link(page)).toHaveAttribute('data-link', 'live');
  await expect(link(page)).toBeEmpty();
  const back = mock.vanish();
  await expect(link(page)).toHaveText('Reconnecting…');
  await page.getByLabel('Your name').fill('Omar');
  await page.getByLabel('Your comment').fill('into the dark');
  await page.keyboard.press('Enter');
  await page.locator('[data-emoji="🔥"]').click();
  back();
  await expect(link(page)).toHaveAttribute('data-link', 'live');
  await expect(comments(page).filter({ hasText: 'into the dark' })).toHaveCount(1);
  await expect.poll(() => mock.audience.reactions['🔥']).toBe(42);
  mock.apiDown = true; // no poll tells of it
  mock.scene = { ...mock.scene, index: 5, startedAt: Date.now() };
  mock.audience.tellStatus();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('شاي بالنعناع');
});

test('without the event transport the page works by polling', async ({ page, mock }) => {
  await page.route('**/socket.io/**', (route) => route.abort());
  await page.addInitScript(() => Object.defineProperty(globalThis, 'WebSocket', { value: class { constructor() { throw new Error('barred'); } } }));
  await open(page, '/', 'en');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('يا مسافر وحدك');
  mock.scene = { ...mock.scene, index: 5, startedAt: Date.now() };
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('شاي بالنعناع');
  await page.getByLabel('Your name').fill('Omar');
  await page.getByLabel('Your comment').fill('over HTTP');
  await page.keyboard.press('Enter');
  await expect(comments(page).filter({ hasText: 'over HTTP' })).toHaveCount(1);
  expect(mock.count('/assets/esm')).toBe(1); // its library, once
});

test('the title turns for the ear: an event is shown when the playhead gets there', async ({ page, mock }) => {
  mock.lateMs = 100_000;
  await open(page, '/', 'en');
  const title = page.getByRole('heading', { level: 1 });
  await playButton(page).click();
  await expectSound(page);
  mock.scene = { ...mock.scene, index: 5, startedAt: Date.now() };
  mock.audience.tellStatus();
  await expect(page.locator('section[aria-labelledby=coming-up] li').first()).toContainText('شاي بالنعناع'); // it was told,
  await expect(title).toHaveText('يا مسافر وحدك'); // and is not heard yet
  mock.lateMs = 0;
  mock.expireSessions(); // opened again, HLS has caught up with the event
  await expect(title).toHaveText('شاي بالنعناع');
  await expectSound(page);
  await expect(title).toHaveText('شاي بالنعناع');
});

test('refusals say what to do: kept names, muted writers, too much at once', async ({ page, mock }) => {
  await page.clock.install();
  await open(page, '/chat', 'ar');
  await page.locator('#name').fill('Athir');
  await page.keyboard.press('Enter');
  await expect(page.locator('#refused')).toContainText('محجوز للعاملين');
  await page.locator('#name').fill('نور');
  await page.keyboard.press('Enter');
  mock.audience.refusal = { status: 429, title: 'Too Many Requests', detail: 'wait', retryAfter: 300 };
  await write(page, 'بسرعة');
  await expect(page.locator('.pending')).toContainText('المحاولة التالية بعد');
  await page.clock.fastForward(301_000);
  await expect(messages(page).filter({ hasText: 'بسرعة' })).toHaveCount(1); // by itself
  mock.audience.refusal = { status: 403, title: 'Forbidden', detail: 'you may not write here until 2026-11-21T21:00:00Z (spam)' };
  await write(page, 'ممنوع');
  await expect(page.locator('.pending')).toContainText('القراءة دون الكتابة');
  await expect(page.locator('.pending')).toContainText('٢٠٢٦');
  await page.getByRole('button', { name: 'أعد الإرسال' }).click();
  await expect(messages(page).filter({ hasText: 'ممنوع' })).toHaveCount(1);
});

test('the operator is felt: deletion, slow mode, links, a closed room, the staff’s badge', async ({ page, mock }) => {
  await page.clock.install();
  await enter(page, 'Nour', 'en');
  const gone = mock.audience.say({ user: 'Omar', text: 'see https://spam.example/x' });
  mock.audience.say({ user: 'أثير', text: 'hello', staff: true });
  await expect(messages(page)).toHaveCount(2);
  await expect(messages(page).locator('.staff')).toHaveText('Station');
  await expect(messages(page).locator('.text a')).toHaveCount(0); // links are words until they are allowed
  mock.audience.tellState('main', { slow: 300, closed: false, links: true });
  await expect(messages(page).locator('.text a')).toHaveAttribute('rel', 'noopener nofollow ugc');
  mock.audience.remove(gone.id);
  await expect(messages(page)).toHaveCount(1);
  await write(page, 'slowly');
  await expect(page.locator('.composer')).toContainText('You can write again in');
  await page.locator('textarea').fill('next');
  await expect(page.locator('.composer .send')).toBeDisabled();
  await page.clock.fastForward(301_000);
  await expect(page.locator('.composer .send')).toBeEnabled();
  mock.audience.tellState('main', { slow: 0, closed: true, links: true });
  await expect(state(page)).toContainText('The room is closed');
  await expect(page.locator('textarea')).toHaveCount(0);
});

test('while the station is away behind its server, both pages say so calmly, and what was written goes out when it is back', async ({ page, guest, mock }) => {
  await open(page, '/', 'ar');
  await expect(link(page)).toHaveAttribute('data-link', 'live');
  await enter(guest, 'Omar', 'en');
  mock.operator.raise('silence');
  await expect(page.locator('.alert')).toContainText('انقطع الصوت');
  const back = mock.audience.leave();
  mock.apiDown = true;
  const line = (reader: Page) => reader.locator('.away[aria-live=polite]');
  await expect(line(page)).toHaveText(/^الموسيقى مستمرة/);
  await expect(line(guest)).toHaveText(/^The music goes on/);
  await expect(page.locator('.alert')).toBeEmpty(); // nobody knows
  await expect(guest.locator('textarea')).toHaveAccessibleDescription('What you write waits and goes out when the station answers again.');
  await page.locator('.play').click();
  await expect(page.locator('.play')).toHaveAttribute('data-state', 'playing');
  await page.getByLabel('اسمك').fill('نور');
  await page.getByLabel('تعليقك').fill('سمعت؟');
  await page.keyboard.press('Enter');
  await write(guest, 'still here');
  await expect(guest.locator('.pending')).toContainText('still here');
  await expect(guest.locator('.pending')).toContainText('Goes out when the station answers again.');
  mock.apiDown = false;
  back();
  for (const reader of [page, guest]) await expect(line(reader)).toBeEmpty();
  await expect(guest.locator('.composer #away')).toHaveCount(0);
  await expect(messages(guest).filter({ hasText: 'still here' })).toHaveCount(1);
  await expect(comments(page).filter({ hasText: 'سمعت؟' })).toHaveCount(1);
  await expect(guest.locator('.pending')).toHaveCount(0);
});

test('whoever comes or returns while the station is away is let in when it is back', async ({ page, guest, mock }) => {
  await enter(page, 'Nour', 'en');
  const back = mock.audience.leave();
  mock.audience.close(); // the line breaks meanwhile
  await expect(state(page)).toHaveAttribute('data-link', 'live');
  await expect(page.locator('.away[aria-live=polite]')).not.toBeEmpty();
  await open(guest, '/chat', 'en');
  await guest.locator('#name').fill('Omar');
  await guest.keyboard.press('Enter');
  await expect(guest.locator('#refused')).not.toBeEmpty();
  await write(page, 'good evening');
  back();
  await expect(messages(page).filter({ hasText: 'good evening' })).toHaveCount(1);
  await expect(guest.locator('textarea')).toBeVisible();
  await expect(page.locator('.away[aria-live=polite]')).toBeEmpty();
});

test('comments that are closed are read and not asked for, and open again with what was being written', async ({ page, mock }) => {
  mock.audience.comment('Omar', 'good evening');
  mock.audience.tellState('comments', { slow: 0, closed: true, links: false });
  await open(page, '/', 'en');
  const section = page.locator('section[aria-labelledby=comments]');
  await expect(section.getByRole('status').first()).toHaveText('Comments are closed for now. What was written can be read.');
  await expect(section.locator('input, form, button')).toHaveCount(0);
  await expect(comments(page).filter({ hasText: 'good evening' })).toHaveCount(1);
  mock.audience.tellState('comments', { slow: 0, closed: false, links: false });
  await page.getByLabel('Your comment').fill('half a sen');
  mock.audience.tellState('comments', { slow: 0, closed: true, links: false });
  await expect(page.getByLabel('Your comment')).toHaveCount(0);
  mock.audience.tellState('comments', { slow: 0, closed: false, links: false });
  await expect(page.getByLabel('Your comment')).toHaveValue('half a sen');
});

test('one reads on where one was: earlier pages, what came meanwhile, and the way back down', async ({ page, mock }) => {
  for (let i = 1; i <= 120; i++) mock.audience.say({ user: i % 3 ? 'Omar' : 'سلمى', text: `message ${i}` });
  await enter(page, 'Nour', 'en');
  await expect(messages(page)).toHaveCount(50);
  await expect(page.getByText('message 120', { exact: true })).toBeInViewport();
  const log = page.getByRole('log', { name: 'Messages' });
  await log.evaluate((box) => (box.scrollTop = 0));
  await page.getByRole('button', { name: 'Load earlier messages' }).click();
  await expect(messages(page)).toHaveCount(100);
  await expect(page.getByText('message 71', { exact: true })).toBeInViewport(); // what was looked at stays in place
  mock.audience.say({ user: 'Omar', text: 'meanwhile' });
  await expect(page.getByText('meanwhile')).toHaveCount(1);
  await expect(page.getByText('meanwhile')).not.toBeInViewport();
  await page.getByRole('button', { name: 'One new message' }).click();
  await expect(page.getByText('meanwhile')).toBeInViewport();
  mock.audience.say({ user: 'Omar', text: 'and at the end one follows' });
  await expect(page.getByText('and at the end one follows')).toBeInViewport();
});

test('names and words of either direction stay in their place, and nothing is markup', async ({ page, mock }) => {
  await enter(page, 'Nour', 'ar');
  mock.audience.say({ user: '\u202eevil <img src=x onerror=alert(1)>', text: '<script>alert(1)</script> \u2067abc\nسطر ثانٍ' });
  const row = messages(page).last();
  await expect(row.locator('bdi')).toHaveText('evil <img src=x onerror=alert(1)>');
  await expect(row.locator('.text')).toHaveText('<script>alert(1)</script> abc\nسطر ثانٍ');
  expect(await page.locator('img').count()).toBe(0);
  await expect(page.locator('.admin')).toContainText('Nour');
});

test('a room of one’s own is entered with the keyboard, and unread rooms keep to themselves', async ({ page, guest, mock }) => {
  await enter(page, 'Nour', 'en');
  await enter(guest, 'Omar', 'en');
  await page.locator('[data-room=requests]').focus();
  await page.keyboard.press('Enter');
  await expect(page.locator('[data-room=requests]')).toHaveAttribute('aria-current', 'true');
  await write(page, 'play Slow River please');
  await expect(messages(page).filter({ hasText: 'Slow River' })).toHaveCount(1);
  await expect(messages(guest)).toHaveCount(0);
  expect(mock.audience.messages.at(-1)?.room).toBe('requests');
});

test('a tap on a reaction in the chat is taken back by the second', async ({ page, mock }) => {
  await enter(page, 'Nour', 'en');
  const message = mock.audience.say({ user: 'Omar', text: 'good evening', reactions: { '🌹': 2 } });
  const chip = messages(page).last().locator('.reactions button');
  await chip.click();
  await expect(chip).toHaveAttribute('aria-pressed', 'true');
  await expect(chip).toContainText('3');
  await chip.click();
  await expect(chip).toContainText('2');
  expect(mock.audience.messages.find(({ id }) => id === message.id)?.reactions).toEqual({ '🌹': 2 });
});

test('notifications are explained, chosen and signed up for; the worker shows them and keeps one page alone', async ({ page, mock, context }) => {
  await context.grantPermissions(['notifications']);
  await page.addInitScript(() => {
    const endpoint = 'https://push.example/abc';
    const keys = { p256dh: 'BKd0', auth: 'x' };
    const subscription = { endpoint, options: {}, toJSON: () => ({ endpoint, expirationTime: null, keys }), unsubscribe: async () => true };
    let mine: typeof subscription | null = null;
    PushManager.prototype.subscribe = async () => (mine = subscription) as never;
    PushManager.prototype.getSubscription = async () => mine as never;
    Notification.requestPermission = async () => 'granted';
  });
  await open(page, '/', 'ar');
  await page.getByRole('button', { name: 'أخبرني حين يُبث سلمى الحديدي' }).click();
  const dialog = page.getByRole('dialog', { name: 'الإشعارات' });
  await expect(dialog.getByText('سلمى الحديدي')).toBeVisible();
  await dialog.getByRole('button', { name: 'تفعيل' }).click();
  await expect(dialog.getByRole('status')).toHaveText('حُفظ. ستخبرك المحطة.');
  expect(mock.audience.subscribed.at(-1)).toMatchObject({ endpoint: 'https://push.example/abc', topics: ['live', 'artist'], artists: ['سلمى الحديدي'], lang: 'ar', quiet: { from: '23:00', to: '08:00' } });
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: 'أخبرني حين يُبث سلمى الحديدي' })).toHaveAttribute('aria-pressed', 'true');
  expect(await page.evaluate(() => caches.keys())).toEqual(['athir-offline-1']);
  expect(await page.evaluate(async () => new URL((await navigator.serviceWorker.ready).scope).pathname)).toBe('/');
});
