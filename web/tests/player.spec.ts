import { expect, expectSound, nextLook, notice, open, playButton, test } from './fixtures';

// What only a station that can be broken on purpose shows: these run against the mock.

const transport = 'data-transport';

test('HLS passes the cookie check, keeps its session, and asks for nothing of low latency', async ({ page, mock }) => {
  const lists: number[] = [];
  page.on('response', (response) => new URL(response.url()).pathname.endsWith('index.m3u8') && lists.push(response.status()));
  await open(page, '/', 'en');
  await expect(notice(page)).toHaveAttribute('data-notice', 'idle');
  expect(mock.asked.filter((path) => path.startsWith('/assets/hls'))).toEqual([]);
  expect(mock.count('/hls/')).toBe(0);
  await playButton(page).click();
  await expectSound(page, 2);
  expect(mock.asked.filter((path) => path.startsWith('/assets/hls'))).toHaveLength(1);
  expect(lists.slice(0, 2)).toEqual([302, 200]); // the redirect and its goal
  expect(lists.filter((status) => status !== 200)).toHaveLength(1); // a player that asks again is known
  expect(mock.count('/hls/main/seg')).toBeGreaterThan(1);
  expect(mock.count('/stream')).toBe(0);
  await expect(playButton(page)).toHaveAttribute(transport, 'hls');
});

test('the sound is of the quality that was chosen, goes on as it is changed, and is that again the next time', async ({ page, mock }) => {
  const heard = (of: string) => mock.asked.filter((path) => new RegExp(`/hls/main/seg\\d+${of}\\.m4s`).test(path)).length;
  await open(page, '/', 'en');
  await playButton(page).click();
  await expectSound(page);
  expect(heard('')).toBeGreaterThan(0);
  await page.getByRole('button', { name: /^Sound quality/ }).click();
  const sheet = page.getByRole('dialog', { name: 'Sound quality' });
  await expect(sheet.getByRole('radio')).toHaveCount(4);
  await expect(sheet.getByText('64 kbit/s · about 29 MB an hour')).toBeVisible();
  await sheet.getByRole('radio', { name: /^Data saver/ }).check();
  await expect.poll(() => heard('_64')).toBeGreaterThan(1);
  await expectSound(page);
  const before = heard('');
  await expect.poll(() => heard('_64')).toBeGreaterThan(3);
  expect(heard('')).toBe(before);
  await page.reload();
  await playButton(page).click();
  await expectSound(page);
  expect(heard('')).toBe(before);
  await expect(page.getByRole('button', { name: 'Sound quality · Data saver' })).toBeVisible();
});

test('the chat and the page of what aired play in the quality that was chosen on the player', async ({ page, mock }) => {
  await page.addInitScript(() => localStorage.setItem('athir.quality', '64'));
  for (const path of ['/chat', '/history']) {
    await open(page, path, 'en');
    await page.locator('button.play').click();
    await expectSound(page);
    expect(mock.count('/hls/main/main_64.m3u8'), path).toBeGreaterThan(0);
    expect(mock.count('/hls/main/main_stream.m3u8'), path).toBe(0);
  }
});

test('a browser that saves data begins with the least', async ({ page, mock }) => {
  await page.addInitScript(() => Object.defineProperty(navigator, 'connection', { value: { saveData: true } }));
  await open(page, '/', 'ar');
  await expect(page.getByRole('button', { name: 'جودة الصوت · توفير البيانات' })).toBeVisible();
  await playButton(page).click();
  await expectSound(page);
  expect(mock.count('/hls/main/main_stream.m3u8')).toBe(0);
  expect(mock.count('/hls/main/main_64.m3u8')).toBeGreaterThan(0);
});

test('a short outage of HLS is ridden out on the buffer or reconnected, and sound goes on', async ({ page, mock }) => {
  await open(page, '/', 'en');
  await playButton(page).click();
  await expectSound(page);
  mock.hlsDown = true;
  mock.streamDown = true;
  await expect(playButton(page)).not.toHaveAttribute('data-state', 'playing');
  mock.hlsDown = false;
  mock.streamDown = false;
  await expectSound(page);
});

test('an ended session is opened again', async ({ page, mock }) => {
  await open(page, '/', 'en');
  await playButton(page).click();
  await expectSound(page);
  const before = mock.count('/hls/main/index.m3u8');
  mock.expireSessions();
  await expect.poll(() => mock.count('/hls/main/index.m3u8')).toBeGreaterThan(before);
  await expectSound(page);
  expect(mock.count('/stream')).toBe(0);
});

test('without HLS the plain stream plays, and HLS is tried first again after a loss', async ({ page, mock }) => {
  mock.hlsDown = true;
  await open(page, '/', 'en');
  await playButton(page).click();
  await expectSound(page);
  await expect(playButton(page)).toHaveAttribute(transport, 'stream');
  expect(mock.count('/stream')).toBeGreaterThan(0);
  mock.hlsDown = false;
  await page.keyboard.press('Escape');
  await playButton(page).click();
  await playButton(page).click();
  await expectSound(page);
  await expect(playButton(page)).toHaveAttribute(transport, 'hls');
});

test('a browser without Media Source Extensions plays its own HLS or the stream, and loads no library', async ({ page, mock }) => {
  await page.addInitScript(() => {
    Object.defineProperty(globalThis, 'MediaSource', { value: undefined });
    Object.defineProperty(globalThis, 'ManagedMediaSource', { value: undefined });
  });
  await open(page, '/', 'ar');
  await playButton(page).click();
  await expectSound(page);
  await expect(playButton(page)).toHaveAttribute(transport, /native|stream/);
  expect(mock.asked.filter((path) => path.startsWith('/assets/hls'))).toEqual([]);
});

test('offline is said, and the music returns with the network by itself', async ({ page, context }) => {
  await open(page, '/', 'en');
  await playButton(page).click();
  await expectSound(page);
  await context.setOffline(true);
  await expect(notice(page)).toHaveAttribute('data-notice', 'offline');
  await context.setOffline(false);
  await expectSound(page);
});

test('a station that cannot be reached is said to be so, and found again', async ({ page, mock }) => {
  mock.apiDown = true;
  await page.clock.install();
  await open(page, '/', 'ar');
  await expect.poll(() => mock.count('/api/status')).toBeGreaterThan(0);
  await nextLook(page, mock); // two without an answer
  await expect(notice(page)).toHaveAttribute('data-notice', 'stationUnreachable');
  mock.apiDown = false;
  await nextLook(page, mock);
  await expect(notice(page)).toHaveAttribute('data-notice', 'idle');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('يا مسافر وحدك');
});

test('an empty library is told kindly, and the emergency audio can be heard', async ({ page, mock }) => {
  mock.scene.empty = true;
  await open(page, '/', 'en');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('The station has no music yet');
  await expect(notice(page)).toHaveAttribute('data-notice', 'empty');
  await playButton(page).click();
  await expectSound(page);
  await expect(notice(page)).toContainText('Songs play as soon as they arrive');
});

test('a library that is taken in for the first time is told with a count', async ({ page, mock }) => {
  mock.scene = { ...mock.scene, empty: true, beginning: true };
  await open(page, '/', 'ar');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('نجهّز الموسيقى للبث');
  await expect(page.getByText('الملفات الجاهزة: ١٢ من ٤٠')).toBeVisible();
  await expect(notice(page)).toHaveAttribute('data-notice', 'beginning');
});

test('the title follows the ear: while HLS runs late, the earlier track is shown', async ({ page, mock }) => {
  // The ear gets to what began just now in a minute and a half: until then it is in the track before.
  mock.lateMs = 100_000;
  mock.scene = { ...mock.scene, startedAt: Date.now() - 10_000 };
  await open(page, '/', 'en');
  const title = page.getByRole('heading', { level: 1 });
  await expect(title).toHaveText('يا مسافر وحدك');
  await playButton(page).click();
  await expectSound(page);
  await expect(title).toHaveText('Harbour Lights');
  await expect(page.locator('section[aria-labelledby=coming-up] li').first()).toContainText('يا مسافر وحدك');
});

test('what comes next shows songs and news, not imaging', async ({ page }) => {
  await open(page, '/', 'en');
  const next = page.locator('section[aria-labelledby=coming-up] li');
  await expect(next.first()).toContainText('شاي بالنعناع');
  await expect(next.nth(1)).toContainText('News bulletin');
  await expect(page.locator('section[aria-labelledby=coming-up]')).not.toContainText('ZAP');
});

test('a foreign title keeps its own direction inside the page', async ({ page }) => {
  await open(page, '/', 'en');
  const title = page.getByRole('heading', { level: 1 });
  await expect(title).toHaveText('يا مسافر وحدك');
  expect(await title.evaluate((element) => getComputedStyle(element).direction)).toBe('rtl');
  expect(await title.evaluate((element) => getComputedStyle(element).textAlign)).toBe('left');
  expect(await page.title()).toContain('\u2068يا مسافر وحدك\u2069');
});

test('where the device alone sets the volume, the slider is not offered', async ({ page }) => {
  await page.addInitScript(() => {
    Object.defineProperty(HTMLMediaElement.prototype, 'volume', { get: () => 1, set: () => undefined });
  });
  await open(page, '/', 'en');
  await expect(page.getByRole('button', { name: 'Mute' })).toBeVisible();
  await expect(page.getByRole('slider')).toHaveCount(0);
});

test('a title full of markup stays text', async ({ page, mock }) => {
  const evil = '<img src=x onerror=alert(1)>"\u202eevil';
  await page.route('**/api/status', async (route) => {
    const status = await (await route.fetch()).json();
    status.track.title = evil;
    status.nowPlaying.title = evil;
    await route.fulfill({ json: status });
  });
  await open(page, '/', 'ar');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('<img src=x onerror=alert(1)>" evil');
  await page.goto('/studio');
  await expect(page.locator('.title')).toHaveText('<img src=x onerror=alert(1)>" evil');
  expect(await page.locator('img').count()).toBe(0);
  expect(mock.asked).not.toContain('/x');
  await page.unrouteAll({ behavior: 'ignoreErrors' }); // a look may be under way
});
