import type { Browser, BrowserContext, Locator, Page } from '@playwright/test';
import { chromium } from '../playwright.config';
import { broadcastWords } from '../src/i18n/broadcast';
import { goLiveWords } from '../src/i18n/golive';
import { studioWords } from '../src/i18n/studio';
import { expect, expectAccessible, expectFits, open, stopBroadcast, test as base } from './fixtures';

// Presenters and the studio on a real station of one's own, by its real WHIP server:
// ATHIR_URL=http://127.0.0.1:5000 ATHIR_KEY=… ATHIR_WHIP=http://127.0.0.1:8089 npm run e2e -- onair
// live.address has to be ATHIR_WHIP. ATHIR_MICROPHONE is what all microphones hear. Where
// there is an encoder whose account is called ATHIR_ENCODER, the air is handed to it and back; a POST
// to ATHIR_CONNECT connects it.

const { ATHIR_KEY: key = '', ATHIR_WHIP: whip = '', ATHIR_ENCODER: encoder = '', ATHIR_CONNECT: connect = '' } = process.env;
type Language = 'ar' | 'en';

interface Seen {
  signs: { sign: string; state: string }[];
}

/** Runs in the page: keeps every sign, and what the station's own status was as it was lit. */
function keepSigns(): void {
  const signs: Seen['signs'] = [];
  Object.assign(globalThis, { signs });
  let last = '';
  new MutationObserver(() => {
    const sign = document.querySelector('[data-sign]')?.getAttribute('data-sign') ?? '';
    if (!sign || sign === last) return;
    last = sign;
    const seen = { sign, state: '' };
    signs.push(seen);
    void fetch('/api/status').then(async (answer) => (seen.state = ((await answer.json()) as { state: string }).state));
  }).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-sign'] });
}

/** Opens phones: small pages with a browser profile of their own. What goes wrong on one fails the test. */
type Phones = (language: Language) => Promise<Page>;

async function newPhone(browser: Browser, language: Language, errors: string[]): Promise<BrowserContext> {
  const context = await browser.newContext({ baseURL: whip, viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, locale: language === 'ar' ? 'ar-EG' : 'en-GB' });
  await context.addInitScript(keepSigns);
  context.on('weberror', (fault) => errors.push(String(fault.error())));
  context.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) errors.push(message.text());
  });
  return context;
}

const test = base.extend<{ phones: Phones }>({
  phones: async ({ browser }, use) => {
    const [contexts, errors]: [BrowserContext[], string[]] = [[], []];
    await use(async (language) => {
      const context = await newPhone(browser, language, errors);
      contexts.push(context);
      return context.newPage();
    });
    for (const context of contexts) await context.close();
    expect(errors).toEqual([]);
  },
});

test.use({
  // The station is on the loopback.
  launchOptions: { ...chromium, args: [...chromium.args, '--allow-loopback-in-peer-connection', '--autoplay-policy=no-user-gesture-required'] },
  permissions: ['clipboard-read', 'clipboard-write', 'microphone'],
});

const panel = (page: Page, id: string) => page.locator(`section[aria-labelledby=live-${id}]`);
const big = (phone: Page) => phone.locator('.big');
const expectSign = (phone: Page, name: string) => expect(phone.locator('[data-sign]')).toHaveAttribute('data-sign', name);
const row = (page: Page, kind: string, language: Language): Locator =>
  page.locator('[data-stream]').filter({ has: page.locator('.facts > span', { hasText: new RegExp(`^${broadcastWords[language].kinds[kind]}$`) }) });

async function look<T>(page: Page, path: string): Promise<T> {
  return (await page.request.get(`${process.env.ATHIR_URL}${path}`, { headers: { 'x-station-key': key } })).json() as Promise<T>;
}

interface Status {
  state: string;
  nowPlaying: { title: string; artist: string };
}
const onStation = async (page: Page): Promise<string> => {
  const { state, nowPlaying } = await look<Status>(page, '/api/status');
  return state === 'live' ? `${nowPlaying.title} · ${nowPlaying.artist}` : state;
};

/** The studio's section Live, as the operator opens it. */
async function atDesk(page: Page, language: Language): Promise<void> {
  const { control } = studioWords[language];
  await open(page, '/studio#/live', language);
  await page.getByRole('main').getByRole('button', { name: control.key.enter }).click();
  await page.locator('#station-key').fill(key);
  await page.keyboard.press('Enter');
  await expect(panel(page, 'people').locator('.key')).toBeVisible();
}

/** Makes an account in the studio, and takes its link by the button that copies. */
async function newPresenter(page: Page, language: Language, name: string, show: string): Promise<string> {
  const words = broadcastWords[language];
  await panel(page, 'people').getByRole('button', { name: words.people.add }).click();
  const form = page.getByRole('dialog', { name: words.people.addTitle });
  await form.getByLabel(words.people.name, { exact: true }).fill(name);
  await form.getByLabel(words.people.show, { exact: true }).fill(show);
  await form.getByLabel(words.people.auto).check();
  await form.getByRole('button', { name: words.people.add }).click();
  const dialog = page.getByRole('dialog').filter({ hasText: words.people.linkSay });
  await dialog.getByRole('button', { name: words.copy, exact: true }).click();
  await expect(dialog).toContainText(words.copied);
  const link = await page.evaluate(() => navigator.clipboard.readText());
  await expect(dialog.locator('code')).toHaveText(link);
  expect(link.startsWith(`${whip}/go-live#k=`)).toBe(true);
  await dialog.getByRole('button', { name: words.close, exact: true }).click();
  return link;
}

/** Opens a link on a phone, says what the show is, and presses the button. Music: a tone is noise to who suppresses that. */
async function goLive(phone: Page, language: Language, link: string, title: string, name: string): Promise<void> {
  await open(phone, link, language);
  await expect(big(phone)).toContainText(goLiveWords[language].go);
  expect(new URL(phone.url()).hash).toBe('');
  await phone.getByLabel(goLiveWords[language].show).fill(title);
  await phone.getByLabel(goLiveWords[language].name).fill(name);
  await phone.getByLabel(goLiveWords[language].sound.music).check({ force: true });
  await big(phone).click();
  await expectSign(phone, 'on air');
}

/** Presses the button of the studio's question that says what will happen. */
async function confirm(page: Page, name: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name, exact: true }).click();
  await expect(dialog).toBeHidden();
}

/** Every time the sign said that it was on the air, the station said so too. */
async function expectTruth(phone: Page): Promise<void> {
  const signs = (): Promise<Seen['signs']> => phone.evaluate(() => (globalThis as unknown as Seen).signs);
  await expect.poll(async () => (await signs()).filter(({ state }) => !state)).toEqual([]);
  const lit = (await signs()).filter(({ sign }) => sign === 'on air');
  expect(lit.length).toBeGreaterThan(0);
  expect(lit.filter(({ state }) => state !== 'live')).toEqual([]);
}

test('a presenter goes live from the link, mutes, sees the wrap-up sign, hands the air over and back, and stops', { tag: '@live' }, async ({ page, phones }) => {
  const words = broadcastWords.en;
  await atDesk(page, 'en');
  const link = await newPresenter(page, 'en', 'Nour', 'Evening tea');
  const phone = await phones('en');
  await goLive(phone, 'en', link, 'Night tea', 'Nour');
  await expectTruth(phone);
  await expect.poll(() => onStation(page)).toBe('Night tea · Nour');
  await expect(phone.getByRole('timer')).toHaveText(/^[0-4]:\d\d$/); // on a busy machine all that comes before takes its time

  const air = panel(page, 'air');
  await expect(air).toHaveAttribute('data-air', 'on');
  await expect(air.locator('.title')).toHaveText('Night tea');
  const session = page.locator('[data-session]');
  await expect(session).toHaveCount(1);
  await expect(session).toHaveAttribute('data-holds', 'true');
  await expect(session).toContainText(/round trip \d+ ms/);
  await expect(session).toContainText(/loss [\d.]+%/); // on a starved machine there is some
  await expect.poll(async () => Number(await session.getByRole('meter').getAttribute('aria-valuenow'))).toBeGreaterThan(-40);

  await big(phone).click();
  await expect(phone.locator('[data-warning=muted]')).toBeVisible();
  await expect(session).toContainText(words.streams.muted);
  await big(phone).click();
  await expect(phone.locator('[data-warning=muted]')).toHaveCount(0);
  await expect(session.locator('.chip.bad')).toHaveCount(0);
  await expectSign(phone, 'on air');

  await air.getByRole('button', { name: words.air.wrapUp }).click();
  await expect(phone.locator('[data-wrap-up]')).toContainText(/in (1:00|0:\d\d)$/);
  await air.getByRole('button', { name: words.air.wrapUpBack }).click();
  await expect(phone.locator('[data-wrap-up]')).toHaveCount(0);

  if (encoder) {
    if (connect) expect((await page.request.post(connect)).ok()).toBe(true);
    const other = row(page, 'encoder', 'en');
    await expect(other.getByRole('button', { name: words.streams.hand })).toBeEnabled();
    await other.getByRole('button', { name: words.streams.hand }).click();
    await confirm(page, words.streams.hand);
    await expectSign(phone, 'waiting');
    await expect(phone.locator('[data-sign]')).toContainText(encoder);
    await expect.poll(() => onStation(page)).toContain(encoder);
    await row(page, 'phone', 'en').getByRole('button', { name: words.streams.hand }).click();
    await confirm(page, words.streams.hand);
    await expectSign(phone, 'on air');
    await expect(air.locator('dl')).toContainText(encoder); // who follows if this one fails
  }
  await stopBroadcast(phone);
  await expect(phone.locator('[data-sign]')).toContainText('You were on the air for');
  await expect(session).toHaveCount(0);
  if (encoder) {
    await expect.poll(() => onStation(page)).toContain(encoder);
    await row(page, 'encoder', 'en').getByRole('button', { name: words.streams.block }).click();
    await confirm(page, words.streams.block);
    await air.getByRole('button', { name: words.air.stop }).click();
    await confirm(page, words.air.stop);
  }
  await expect.poll(() => onStation(page)).toBe('music');
  await expectTruth(phone);
});

test('the studio disconnects a phone, and plays what was recorded of it', { tag: '@live' }, async ({ page, phones }) => {
  const words = broadcastWords.ar;
  await atDesk(page, 'ar');
  const link = await newPresenter(page, 'ar', 'سلمى', 'سهرة');
  const phone = await phones('ar');
  await goLive(phone, 'ar', link, 'ليل القاهرة', 'سلمى');
  await expect(phone.locator('[data-sign]')).toContainText(goLiveWords.ar.sign['on air'].title);
  await expect.poll(() => onStation(page)).toBe('ليل القاهرة · سلمى');
  await expectAccessible(phone);
  await expectFits(phone);
  await page.locator('[data-session]').getByRole('button', { name: words.streams.kick }).click();
  await confirm(page, words.streams.kick);
  await expectSign(phone, 'kicked');
  await expect(phone.locator('[data-sign]')).toContainText(goLiveWords.ar.ended.kicked.title);
  await expect.poll(() => onStation(page)).toBe('music');
  await expectTruth(phone);

  const recording = page.locator('[data-recording]').filter({ hasText: 'ليل القاهرة' }).first();
  await recording.getByRole('button', { name: words.recordings.play, exact: true }).click();
  await expect.poll(() => recording.locator('audio').evaluate((audio: HTMLAudioElement) => audio.currentTime)).toBeGreaterThan(0.2);
  expect(await recording.locator('audio').evaluate((audio: HTMLAudioElement) => audio.error)).toBeNull();
});

test('the studio speaks by its own microphone, and gives the air back', { tag: '@live' }, async ({ page }) => {
  const words = broadcastWords.ar;
  await atDesk(page, 'ar');
  const mic = panel(page, 'mic');
  await mic.getByRole('button', { name: words.mic.ready }).click();
  await mic.getByLabel(words.mic.processing).uncheck();
  await expect.poll(async () => Number(await mic.getByRole('meter').getAttribute('aria-valuenow'))).toBeGreaterThan(-50);
  await mic.getByRole('button', { name: words.mic.begin }).click();
  await expect(mic).toHaveAttribute('data-mic', 'air');
  await expect(mic).toContainText(words.mic.phases.air as string);
  await expect.poll(() => onStation(page)).toContain(' · '); // live
  await expect(panel(page, 'air').locator('.time strong')).toBeVisible();
  await mic.getByRole('button', { name: words.mic.end, exact: true }).click();
  await expect(mic).toHaveAttribute('data-mic', 'ready');
  await expect.poll(() => onStation(page)).toBe('music');
});

for (const [way, language] of [['udp', 'en'], ['tcp', 'ar']] as const) {
  test(`a phone whose network lets nothing else through goes live by the relay, over ${way}`, { tag: '@live' }, async ({ page, phones }) => {
    let made: { id?: string; secret?: string } = {};
    await expect.poll(async () => {
      const answer = await page.request.post(`${process.env.ATHIR_URL}/api/station/live/publishers`, { headers: { 'x-station-key': key }, data: { name: `relay ${way}`, show: 'far away', auto: true } });
      made = await answer.json();
      return answer.status();
    }).toBe(201); // or 503, as to anybody
    const { id, secret } = made;
    const phone = await phones(language);
    await phone.addInitScript(() => {
      const Real = RTCPeerConnection;
      globalThis.RTCPeerConnection = class extends Real {
        constructor(settings?: RTCConfiguration) {
          super(settings);
          (globalThis as unknown as { peer: RTCPeerConnection }).peer = this;
        }
      };
    });
    await goLive(phone, language, `/go-live?ice=relay-${way}#k=${id}.${secret}`, `by ${way}`, 'Omar');
    await expect.poll(() => onStation(page)).toBe(`by ${way} · Omar`);
    const relayed = async () => (await look<{ sessions?: { relayed: boolean }[] }>(page, '/api/station/live')).sessions?.map((session) => session.relayed);
    await expect.poll(relayed).toEqual([true]); // looked at once a second
    const pair = await phone.evaluate(async () => {
      const stats = [...(await (globalThis as unknown as { peer: RTCPeerConnection }).peer.getStats()).values()];
      const { localCandidateId } = stats.find(({ type, nominated, state }) => type === 'candidate-pair' && nominated && state === 'succeeded');
      const { candidateType, relayProtocol } = stats.find(({ id: one }) => one === localCandidateId);
      return [candidateType, relayProtocol];
    });
    expect(pair).toEqual(['relay', way]);
    await stopBroadcast(phone);
    await expect.poll(() => onStation(page)).toBe('music');
    await expectTruth(phone);
  });
}
