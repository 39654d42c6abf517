import { writeFileSync } from 'node:fs';
import { chromium } from '../playwright.config';
import { expect, stopBroadcast, test } from './fixtures';

// Presses Go live again and again on a real station, each time as a new presenter, and writes to the
// file ATHIR_PRESSES when; ATHIR_WHIP, ATHIR_KEY and ATHIR_MICROPHONE as in onair.spec.ts. Whoever
// records the stream beside it knows how long each took to be heard.

const { ATHIR_URL: url = '', ATHIR_KEY: key = '', ATHIR_WHIP: whip = '', ATHIR_PRESSES: file = '', ATHIR_PRESS_COUNT: count = '20' } = process.env;

interface Noted {
  /** When the page was asked for, and when it showed what comes next. */
  openedAt?: number;
  readyAt?: number;
  pressedAt: number;
  /** When the sign said that it is on the air. */
  litAt: number;
  /** When the microphone heard the end of each short silence in its file. */
  heardAt: number[];
}

/** Runs in the page; times are epoch milliseconds. */
function note(): void {
  const noted: Noted = { pressedAt: 0, litAt: 0, heardAt: [] };
  Object.assign(globalThis, { noted });
  const now = (): number => performance.timeOrigin + performance.now();
  addEventListener('click', ({ target }) => ((target as Element).closest('.big') && !noted.pressedAt ? (noted.pressedAt = now()) : 0), true);
  new MutationObserver(() => {
    if (!noted.litAt && document.querySelector('[data-sign="on air"]')) noted.litAt = now();
  }).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-sign'] });
  const real = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = async (constraints) => {
    const stream = await real(constraints);
    void follow(stream.getAudioTracks()[0] as MediaStreamTrack);
    return stream;
  };
  async function follow(track: MediaStreamTrack): Promise<void> {
    const Processor = (globalThis as unknown as { MediaStreamTrackProcessor: new (o: { track: MediaStreamTrack }) => { readable: ReadableStream<AudioFrame> } }).MediaStreamTrackProcessor;
    let quietMs = 0;
    for (const reader = new Processor({ track: track.clone() }).readable.getReader(); ; ) {
      const { done, value } = await reader.read();
      if (done) return;
      const wave = new Float32Array(value.numberOfFrames);
      value.copyTo(wave, { planeIndex: 0, format: 'f32-planar' });
      const loud = wave.reduce((most, x) => Math.max(most, Math.abs(x)), 0) > 0.02;
      if (loud && quietMs >= 80 && quietMs < 400) noted.heardAt.push(now() - (1000 * value.numberOfFrames) / value.sampleRate);
      quietMs = loud ? 0 : quietMs + (1000 * value.numberOfFrames) / value.sampleRate;
      value.close();
    }
  }
}
interface AudioFrame {
  numberOfFrames: number;
  sampleRate: number;
  copyTo: (to: Float32Array, how: { planeIndex: number; format: string }) => void;
  close: () => void;
}

test.use({ launchOptions: { ...chromium, args: [...chromium.args, '--allow-loopback-in-peer-connection'] }, permissions: ['microphone'] });

test('go live is pressed, time after time', { tag: '@presses' }, async ({ browser, request }) => {
  test.setTimeout(3_600_000);
  const headers = { 'x-station-key': key };
  const state = async (): Promise<string> => ((await (await request.get(`${url}/api/status`)).json()) as { state: string }).state;
  const all: Noted[] = [];
  for (let n = 0; n < Number(count); n++) {
    const made = await request.post(`${url}/api/station/live/publishers`, { headers, data: { name: `presenter ${n}`, show: `show ${n}`, auto: true } });
    const { id, secret } = (await made.json()) as { id: string; secret: string };
    await expect.poll(state).toBe('music');
    const context = await browser.newContext({ baseURL: whip, viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, locale: 'en-GB' });
    await context.addInitScript(note);
    const page = await context.newPage();
    const openedAt = Date.now();
    await page.goto(`/go-live#k=${id}.${secret}`);
    await page.locator('.choice label').last().click(); // music: a tone is noise to who suppresses that
    await page.locator('[data-next]').filter({ hasText: /\S/ }).waitFor();
    const readyAt = Date.now();
    await page.waitForTimeout(500 + Math.random() * 1000); // nobody presses as the page is drawn
    await page.locator('.big').click();
    await page.locator('[data-sign="on air"]').waitFor();
    await page.waitForTimeout(6500); // a silence in the file comes every four seconds
    all.push({ ...(await page.evaluate(() => (globalThis as unknown as { noted: Noted }).noted)), openedAt, readyAt });
    await stopBroadcast(page);
    await context.close();
    writeFileSync(file, JSON.stringify(all));
  }
});
