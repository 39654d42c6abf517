import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Link } from '../live/link.svelte';
import type { Events, StatusEvent } from '../live/words';
import type { Played, Queued, Status } from './api';
import { Station } from './station.svelte';

const hour = 3_600_000;

const track = (n: number, startedAt: number): Played => ({ title: `Song ${n}`, artist: 'Somebody', file: `${n}.mp3`, category: 'english', type: 'music', durationMs: 180_000, startedAt });
const queued = (n: number): Queued => ({ ...track(n, 0), expectedAt: Date.now() + n });

/** A station that says what is on, and counts who asks. */
class Stand {
  on = 1;
  since = Date.now();
  alert = '';
  asked: string[] = [];
  down = false;

  status(): Status {
    return {
      station: { name: 'Athir', language: 'ar', timezone: 'UTC' }, hls: { renditions: [256, 64] }, onAir: true, state: 'music', reason: '',
      nowPlaying: { title: `Song ${this.on}`, artist: 'Somebody', file: `${this.on}.mp3` }, track: track(this.on, this.since), history: [track(this.on - 1, this.since - 180_000)],
      listeners: { total: 9, hls: 9, stream: 0 }, source: 'athir', bandwidth: { bitsPerSecond: 1 },
      rotation: { length: 9, consumed: 1, builtAt: 1, daypart: '', reason: '' }, library: { tracks: 9, quarantined: 0, scanning: false, byCategory: {} }, serverTime: Date.now(),
    };
  }

  event(): StatusEvent {
    const { station, hls, onAir, state, reason = '', nowPlaying, track, history } = this.status();
    return { channel: 'main', ...(hls ? { hls } : {}), station, onAir, state, reason, nowPlaying: nowPlaying!, track: track ?? null, history: history ?? [], programTime: this.since };
  }

  async fetch(path: string): Promise<Response> {
    this.asked.push(path);
    if (this.down) throw new TypeError('no connection');
    return Response.json(path === '/api/status' ? this.status() : { queue: [queued(this.on + 1)] });
  }
}

/** A link whose connection the test makes and breaks. */
class Line {
  up = false;
  away = false;
  brings = true;
  joined = 0;
  readonly #ears = new Map<string, ((payload: never) => void)[]>();
  readonly #ups: [() => void, (() => void) | undefined][] = [];
  readonly #anew: ((first: boolean) => void)[] = [];
  readonly #downs: (() => void)[] = [];

  on<E extends keyof Events>(event: E, hear: (payload: Events[E]) => void) {
    this.#ears.set(event, [...(this.#ears.get(event) ?? []), hear as (payload: never) => void]);
    return () => undefined;
  }
  onUp(run: () => void, again?: () => void) {
    this.#ups.push([run, again]);
    return () => undefined;
  }
  onAnew(run: (first: boolean) => void) {
    this.#anew.push(run);
    return () => undefined;
  }
  onDown(run: () => void) {
    this.#downs.push(run);
    return () => undefined;
  }
  async ask() {
    this.joined++;
  }

  tell<E extends keyof Events>(event: E, payload: Events[E]): void {
    for (const hear of this.#ears.get(event) ?? []) hear(payload as never);
  }
  connect(first: boolean, recovered = false): void {
    this.up = this.brings = true;
    for (const [run, again] of this.#ups) (recovered ? again : run)?.();
    if (!recovered) for (const run of this.#anew) run(first);
  }
  lose(): void {
    this.up = this.brings = false;
    for (const run of this.#downs) run();
  }
}

let [stand, line, page, visible] = [new Stand(), new Line(), new Station(), 'visible'];
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

function tellAll(): void {
  line.tell('status', stand.event());
  line.tell('timeline_update', [queued(stand.on + 1)]);
}

/** The next song begins. */
function next(): void {
  [stand.on, stand.since] = [stand.on + 1, Date.now()];
}

beforeEach(() => {
  vi.useFakeTimers({ now: 1_700_000_000_000 });
  visible = 'visible';
  vi.stubGlobal('document', { addEventListener: () => undefined, get visibilityState() { return visible; } });
  vi.stubGlobal('window', { addEventListener: () => undefined });
  [stand, line] = [new Stand(), new Line()];
  vi.stubGlobal('fetch', (path: string) => stand.fetch(path));
  page = new Station();
});

afterEach(() => {
  page.follow()();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

async function begin(): Promise<void> {
  page.follow();
  page.heed(line as unknown as Link);
  await pass(500);
  line.connect(true);
  tellAll();
}

test('while the link stands nothing is asked for hours, and all is known', async () => {
  await begin();
  await pass(20_000);
  stand.asked = [];
  for (let i = 0; i < 60; i++) {
    await pass(180_000);
    next();
    tellAll();
    line.tell('stats_update', { listeners: i, breakdown: { hls: i, stream: 0, icecast: 0, total: i }, bandwidth: 5, source: 'athir', at: Date.now(), serverTime: Date.now(), history: [] });
    visible = i % 2 ? 'visible' : 'hidden';
    const { serverTime: _, listeners, bandwidth, ...shown } = page.status as Status;
    const { serverTime: __, listeners: ___, bandwidth: ____, ...want } = stand.status();
    expect(shown).toEqual(want);
    expect([listeners.total, bandwidth.bitsPerSecond]).toEqual([i, 5]);
    expect(page.queue[0]?.file).toBe(`${stand.on + 1}.mp3`);
    expect(page.heardAt(page.now())?.file).toBe(`${stand.on}.mp3`);
  }
  expect(stand.asked).toEqual([]);
});

test('a link that breaks for a moment causes no look; one that stays away is polled for, until it is back', async () => {
  await begin();
  await pass(60_000);
  stand.asked = [];
  line.lose();
  await pass(2000);
  line.connect(false, true);
  await pass(hour);
  expect(stand.asked).toEqual([]);
  line.lose();
  next();
  await pass(6000);
  expect(page.status?.track?.file).toBe('2.mp3');
  expect(page.queue[0]?.file).toBe('3.mp3');
  next();
  await pass(3000);
  expect(page.status?.track?.file).toBe('3.mp3');
  stand.asked = [];
  visible = 'hidden';
  await pass(60_000);
  expect(stand.asked.filter((path) => path === '/api/status').length).toBeLessThanOrEqual(8);
  line.connect(false);
  tellAll();
  await pass(2000);
  stand.asked = [];
  await pass(hour);
  expect(stand.asked.length).toBeLessThanOrEqual(1); // the one look after a new connection
});

test('a connection that brings nothing is not trusted: it is polled beside it', async () => {
  await begin();
  await pass(60_000);
  stand.asked = [];
  line.brings = false;
  next();
  await pass(40_000);
  expect(stand.asked).toContain('/api/status');
  expect(page.status?.track?.file).toBe('2.mp3');
  line.brings = true;
  await pass(60_000);
  stand.asked = [];
  await pass(hour);
  expect(stand.asked).toEqual([]);
});

test('a server that lost the station is polled beside its link', async () => {
  await begin();
  await pass(60_000);
  [line.away, stand.asked] = [true, []];
  await pass(60_000);
  expect(stand.asked.length).toBeGreaterThan(1);
});

test('a station whose events tell no queue is asked for it', async () => {
  page.follow();
  page.heed(line as unknown as Link);
  await pass(500);
  line.connect(true);
  line.tell('status', stand.event());
  await pass(60_000);
  next();
  await pass(60_000);
  expect(page.queue[0]?.file).toBe('3.mp3');
});

test('what an operator sees is asked for beside the events', async () => {
  const seen: string[] = [];
  const studio = new Station(async <T>(path: string) => (seen.push(path), stand.status() as T));
  const end = studio.follow();
  studio.heed(line as unknown as Link);
  line.connect(true);
  tellAll();
  await pass(100_000);
  expect(seen.length).toBeGreaterThan(4);
  end();
});

test('the first look fails: it is tried again although events come', async () => {
  stand.down = true;
  await begin();
  await pass(5000);
  expect(page.status).toBeNull();
  stand.down = false;
  await pass(20_000);
  expect(page.status?.track?.file).toBe('1.mp3');
});

test('an event of another channel is not the main one’s', async () => {
  await begin();
  line.tell('status', { ...stand.event(), channel: 'fairuz', nowPlaying: { title: 'x', artist: '', file: 'x' } });
  expect(page.status?.nowPlaying?.title).toBe('Song 1');
});

test('a device whose clock was set looks at the station’s again', async () => {
  await begin();
  await pass(60_000);
  stand.asked = [];
  const real = Date.now;
  vi.spyOn(Date, 'now').mockImplementation(() => real() + hour);
  await pass(20_000);
  expect(stand.asked).toEqual(['/api/status']);
  vi.restoreAllMocks();
});
