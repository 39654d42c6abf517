import type { Page } from '@playwright/test';
import { expect, expectAccessible, expectFits, faces, open } from './fixtures';
import type { Whip } from './mock/whip';
import { key, link, phone, test } from './phone';

// The presenters' page in a real Chromium: what answers it is a peer connection in a second
// page, behind a wire that can be cut. Against a real WHIP server it is tested end to end.

// Nobody presses play on the answering side.
test.use(phone(['--autoplay-policy=no-user-gesture-required']));

const sign = (page: Page) => page.locator('[data-sign]');
const big = (page: Page) => page.locator('.big');
const warning = (page: Page, kind: string) => page.locator(`[data-warning=${kind}]`);
const expectSign = (page: Page, name: string) => expect(sign(page)).toHaveAttribute('data-sign', name);
/**
 * Stops the page's clock: a question stays, a tap is no long press, what is given some seconds has them all. So
 * much passes as it stops that facts are still believed, and the stream that brings them is not given up.
 */
const stopClock = async (page: Page) => page.clock.pauseAt((await page.evaluate(() => Date.now())) + 8000);

/** The parameters of Opus in an offer. */
const opus = (offer: string): string[] => (/^a=fmtp:111 ([^\r]*)/m.exec(offer)?.[1] ?? '').split(';');

/** Opens the link and presses the button; answers once the connection stands. */
async function goLive(page: Page, language: 'ar' | 'en' = 'en', path = link): Promise<void> {
  await open(page, path, language);
  await big(page).click();
  await expectSign(page, 'waiting');
}

/** Puts the page on the air, as far as the station's facts can. */
async function onAir(page: Page, whip: Whip): Promise<void> {
  whip.tell({ state: 'on air', since: Date.now(), takenBy: '' });
  await expectSign(page, 'on air');
}

/** Runs in the page: a microphone whose level is set by globalThis.gain, and that keeps what it was asked for. */
function synthetic(): void {
  const asked: MediaTrackConstraints[] = [];
  const made: { asked: MediaTrackConstraints[]; gain?: GainNode; track?: MediaStreamTrack } = { asked };
  Object.assign(globalThis, { synthetic: made });
  navigator.mediaDevices.getUserMedia = (constraints) => {
    asked.push(constraints?.audio as MediaTrackConstraints);
    const context = new AudioContext();
    const tone = context.createOscillator();
    const gain = context.createGain();
    const out = context.createMediaStreamDestination();
    gain.gain.value = 0.2;
    tone.connect(gain).connect(out);
    tone.start();
    made.gain = gain;
    made.track = out.stream.getAudioTracks()[0] as MediaStreamTrack;
    return Promise.resolve(out.stream);
  };
}
interface Synthetic {
  synthetic: { asked: MediaTrackConstraints[]; gain: GainNode; track: MediaStreamTrack };
}
const setGain = (page: Page, gain: number) => page.evaluate((to) => ((globalThis as unknown as Synthetic).synthetic.gain.gain.value = to), gain);
/** Sends a track the event that a phone call or a pulled plug would. */
const toTrack = (page: Page, type: string) => page.evaluate((name) => void (globalThis as unknown as Synthetic).synthetic.track.dispatchEvent(new Event(name)), type);

/** Runs in the page: every microphone is refused with the browser's word for it. */
function refuseWith(name: string): void {
  navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('no', name));
}

test('what listeners ask for is listed as it will air, and nothing where nobody does', async ({ page, whip }) => {
  const asked = (id: number, name: string, expectedAt: number) => ({ id, file: `${id}.mp3`, title: `<b>Song ${id}</b>`, artist: 'Amal', name, at: id, status: expectedAt ? ('planned' as const) : ('waiting' as const), expectedAt, airedAt: 0 });
  whip.requests = [asked(1, 'سلمى', 0), asked(2, '', Date.now() + 600_000), { ...asked(3, '', 0), status: 'aired' }];
  await open(page, link, 'en');
  const rows = page.locator('section[aria-labelledby=requested] li');
  await expect(rows).toHaveCount(2);
  await expect(rows.nth(0)).toContainText('<b>Song 2</b>');
  await expect(rows.nth(0)).toContainText('for a listener');
  await expect(rows.nth(1)).toContainText('for سلمى');
  await expectAccessible(page);
  await expectFits(page);
  whip.requests = [];
  await page.reload();
  await expect(page.locator('[data-next]')).not.toBeEmpty();
  await expect(rows).toHaveCount(0);
});

test('a key comes in the link, leaves the address at once, and stays on the phone', async ({ page }) => {
  await open(page, link, 'en');
  await expect(big(page)).toBeVisible();
  expect(new URL(page.url()).hash).toBe('');
  await page.goto('/go-live');
  await expect(big(page)).toBeVisible();
  await page.getByRole('button', { name: 'Use another key' }).click();
  await expect(big(page)).toHaveCount(0);
  await page.reload();
  await page.getByLabel('Link or key').fill('https://radio.example/go-live');
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByRole('alert')).toContainText('holds no key');
  await page.getByLabel('Link or key').fill(`https://radio.example${link}`);
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(big(page)).toBeVisible();
});

test('the account’s name and show are offered, and what was typed on this phone wins', async ({ page, whip }) => {
  whip.account = { name: 'سارة', show: 'سهرة الخميس' };
  await open(page, link, 'en');
  const [show, name] = [page.getByLabel('Title of the show'), page.getByLabel('Your name')];
  await expect(show).toHaveAttribute('placeholder', 'سهرة الخميس');
  await expect(name).toHaveAttribute('placeholder', 'سارة');
  await name.fill('Sara');
  await name.blur();
  await page.reload();
  await expect(name).toHaveValue('Sara');
  await expect(show).toHaveAttribute('placeholder', 'سهرة الخميس');
  await big(page).click();
  await expectSign(page, 'waiting');
  expect(whip.last).toMatchObject({ title: '', name: 'Sara' }); // the station fills in what is empty
});

test('who is the title and the presenter in one is named once', async ({ page, whip }) => {
  await goLive(page);
  whip.tell({ onAir: { title: 'Omar', artist: 'Omar', kind: 'live' } });
  await expect(page.locator('[data-now]')).toHaveText('Omar');
});

test('the microphone is tried before anything is sent', async ({ page, whip }) => {
  await page.addInitScript(synthetic);
  await open(page, link, 'en');
  await expect(page.locator('[data-now]')).toContainText('يا مسافر وحدك');
  await expect(page.locator('[data-next]')).not.toBeEmpty();
  await expect(page.locator('[data-listeners]')).toHaveText('128 listeners');
  expect(await page.evaluate(() => (globalThis as unknown as Synthetic).synthetic.asked)).toEqual([]);
  await page.getByRole('button', { name: 'Try the microphone' }).click();
  const level = async () => Number(await page.locator('[data-level]').getAttribute('data-level'));
  await expect.poll(level).toBeGreaterThan(-20);
  await setGain(page, 0.02);
  await expect.poll(level).toBeLessThan(-30);
  await page.getByLabel('Music').check({ force: true });
  await expect.poll(() => page.evaluate(() => (globalThis as unknown as Synthetic).synthetic.asked)).toMatchObject([
    { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 },
    { echoCancellation: false, noiseSuppression: false, autoGainControl: false, channelCount: 2 },
  ]);
  expect(whip.count('POST /whip')).toBe(0);
});

/** The formats of an offer, the preferred one first. */
const formats = (offer: string): string[] => {
  const names = new Map([...offer.matchAll(/^a=rtpmap:(\d+) ([\w-]+)/gm)].map((m) => [m[1], m[2]]));
  return (/^m=audio \d+ \S+ ([\d ]+)/m.exec(offer)?.[1] ?? '').split(' ').map((type) => names.get(type) ?? type);
};

/** Goes live from far away; answers the format that the page prefers. Sound arrives in any. */
async function farAway(page: Page, whip: Whip, saveData: boolean): Promise<string | undefined> {
  await page.addInitScript((told) => Object.defineProperty(navigator, 'connection', { value: told }), { rtt: 350, downlink: 2, saveData });
  await goLive(page);
  await expect.poll(async () => (await whip.heard()).packets).toBeGreaterThan(50);
  await expect.poll(async () => (await whip.heard()).energy).toBeGreaterThan(0);
  return formats(whip.last.offer)[0];
}

test('far away each packet carries a copy of the one before', async ({ page, whip }) => {
  expect(await farAway(page, whip, false)).toBe('red');
});

test('a device that saves data sends no copies, however far', async ({ page, whip }) => {
  expect(await farAway(page, whip, true)).toBe('opus');
});

test('the sign says on the air only once the station does, and real sound arrives', async ({ page, whip }) => {
  whip.tell({ onAir: { title: 'Break', artist: 'Break', kind: 'rotation' } }); // as everything between songs is tagged
  whip.tell({ takenBy: 'هالة' });
  await open(page, link, 'en');
  await page.getByLabel('Title of the show').fill('Evening tea');
  await page.getByLabel('Your name').fill('نور');
  await page.getByLabel('Tell the listeners').check();
  await big(page).click();
  await expectSign(page, 'waiting');
  await expect(page.locator('[data-now]')).toHaveText('A break');
  await expect(sign(page)).toContainText('هالة');
  await expect(page.getByRole('timer')).toHaveCount(0);
  expect(whip.last).toMatchObject({ title: 'Evening tea', name: 'نور', push: true, key });
  expect(whip.last.offer).toContain('a=rtcp-fb:111 nack\r\n');
  for (const part of ['maxaveragebitrate=40000', 'useinbandfec=1', 'stereo=0']) expect(opus(whip.last.offer)).toContain(part);
  await expect.poll(async () => (await whip.heard()).packets).toBeGreaterThan(50);
  await expect.poll(async () => (await whip.heard()).energy).toBeGreaterThan(0);

  // Another session of the same key feeds the pipe: this one is not heard, whatever the stream's state.
  whip.tell({ state: 'on air', since: Date.now(), holds: false, listeners: 129 });
  await expect(page.locator('[data-listeners="129"]')).toBeVisible(); // these facts have come
  await expectSign(page, 'waiting');
  whip.tell({ state: 'on air', since: Date.now() - 750_000, holds: true, takenBy: '' });
  await expectSign(page, 'on air');
  await expect(page.getByRole('timer')).toHaveText(/^1[23]:\d\d$/);
  await expect(page.locator('dt')).toHaveText(['After you']);
  whip.tell({ state: 'grace' });
  await expectSign(page, 'grace');
  whip.tell({ state: 'waiting' });
  await expectSign(page, 'waiting');
  await expect(page.getByRole('timer')).toHaveCount(0);
});

test('who is off the air by the studio reads that the studio took it back, and no show is claimed', async ({ page, whip }) => {
  await goLive(page);
  await onAir(page, whip);
  whip.tell({ state: 'taken back', takenBy: '' });
  await expectSign(page, 'taken back');
  await expect(sign(page)).toContainText('The studio took the air back');
  await expect(sign(page)).not.toContainText('show');
  await expect(page.getByRole('timer')).toHaveCount(0);
  // A new connection of one who takes the air without the studio does so again later.
  whip.tell({ state: 'taken back', freeAt: Date.now() + 600_000 });
  await expect(sign(page)).toContainText('without the studio');
  await page.getByRole('button', { name: 'Switch to Arabic' }).click();
  await expect(sign(page)).toContainText('أخرجك الاستوديو من الهواء');
});

test('who is called while muted reads that the studio calls and that unmuting puts it on the air', async ({ page, whip }) => {
  await goLive(page);
  await big(page).click();
  await expect(warning(page, 'muted')).not.toContainText('minute'); // nothing of it is on the air
  whip.tell({ state: 'called', called: true });
  await expectSign(page, 'called');
  await expect(sign(page)).toContainText('The studio calls you');
  await expect(sign(page)).toContainText('Unmute');
  await expect(page.getByRole('timer')).toHaveCount(0);
  await page.getByRole('button', { name: 'Switch to Arabic' }).click();
  await expect(sign(page)).toContainText('صوتك مكتوم');
  await page.getByRole('button', { name: 'التبديل إلى الإنجليزية' }).click();
  await big(page).click();
  await expect(sign(page)).toContainText('first sound');
  await expect(sign(page)).not.toContainText('Unmute');
  whip.tell({ state: 'called', called: false });
  await expectSign(page, 'speak');
});

test('what the station told a while ago is not shown as true', async ({ page, whip }) => {
  await page.clock.install();
  await goLive(page);
  await onAir(page, whip);
  whip.mute = true;
  await page.clock.fastForward(12_500);
  await expectSign(page, 'unsure');
  whip.mute = false;
  await expectSign(page, 'on air');
  whip.stale = true; // the server still tells, but only what it heard before the control plane went away
  await page.clock.fastForward(6000);
  await page.clock.fastForward(6500);
  await expectSign(page, 'unsure');
  whip.stale = false;
  await expectSign(page, 'on air');
});

test('mute silences the sound and tells the station, also after a new session', async ({ page, whip }) => {
  await goLive(page);
  await onAir(page, whip);
  await expect.poll(async () => (await whip.heard()).energy).toBeGreaterThan(0);
  await big(page).click();
  await expect.poll(() => whip.last.muted).toEqual([true]);
  await expect(big(page)).toHaveAttribute('aria-pressed', 'true');
  await expect(warning(page, 'muted')).toBeVisible();
  await expect.poll(async () => {
    const before = await whip.heard();
    await expect.poll(async () => (await whip.heard()).packets).toBeGreaterThan(before.packets + 60); // longer than from one beep of the fake microphone to the next
    return (await whip.heard()).energy - before.energy;
  }).toBeLessThan(1e-6);
  whip.end('server');
  await expect.poll(() => whip.sessions.length).toBe(2);
  await expect.poll(() => whip.last.muted).toEqual([true]);
  await big(page).click();
  await expect.poll(() => whip.last.muted).toEqual([true, false]);
  await expect.poll(async () => (await whip.heard()).energy).toBeGreaterThan(0);
});

test('it is stopped by two taps or one long press, never by one tap', async ({ page, whip }) => {
  await page.clock.install();
  await goLive(page);
  await onAir(page, whip);
  const stop = page.getByRole('button', { name: /^Stop|^Tap again/ });
  await stopClock(page);
  await stop.click();
  await expect(stop).toContainText('Tap again to stop');
  await expectSign(page, 'on air');
  await stop.click();
  await expectSign(page, 'stopped');
  await page.clock.resume();
  await expect.poll(() => whip.last.ended).toBe(true);
  await expect(sign(page)).toContainText('You were on the air for');
  await expect(page.getByRole('button', { name: 'Try the microphone' })).toBeVisible(); // it is closed

  whip.tell({ state: 'waiting' });
  await page.getByRole('button', { name: 'Go live again' }).click();
  await expectSign(page, 'waiting');
  await stop.dispatchEvent('pointerdown');
  await expectSign(page, 'stopped');
  await expect.poll(() => whip.last.ended).toBe(true);
});

test('the studio asks for the end, and the key runs out', async ({ page, whip }) => {
  await goLive(page);
  whip.tell({ state: 'on air', since: Date.now(), until: Date.now() + 3_600_000 });
  await expect(page.getByText('Your key is good until')).toBeVisible();
  await expect(warning(page, 'until')).toHaveCount(0);
  whip.tell({ wrapUpAt: Date.now() + 600_000, until: Date.now() + 290_000 });
  const wrapUp = page.locator('[data-wrap-up]');
  await expect(wrapUp).toContainText(/in (10:00|9:\d\d|8:\d\d)$/);
  const first = await wrapUp.textContent();
  await expect(wrapUp).not.toHaveText(first as string); // it counts down
  await expect(warning(page, 'until')).toContainText(/[34]:\d\d/);
  whip.tell({ wrapUpAt: Date.now() - 1000 });
  await expect(wrapUp).toContainText('Your time is up');
  whip.tell({ wrapUpAt: 0 });
  await expect(wrapUp).toHaveCount(0);
});

for (const [status, code, shown, keeps, en, ar] of [
  [401, 'unknown', 'unknown', false, 'not known', 'غير معروف'],
  [403, 'revoked', 'revoked', false, 'withdrawn', 'سُحب'],
  [403, 'early', 'early', true, 'opens at', 'يبدأ في'],
  [403, 'late', 'late', true, 'ended', 'انتهت'],
  [403, '', 'forbidden', true, 'Ask the studio', 'اسأل الاستوديو'],
] as const) {
  test(`a key that the station refuses as ${shown} is not tried again by itself`, async ({ page, whip }) => {
    whip.refuse = { status, body: { code, retryAt: Date.now() + 86_400_000 } };
    await open(page, link, 'en');
    await big(page).click();
    await expectSign(page, shown);
    await expect(sign(page)).toContainText(en);
    await page.getByRole('button', { name: 'Switch to Arabic' }).click();
    await expect(sign(page)).toContainText(ar);
    await expect(big(page)).toHaveCount(keeps ? 1 : 0);
    expect(whip.count('POST /whip')).toBe(1);
    await page.reload();
    await expect(keeps ? big(page) : page.locator('#key')).toBeVisible();
  });
}

for (const ended of ['replaced', 'kicked', 'revoked', 'late'] as const) {
  test(`a session that was ended as ${ended} is not begun again by itself`, async ({ page, whip }) => {
    await page.clock.install();
    await goLive(page);
    await onAir(page, whip);
    const begun = whip.count('POST /whip');
    whip.end(ended);
    await expectSign(page, ended);
    await page.clock.fastForward(60_000);
    await expectSign(page, ended);
    expect(whip.count('POST /whip')).toBe(begun);
  });
}

test('a server that is full is asked again after the time it named', async ({ page, whip }) => {
  await page.clock.install();
  whip.refuse = { status: 429, headers: { 'retry-after': '590' } };
  await open(page, link, 'en');
  await big(page).click();
  await expectSign(page, 'retrying');
  await expect(sign(page)).toContainText('no room');
  await expect(sign(page)).toContainText(/[98]:\d\d/);
  whip.refuse = null;
  await page.clock.fastForward(591_000);
  await expectSign(page, 'waiting');
});

test('a server that goes away is tried again with a countdown until it is back, and so is a press', async ({ page, whip }) => {
  await page.clock.install();
  await goLive(page);
  await onAir(page, whip);
  whip.away = true;
  whip.end('server');
  await expectSign(page, 'retrying');
  await expect(sign(page)).toContainText('does not answer');
  const tries = whip.count('POST /whip');
  await expect.poll(async () => {
    await page.clock.fastForward(31_000);
    return whip.count('POST /whip');
  }).toBeGreaterThan(tries + 2);
  await expectSign(page, 'retrying');
  whip.away = false;
  await page.getByRole('button', { name: 'Try now' }).click();
  await expectSign(page, 'on air');
  expect(whip.last.push).toBe(false);
});

test('a broken path is mended by an ICE restart within the session', async ({ page, whip }) => {
  await page.clock.install();
  await goLive(page);
  await onAir(page, whip);
  const { id } = whip.last;
  await stopClock(page); // however long the browser and the machine take to mend it
  whip.cut(true);
  await expectSign(page, 'mending');
  whip.cut(false);
  await expectSign(page, 'on air');
  expect(whip.last.id).toBe(id);
  expect(whip.asked).toContain(`PATCH /whip/${id} *`);
  const { packets } = await whip.heard();
  await expect.poll(async () => (await whip.heard()).packets).toBeGreaterThan(packets + 50);
});

test('where the session cannot be mended a new one is begun at once', async ({ page, whip }) => {
  await goLive(page);
  await onAir(page, whip);
  whip.refusePatch = 404;
  whip.cut(true);
  await expect.poll(() => whip.sessions.length).toBeGreaterThan(1);
  whip.cut(false);
  await expectSign(page, 'on air');
  // The one before is not stopped: that would take the presenter off the air.
  expect(whip.sessions.filter((s) => s.ended)).toEqual([]);
});

test('a slow network that loses packets carries the sound, and is told', async ({ page, whip }) => {
  whip.weather = { delayMs: 150, loseEvery: 10 };
  await goLive(page);
  await onAir(page, whip);
  await expect.poll(async () => (await whip.heard()).energy).toBeGreaterThan(0);
  await expect(warning(page, 'loss')).toBeVisible();
});

for (const [name, shown] of [['NotAllowedError', 'denied'], ['NotFoundError', 'missing'], ['NotReadableError', 'taken']] as const) {
  test(`a microphone that is ${shown} is explained, and the next press asks again`, async ({ page }) => {
    await page.addInitScript(refuseWith, name);
    await open(page, link, 'ar');
    await page.getByRole('button', { name: 'جرّب الميكروفون' }).click();
    await expectSign(page, shown);
    await big(page).click();
    await expectSign(page, shown);
    await page.evaluate(() => Reflect.deleteProperty(navigator.mediaDevices, 'getUserMedia'));
    await big(page).click();
    await expectSign(page, 'waiting');
  });
}

test('an address without https is explained before the first press', async ({ page }) => {
  await page.addInitScript(() => Object.defineProperty(window, 'isSecureContext', { value: false }));
  await open(page, link, 'en');
  await expectSign(page, 'insecure');
  await expect(sign(page)).toContainText('https');
  await big(page).click();
  await expectSign(page, 'insecure');
});

test('silence, clipping, a phone call and a pulled plug are noticed', async ({ page, whip }) => {
  await page.addInitScript(synthetic);
  await goLive(page);
  await onAir(page, whip);
  await setGain(page, 0);
  await expect(warning(page, 'silent')).toBeVisible();
  await setGain(page, 1.2);
  await expect(warning(page, 'clips')).toBeVisible();
  await setGain(page, 0.2);
  await expect(warning(page, 'clips')).toHaveCount(0);
  await toTrack(page, 'mute');
  await expect(warning(page, 'interrupted')).toBeVisible();
  await toTrack(page, 'unmute');
  await expect(warning(page, 'interrupted')).toHaveCount(0);
  // The next microphone takes over within the session.
  const { energy } = await whip.heard();
  const { id } = whip.last;
  await page.evaluate(() => {
    const { track } = (globalThis as unknown as Synthetic).synthetic;
    track.stop();
    track.dispatchEvent(new Event('ended'));
  });
  await expect.poll(() => page.evaluate(() => (globalThis as unknown as Synthetic).synthetic.asked.length)).toBe(2);
  await expect.poll(async () => (await whip.heard()).energy).toBeGreaterThan(energy + 0.01);
  await expectSign(page, 'on air');
  expect(whip.last.id).toBe(id);
  await page.evaluate(refuseWith, 'NotFoundError');
  await toTrack(page, 'ended');
  await expectSign(page, 'missing');
  await expect.poll(() => whip.last.ended).toBe(true);
});

test('leaving the page asks first, and is no stop: it may be loaded again', async ({ page, whip }) => {
  await goLive(page);
  await onAir(page, whip);
  const asked = new Promise<string>((done) => page.once('dialog', (dialog) => (done(dialog.type()), void dialog.accept())));
  await page.goto('/peer');
  expect(await asked).toBe('beforeunload');
  await open(page, link, 'en');
  await big(page).click();
  await expectSign(page, 'on air');
  expect(whip.sessions.map(({ ended }) => ended)).toEqual([false, false]);
});

test('the screen stays on while it is live, also after the page was away', async ({ page, whip }) => {
  await page.addInitScript(() => {
    const locks: { released: boolean }[] = [];
    const request = (): Promise<unknown> => {
      const lock = { released: false, release: () => ((lock.released = true), Promise.resolve()) };
      locks.push(lock);
      return Promise.resolve(lock);
    };
    Object.defineProperty(navigator, 'wakeLock', { value: { request } });
    Object.assign(globalThis, { locks });
  });
  const held = () => page.evaluate(() => (globalThis as unknown as { locks: { released: boolean }[] }).locks.map(({ released }) => released));
  await page.clock.install();
  await goLive(page);
  await expect.poll(held).toEqual([false]);
  await page.evaluate(() => {
    ((globalThis as unknown as { locks: { released: boolean }[] }).locks[0] as { released: boolean }).released = true; // as the browser does to a hidden page
    document.dispatchEvent(new Event('visibilitychange'));
  });
  await expect.poll(held).toEqual([true, false]);
  await stopClock(page);
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: 'Tap again' }).click();
  await expect.poll(held).toEqual([true, true]);
  await expect.poll(() => whip.last.ended).toBe(true);
});

test('music is sent in stereo, and a relay can be forced', async ({ page, whip }) => {
  await open(page, `/go-live?ice=relay#k=${key}`, 'en');
  await page.getByLabel('Music').check({ force: true });
  await big(page).click();
  await expect.poll(() => whip.sessions.length).toBe(1); // the offer has come
  for (const part of ['maxaveragebitrate=128000', 'stereo=1', 'sprop-stereo=1']) expect(opus(whip.last.offer)).toContain(part);
  expect(whip.last.offer).not.toContain('a=candidate:'); // no relay is there: nothing else may be offered
});

for (const [language, colorScheme] of faces) {
  test(`what is said is accessible and fits a small phone (${language}, ${colorScheme})`, async ({ page, whip }) => {
    await page.emulateMedia({ colorScheme });
    whip.account = { name: 'سارة', show: 'سهرة الخميس' };
    await open(page, '/go-live', language);
    await expect(page.locator('#key')).toBeVisible();
    await expectAccessible(page);
    await expectFits(page);
    await goLive(page, language);
    await expectAccessible(page);
    whip.tell({ state: 'on air', since: Date.now(), wrapUpAt: Date.now() + 60_000, until: Date.now() + 90_000, next: [{ title: 'عنوان طويل جدًا '.repeat(6), artist: 'A very long name of a band '.repeat(3) }] });
    await expectSign(page, 'on air');
    await big(page).click();
    await expect(warning(page, 'muted')).toBeVisible();
    await expectAccessible(page);
    await expectFits(page);
    whip.end('kicked');
    await expectSign(page, 'kicked');
    await expectAccessible(page);
    await expectFits(page);
  });
}
