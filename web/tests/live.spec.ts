import type { Page } from '@playwright/test';
import { expect, expectAccessible, expectFits, expectNews, faces, nextLook, open, stopClock, test } from './fixtures';
import { phone, source } from './mock/live';
import type { Mock } from './mock/mock';

const panel = (page: Page, id: string) => page.locator(`section[aria-labelledby=live-${id}]`);
const stream = (page: Page, id: string) => page.locator(`[data-stream=${id}]`);
const sara = 'LIVE5f0c91aa';
const omar = 'LIVE0b7e22c4';

/** The section of a station that needs no key. */
async function openLive(page: Page, mock: Mock, language: 'ar' | 'en' = 'en'): Promise<void> {
  mock.control.key = '';
  await open(page, '/studio#/live', language);
  await expect(panel(page, 'air')).toBeVisible();
  await expect(panel(page, 'people').locator('.key')).toBeVisible();
}

/** Presses the button that a question offers. */
async function confirm(page: Page, name: string | RegExp, says: string | RegExp): Promise<void> {
  const dialog = page.getByRole('dialog').filter({ hasText: says });
  await dialog.getByRole('button', { name }).click();
  await expect(dialog).toBeHidden();
}

test('a source goes on the air, and the page says so only when the engine does', async ({ page, mock }) => {
  mock.live.held = true;
  await openLive(page, mock);
  await expect(panel(page, 'air')).toHaveAttribute('data-air', 'idle');
  await expect(panel(page, 'air')).toContainText('First in line');
  await stream(page, sara).getByRole('button', { name: 'Put on the air' }).click();
  await expect(panel(page, 'air')).toHaveAttribute('data-air', 'going');
  await expect(panel(page, 'air')).toContainText('Listeners do not hear it yet');
  await expect(panel(page, 'air').getByRole('button', { name: 'Wrap up in 60 s' })).toBeDisabled();
  expect(mock.live.taken).toEqual([{ order: 'POST start', body: { id: sara, mode: 'replace' } }]);
  mock.live.hear(true);
  await expect(panel(page, 'air')).toHaveAttribute('data-air', 'on');
  await expect(panel(page, 'air').locator('.time strong')).toHaveText(/^0:\d\d$/);
  await expect(panel(page, 'air').getByRole('meter')).toHaveAttribute('aria-valuenow', '-14');
  // What would follow is never what is on.
  await expect(panel(page, 'air').locator('dl')).toContainText('Omar <b>& friends</b>');
});

test('who is on the air is cut off only after a question', async ({ page, mock }) => {
  mock.live.take(sara);
  await openLive(page, mock);
  await panel(page, 'air').getByRole('button', { name: 'Back to the rotation' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Not now' }).click();
  expect(mock.live.taken).toEqual([]);
  await stream(page, omar).getByRole('button', { name: 'Hand over' }).click();
  await confirm(page, 'Hand over', /Omar <b>& friends<\/b>.* follows .*سهرة الخميس/);
  await expect(panel(page, 'air').locator('.title')).toHaveText('Omar <b>& friends</b>'); // text, never markup
  await panel(page, 'air').getByRole('button', { name: 'Back to the rotation' }).click();
  await confirm(page, 'Back to the rotation', 'is cut off');
  await expect(panel(page, 'air')).toHaveAttribute('data-air', 'idle');
  expect(mock.live.taken).toEqual([{ order: 'POST hand', body: { id: omar } }, { order: 'POST stop', body: {} }]);
});

for (const [language, why] of [['en', 'no sound came for 0:03'], ['ar', 'انقطع الصوت ٠:٠٣']] as const) {
  test(`who left the air by itself, why and who followed is said in words: ${language}`, async ({ page, mock }) => {
    mock.live.ended = { id: omar, at: Date.now() - 60_000, why: 'no audio came for 3s', failed: true, next: sara };
    mock.live.take(sara);
    await openLive(page, mock, language);
    await expect(panel(page, 'air').locator('.ended')).toContainText(why);
    await expect(panel(page, 'air').locator('.ended')).toContainText('سهرة الخميس');
  });
}

test('a refusal keeps what stands, and says why', async ({ page, mock }) => {
  await openLive(page, mock);
  mock.live.refusal = { status: 409, detail: 'no audio came from it within 8 s' };
  await stream(page, sara).getByRole('button', { name: 'Talk over' }).click();
  await expectNews(page, 'no audio came from it within 8 s');
  await expect(panel(page, 'air')).toHaveAttribute('data-air', 'idle');
  await stream(page, sara).getByRole('button', { name: 'Talk over' }).click();
  await expect(panel(page, 'air')).toContainText('over the music');
  expect(mock.live.taken.at(-1)).toEqual({ order: 'POST start', body: { id: sara, mode: 'over' } });
  await expect(page.getByText('no audio came from it within 8 s')).toHaveCount(0); // it is no longer so
});

test('a phone that waits is put on the air, also before the desk reads it, and none where none has the pipe', async ({ page, mock }) => {
  mock.live.sources = [];
  mock.live.sessions = [phone('s1', 'سارة', { holds: true })];
  await openLive(page, mock);
  const row = stream(page, sara);
  await expect(row).toHaveAttribute('data-state', 'connected');
  await expect(row.getByRole('button', { name: 'Put on the air' })).toBeEnabled();
  await expect(panel(page, 'air').getByRole('button', { name: 'Put on the air' })).toBeEnabled();
  mock.live.sessions = [phone('s1', 'سارة')];
  await expect(row.getByRole('button', { name: 'Put on the air' })).toBeDisabled();
  await expect(row.getByRole('button', { name: 'Let speak' })).toBeEnabled();
  // The desk still reads what nobody sends.
  mock.live.sources = [source(sara, { state: 'connecting' })];
  await row.getByRole('button', { name: 'Disconnect' }).click();
  await confirm(page, 'Disconnect', 'is cut off');
  await expect(row).toHaveAttribute('data-state', 'away');
  await expect(row.getByRole('button', { name: 'Talk over' })).toBeDisabled();
  await expect(panel(page, 'air').getByRole('button', { name: 'Put on the air' })).toBeDisabled();
});

for (const [language, idle, over] of [
  ['en', 'Emergency audio is on the air', 'On the air over emergency audio'],
  ['ar', 'صوت الطوارئ على الهواء', 'على الهواء فوق صوت الطوارئ'],
] as const) {
  test(`what is beneath a talk-over is called music only where it is music: ${language}`, async ({ page, mock }) => {
    mock.scene.empty = true;
    await openLive(page, mock, language);
    await expect(panel(page, 'air')).toContainText(idle);
    mock.live.take(sara, 'over');
    await expect(panel(page, 'air').locator('.state')).toHaveText(over);
    await expect(panel(page, 'air')).not.toContainText(language === 'en' ? 'over the music' : 'فوق الموسيقى');
  });
}

test('the presenter is asked to wrap up, and the sign counts down and goes', async ({ page, mock }) => {
  mock.live.take(sara);
  await openLive(page, mock);
  await panel(page, 'air').getByRole('button', { name: 'Wrap up in 60 s' }).click();
  await expect(panel(page, 'air')).toContainText(/The presenter sees: wrap up, (1:00|0:[1-5]\d) left/);
  mock.live.wrapUpAt = Date.now() - 1;
  await expect(panel(page, 'air')).toContainText('was asked to end by now');
  await panel(page, 'air').getByRole('button', { name: 'Take the sign back' }).click();
  await expect(panel(page, 'air').locator('.sign')).toHaveCount(0);
  expect(mock.live.taken.map(({ body }) => body)).toEqual([{ seconds: 60 }, { seconds: 0 }]);
});

test('sources are voted on, left out, let in, removed and added', async ({ page, mock }) => {
  await openLive(page, mock);
  const row = stream(page, omar);
  await row.getByRole('button', { name: 'Vote for Omar' }).click();
  await expect(row.locator('.votes')).toContainText('0');
  await row.getByRole('button', { name: 'Leave out' }).click();
  await confirm(page, 'Leave out', 'not put on the air by itself');
  await expect(row).toContainText('Left out of the ranking');
  await row.getByRole('button', { name: 'Let in again' }).click();
  await expect(row.getByRole('button', { name: 'Leave out' })).toBeVisible();
  await row.getByRole('button', { name: 'Remove' }).click();
  await confirm(page, 'Remove', 'leaves the list');
  await expect(row).toHaveAttribute('data-state', 'ready'); // it still comes in
  await expect(row.locator('.votes')).toHaveCount(0);
  await page.getByRole('button', { name: 'Add an address' }).click();
  await page.getByRole('textbox', { name: 'Address' }).fill('https://radio.example/live.m3u8');
  await page.getByRole('textbox', { name: 'Title' }).fill('محطة صديقة');
  await page.keyboard.press('Enter');
  await expect(stream(page, 'LIVE77777777')).toContainText('محطة صديقة');
  expect(mock.live.taken.at(-1)?.body).toEqual({ url: 'https://radio.example/live.m3u8', title: 'محطة صديقة', creator: '', listeners: 0, ingest: '' });
});

test('phones show their line, and one is silenced or cut off after a question', async ({ page, mock }) => {
  await openLive(page, mock);
  const second = page.locator('[data-session=s2]');
  await expect(second).toContainText('round trip 84 ms');
  await expect(second).toContainText('loss 7.5%');
  await expect(second).toContainText('by relay');
  await second.getByRole('button', { name: 'Let speak' }).click();
  await confirm(page, 'Let speak', 'is silenced and waits');
  await expect(second).toHaveAttribute('data-holds', 'true');
  await page.locator('[data-session=s1]').getByRole('button', { name: 'Disconnect' }).click();
  await confirm(page, 'Disconnect', 'is cut off');
  await expect(page.locator('[data-session=s1]')).toHaveCount(0);
  expect(mock.live.taken).toEqual([{ order: 'POST hold', body: { session: 's2' } }, { order: 'POST kick', body: { session: 's1' } }]);
});

test('an encoder is cut off after a question', async ({ page, mock }) => {
  await openLive(page, mock);
  const row = stream(page, 'LIVE0b7e22c4');
  await row.getByRole('button', { name: 'Disconnect' }).click();
  await confirm(page, 'Disconnect', 'it waits');
  await expect(row.getByRole('button', { name: 'Disconnect' })).toHaveCount(0);
  expect(mock.live.taken).toEqual([{ order: 'POST kick', body: { session: 'e1' } }]);
});

test('a source is listened to with the key in a header, until it is stopped or goes', async ({ page, mock }) => {
  await openLive(page, mock);
  const heard = () => page.evaluate(() => (globalThis as { heard?: number }).heard ?? 0);
  await page.evaluate(() => {
    const start = AudioBufferSourceNode.prototype.start;
    AudioBufferSourceNode.prototype.start = function (...args) {
      const peak = Math.max(...(this.buffer?.getChannelData(0) ?? [0]));
      if (peak > 0.2) (globalThis as { heard?: number }).heard = ((globalThis as { heard?: number }).heard ?? 0) + (this.buffer?.duration ?? 0);
      start.apply(this, args);
    };
  });
  const listen = stream(page, omar).getByRole('button', { name: 'Listen in' });
  await listen.click();
  await expect(stream(page, omar)).toContainText('You hear this source');
  await expect.poll(heard).toBeGreaterThan(0.5); // seconds of the tone that the station sends
  await stream(page, sara).getByRole('button', { name: 'Listen in' }).click(); // one at a time
  await expect.poll(() => mock.live.listeners).toBe(1);
  await stream(page, sara).getByRole('button', { name: 'Stop listening' }).click();
  await expect.poll(() => mock.live.listeners).toBe(0);
  mock.live.sources = mock.live.sources.map((one) => (one.id === omar ? source('LIVE00000000') : one));
  await expect(stream(page, omar)).toHaveAttribute('data-state', 'connected'); // its encoder is there
  mock.live.encoders = [];
  await expect(stream(page, omar)).toHaveAttribute('data-state', 'away');
  await expect(listen).toHaveCount(0);
});

test('leaving the section ends listening in', async ({ page, mock }) => {
  await openLive(page, mock);
  await stream(page, omar).getByRole('button', { name: 'Listen in' }).click();
  await expect.poll(() => mock.live.listeners).toBe(1);
  await page.getByRole('link', { name: 'Log' }).click();
  await expect.poll(() => mock.live.listeners).toBe(0);
});

test('a show holds the air, with a file of the library between presenters', async ({ page, mock }) => {
  await openLive(page, mock);
  const show = panel(page, 'show');
  await show.getByLabel('Name of the show').fill('سهرة');
  await show.getByLabel('Minutes').fill('90');
  await show.getByLabel('Between presenters').fill('ليل');
  await expect(show.locator('datalist option').first()).toHaveAttribute('value', /\.mp3$/);
  await show.getByLabel('Between presenters').fill('music/jingles/JIN_1.mp3');
  await show.getByRole('button', { name: 'Hold the air' }).click();
  await expect(show).toContainText('Holds the air for another 1 hr 30 min');
  expect(mock.live.taken.at(-1)).toEqual({ order: 'POST show', body: { title: 'سهرة', minutes: 90, bed: 'music/jingles/JIN_1.mp3' } });
  await show.getByRole('button', { name: 'End the show' }).click();
  await confirm(page, 'End the show', 'stays on the air');
  await expect(show.getByRole('button', { name: 'Hold the air' })).toBeVisible();
});

test('a presenter gets a link with times, and the secret is shown once', async ({ page, mock, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openLive(page, mock);
  const people = panel(page, 'people');
  await people.getByRole('button', { name: 'New presenter' }).click();
  const form = page.getByRole('dialog', { name: 'New presenter' });
  await form.getByLabel('Name', { exact: true }).fill('عمر');
  await form.getByLabel('Show').fill('ليل القاهرة');
  await form.getByRole('button', { name: 'Add a time' }).click();
  await form.getByLabel('Day', { exact: true }).selectOption('sat');
  await form.getByLabel('Ends').fill('01:30');
  await form.getByRole('button', { name: 'Add a time' }).click();
  await form.getByRole('button', { name: /^Remove Saturday/ }).click();
  await form.getByLabel('Takes the air by itself').check();
  await form.getByLabel('From').fill('2026-12-01');
  await form.getByLabel('Until').fill('2026-12-31');
  await form.getByRole('button', { name: 'New presenter' }).click();
  const link = page.getByRole('dialog', { name: /The link of .*عمر/ });
  await expect(link.locator('code')).toHaveText('http://127.0.0.1:8089/go-live#k=p1.k3y-5hown-once');
  await link.getByRole('button', { name: 'Copy' }).click();
  await expect(link).toContainText('Copied.');
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('http://127.0.0.1:8089/go-live#k=p1.k3y-5hown-once');
  await expect(link.locator('[data-hitch=here]')).toContainText('live.address');
  await link.getByRole('button', { name: 'Close' }).click();
  await expect(people.locator('[data-publisher=p1]')).toContainText('Sunday');
  await expect(page.locator('body')).not.toContainText('k3y-5hown-once');
  // The whole last day, in the station's time.
  expect(mock.live.taken.at(-1)).toEqual({
    order: 'POST publishers',
    body: { name: 'عمر', show: 'ليل القاهرة', grace: 10, auto: true, from: Date.parse('2026-12-01T00:00+02:00'), until: Date.parse('2027-01-01T00:00+02:00'), slots: [{ day: 'sun', from: '20:00', to: '01:30' }] },
  });
});

test('an account is changed, revoked and deleted, and a revoked one gets a new link without a question', async ({ page, mock }) => {
  mock.live.goLive = 'https://live.nile.example/go-live';
  await openLive(page, mock);
  const row = panel(page, 'people').locator('[data-publisher=sara]');
  await row.getByRole('button', { name: 'Change' }).click();
  const form = page.getByRole('dialog', { name: 'Change' });
  await expect(form.getByLabel('Begins').first()).toHaveValue('20:00');
  await form.getByLabel('Minutes early or late').fill('30');
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form).toHaveCount(0);
  expect(mock.live.taken.at(-1)).toMatchObject({ order: 'PUT publishers/sara', body: { name: 'سارة', grace: 30, from: 0, until: 0 } });
  await row.getByRole('button', { name: 'Revoke' }).click();
  await confirm(page, 'Revoke', 'is cut off and can no longer go live');
  await expect(row).toContainText('revoked');
  await row.getByRole('button', { name: 'New link' }).click();
  await expect(page.getByRole('dialog').locator('code')).toHaveText('https://live.nile.example/go-live#k=sara.an0ther-one');
  await expect(page.getByRole('dialog').locator('[data-hitch]')).toHaveCount(0);
  await page.keyboard.press('Escape');
  await row.getByRole('button', { name: 'New link' }).click();
  await confirm(page, 'New link', 'stops working at once');
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  await row.getByRole('button', { name: 'Delete' }).click();
  await confirm(page, 'Delete', 'ends for good');
  await expect(panel(page, 'people')).toContainText('Nobody yet');
});

test('a recording plays, is saved and goes into a category, and a deleted one can be brought back', async ({ page, mock }) => {
  await page.clock.install();
  await openLive(page, mock);
  const row = page.locator('[data-recording="20261124-200000-sara.wav"]');
  await expect(row).toContainText('1:30:00');
  await expect(row).toContainText('81.4 listeners on average, 128 at most');
  await row.getByRole('button', { name: 'Play' }).click();
  await expect.poll(() => row.locator('audio').evaluate((audio: HTMLAudioElement) => audio.currentTime)).toBeGreaterThan(0.2);
  const saved = page.waitForEvent('download');
  await row.getByRole('button', { name: 'Download' }).click();
  expect((await saved).suggestedFilename()).toBe('20261124-200000-sara.wav');
  await row.getByRole('button', { name: 'Into the library' }).click();
  await page.getByRole('dialog').getByLabel('Category').selectOption('news');
  await page.getByRole('dialog').getByRole('button', { name: 'Take it in' }).click();
  await expectNews(page, 'on its way into the library');
  expect(mock.live.taken.at(-1)).toEqual({ order: 'POST recordings/20261124-200000-sara.wav/category', body: { category: 'news', title: 'سهرة الخميس', artist: 'سارة' } });
  await stopClock(page); // the seconds in which it can be brought back do not pass
  await row.getByRole('button', { name: 'Delete' }).click();
  await expect(row).toHaveCount(0);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(row).toBeVisible();
  expect(mock.live.recordings).toHaveLength(2);
  await row.getByRole('button', { name: 'Delete' }).click();
  await page.clock.fastForward(9000);
  await expect.poll(() => mock.live.recordings.length).toBe(1);
});

test('the studio speaks, is on the air only when the station says so, and goes on in another section', async ({ page, mock }) => {
  mock.live.studioTakes = false;
  await openLive(page, mock);
  const mic = panel(page, 'mic');
  await mic.getByRole('button', { name: 'Open the microphone' }).click();
  await expect(mic).toHaveAttribute('data-mic', 'ready');
  // The browser's false microphone beeps each second: a look now and then would miss it.
  await page.waitForFunction(() => Number(document.querySelector('[data-mic] [role=meter]')?.getAttribute('aria-valuenow')) > -50);
  await mic.getByRole('button', { name: 'Go live' }).click();
  await expect(mic).toHaveAttribute('data-mic', 'sending');
  await expect(mic).toContainText('not on the air yet');
  await mic.getByRole('button', { name: 'Put me on the air' }).click();
  await expect(mic).toHaveAttribute('data-mic', 'air');
  await expect(mic).toContainText('You are on the air.');
  mock.live.hear(false); // the engine takes it off again
  await expect(mic).toHaveAttribute('data-mic', 'sending');
  mock.live.hear(true);
  await page.getByRole('link', { name: 'Log' }).click();
  await expect(page.getByRole('img', { name: 'The microphone of this browser is sent to the station' })).toBeVisible();
  const { length } = mock.live.spoken[0]!.chunks;
  await expect.poll(() => mock.live.spoken[0]!.chunks.length).toBeGreaterThan(length + 10);
  await page.getByRole('link', { name: 'Live' }).click();
  await expect(mic).toHaveAttribute('data-mic', 'air');
  await mic.getByRole('button', { name: 'End' }).click();
  await expect(mic).toHaveAttribute('data-mic', 'ready');
  const [{ type, chunks, stopped }] = mock.live.spoken as [(typeof mock.live.spoken)[number]];
  expect([type, stopped, Buffer.concat(chunks).subarray(0, 4).toString('hex')]).toEqual(['audio/webm;codecs=opus', true, '1a45dfa3']); // the first chunk may be a byte
});

test('a microphone whose line breaks begins again by itself, with audio that can be read from its beginning', async ({ page, mock }) => {
  await openLive(page, mock);
  const mic = panel(page, 'mic');
  await mic.getByRole('button', { name: 'Open the microphone' }).click();
  await mic.getByRole('button', { name: 'Go live' }).click();
  await expect(mic).toHaveAttribute('data-mic', 'air');
  mock.audience.close(); // every connection is cut
  await expect.poll(() => mock.live.spoken.length).toBe(2);
  await expect(mic).toHaveAttribute('data-mic', 'air');
  await expect.poll(() => mock.live.spoken.map(({ chunks }) => Buffer.concat(chunks).subarray(0, 4).toString('hex'))).toEqual(['1a45dfa3', '1a45dfa3']); // the first chunk may be a byte
});

test('a refused microphone and a refused stream say what to do', async ({ page, mock }) => {
  await openLive(page, mock);
  const mic = panel(page, 'mic');
  await page.evaluate(() => (navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('no', 'NotAllowedError'))));
  await mic.getByRole('button', { name: 'Open the microphone' }).click();
  await expect(mic.getByRole('alert')).toContainText('Allow it for this page');
  await page.reload();
  await mic.getByRole('button', { name: 'Open the microphone' }).click();
  mock.live.refusal = { status: 409, detail: 'another desk has been live since 20:00:00' };
  await mic.getByRole('button', { name: 'Go live' }).click();
  await expect(mic.getByRole('alert')).toContainText('another desk has been live since 20:00:00');
  await expect(mic).toHaveAttribute('data-mic', 'ready');
});

test('the section asks for the key, and nothing of it is loaded before it is opened', async ({ page, mock }) => {
  await open(page, '/studio', 'en');
  await expect(page.locator('section[aria-labelledby=rotation] ol li')).toHaveCount(120);
  expect(mock.asked.filter((path) => /LiveView|\/api\/station\/live/.test(path))).toEqual([]);
  await page.getByRole('link', { name: 'Live' }).click();
  await expect(page).toHaveTitle(/^Live/);
  await page.getByRole('button', { name: 'Open' }).click();
  await page.getByLabel('Station key').fill(mock.control.key);
  await page.keyboard.press('Enter');
  await expect(stream(page, sara)).toBeVisible();
  await page.getByRole('link', { name: 'Air', exact: true }).click();
  const asked = mock.count('/api/station/live');
  for (let n = 0; n < 3; n++) await expect.poll(() => mock.count('/api/status')).toBeGreaterThan(n);
  expect(mock.count('/api/station/live')).toBeLessThanOrEqual(asked + 3); // one look may have been under way
});

test('an outage is said and what was known stays; a desk and phones that are away are named', async ({ page, mock }) => {
  await page.clock.install();
  await openLive(page, mock);
  mock.apiDown = true;
  await nextLook(page, mock, '/api/station/live');
  await expect(page.locator('main')).toContainText('What you see here may be old');
  await expect(stream(page, sara)).toBeVisible();
  mock.apiDown = false;
  [mock.live.desk, mock.live.phones] = [false, false];
  await nextLook(page, mock, '/api/station/live');
  await expect(page.locator('main')).toContainText('The live desk on the broadcast node does not answer');
  await expect(page.locator('main')).toContainText('The server that phones connect to does not answer');
  await expect(stream(page, sara).getByRole('button', { name: 'Put on the air' })).toBeDisabled();
});

test('a station with nothing, and one without live broadcasting, say so', async ({ page, mock }) => {
  const { live } = mock;
  [live.registry, live.sources, live.sessions, live.publishers, live.recordings] = [[], [], [], [], []];
  await openLive(page, mock);
  await expect(panel(page, 'sources')).toContainText('No live source is known yet');
  await expect(panel(page, 'people')).toContainText('Nobody yet');
  await expect(panel(page, 'recordings')).toContainText('Each live broadcast is recorded');
  await expect(panel(page, 'air')).toContainText('The rotation is on the air.');
  live.sessions = [phone('s9', 'مها')]; // connected, and not registered yet
  await expect(page.locator('[data-session=s9]')).toContainText('مها');
  live.off = true;
  await page.reload();
  await expect(page.locator('main')).toContainText('not available at this station');
});

for (const [language, colorScheme] of faces) {
  test(`axe finds nothing in the live section, and it fits a phone: ${language} ${colorScheme}`, async ({ page, mock }) => {
    await page.emulateMedia({ colorScheme });
    mock.live.take(sara);
    mock.live.wrapUpAt = Date.now() + 55_000;
    mock.live.sources[0]!.silentMs = 7000;
    mock.live.registry[2]!.blacklisted = { failures: 2, until: Date.now() + 60_000, byOrder: false };
    await openLive(page, mock, language);
    await panel(page, 'mic').locator('.key').click();
    await expect(panel(page, 'mic')).toHaveAttribute('data-mic', 'ready');
    await expectAccessible(page, 'main');
    await expectFits(page);
    await page.locator('[data-publisher=sara] button').first().click();
    await expectAccessible(page, 'dialog[open]');
    await expectFits(page);
    await page.keyboard.press('Escape');
    await page.locator('[data-publisher=sara] button').nth(1).click();
    await page.locator('dialog[open] .key').click();
    await page.locator('dialog[open] summary').click();
    await expectAccessible(page, 'dialog[open]');
    await expectFits(page);
  });
}
