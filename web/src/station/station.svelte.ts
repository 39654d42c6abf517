import type { Link } from '../live/link.svelte';
import type { Counts, Stats, StatusEvent } from '../live/words';
import { fetchJSON, type Guard, type Played, type Queued, type Status } from './api';
import { airAt, heardAt, remember, turned, type Air, type Ear } from './ear';

const visibleMs = 3000;
/** While events arrive, polling only confirms them. */
const toldMs = 20_000;
const hurryMs = 400;
const hiddenMs = 12_000;
const longestMs = 20_000;
const patienceFailures = 2;

/**
 * What the pages know of the station. It polls: often while the page is
 * looked at, seldom while it is hidden, slower and slower while nobody
 * answers. Where a link stands its events feed the same fields at once, and
 * polling only makes sure of them.
 */
export class Station {
  status = $state.raw<Status | null>(null);
  queue = $state.raw<Queued[]>([]);
  reachable = $state(true);
  /** What the dead-air guard is putting right: silence, gone, starved, frozen, unreachable, playlist, emergency; empty while all is well. */
  alert = $state('');

  #look: <T>(path: string) => Promise<T>;
  #ear: Ear = [];
  #airs: readonly Air[] = [];
  #link = $state.raw<Link | null>(null);
  #toldAt = 0;
  #alertAt = 0;
  #clockAheadMs = 0;
  #failures = 0;
  #queueFor = '';
  #queueAt = 0;
  #hurriedUntil = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ended = new AbortController();

  /** look asks for the status; an operator's tells more. */
  constructor(look: <T>(path: string) => Promise<T> = fetchJSON) {
    this.#look = look;
  }

  /** A relaying server reports that the control plane is away; the sound goes on. */
  get away(): boolean {
    return this.#link?.away ?? false;
  }

  /** The station's clock, estimated from its last answer. */
  now(): number {
    return Date.now() + this.#clockAheadMs;
  }

  /** What was on at a moment of the programme. */
  heardAt(moment: number): Played | null {
    return heardAt(this.#ear, moment);
  }

  /** The status at a moment of the programme: a change of what is on shows once the listener hears it. */
  statusAt(moment: number): Status | null {
    const air = airAt(this.#airs, moment);
    return this.status && air ? { ...this.status, state: air.state, nowPlaying: air.nowPlaying ?? null } : this.status;
  }

  /** Follows the link's events until the returned function is called. */
  heed(link: Link): () => void {
    this.#link = link;
    const offs = [
      link.onUp(() => {
        link.ask('join_channel', 'main').catch(() => undefined); // the next connection joins again
        this.#schedule(0);
      }),
      link.onDown(() => this.#schedule(0)),
      link.onBack(() => this.#schedule(0)),
      link.on('link', ({ up }) => {
        if (up) return;
        this.alert = ''; // the last alarm may be out of date, and so may a look that is under way
        this.#alertAt = Date.now();
      }),
      link.on('status', (said) => this.#hear(said)),
      link.on('stats_update', (stats) => this.#count(stats)),
      link.on('timeline_update', (queue) => {
        if (Array.isArray(queue)) this.queue = queue as Queued[];
        this.#queueAt = Date.now();
      }),
      link.on('votes', ({ votes }) => this.counted(votes)),
      link.on('alert', ({ kind, state }) => {
        this.alert = state === 'raised' ? kind : '';
        this.#alertAt = Date.now();
      }),
    ];
    return () => {
      this.#link = null;
      for (const off of offs) off();
    };
  }

  /** Takes the votes on the whole queue: a track that is not named has none. */
  counted(votes: Counts): void {
    this.queue = this.queue.map((item) => ({ ...item, votes: votes[item.file] ?? 0 }));
  }

  /** Polls until the returned function is called. */
  follow(): () => void {
    const soon = () => document.visibilityState === 'visible' && this.#schedule(0);
    document.addEventListener('visibilitychange', soon, { signal: this.#ended.signal });
    window.addEventListener('online', soon, { signal: this.#ended.signal });
    this.#schedule(0);
    return () => {
      this.#ended.abort();
      clearTimeout(this.#timer);
    };
  }

  /** Polls at once, then often for ms milliseconds or until the track changes. */
  hurry(ms: number): void {
    this.#hurriedUntil = Date.now() + ms;
    this.#schedule(0);
  }

  /** Takes one status answer; tookMs is how long the request took. */
  take(status: Status, tookMs = 0): void {
    this.#clockAheadMs = status.serverTime + tookMs / 2 - Date.now();
    this.#ear = remember(this.#ear, status);
    if (this.status?.track?.startedAt !== status.track?.startedAt) this.#hurriedUntil = 0;
    this.#turn(status);
    this.status = status;
    this.reachable = true;
    this.#failures = 0;
  }

  /** A poll does not say since when the state holds: it is dated by its track, and after every change known so far. */
  #turn({ state, nowPlaying = null, track, serverTime }: Status): void {
    const last = this.#airs.at(-1);
    if (last && last.from > serverTime) return; // an event has announced a later change
    const began = state === 'music' && track ? track.startedAt : serverTime;
    const from = last && last.state !== state ? Math.max(began, last.from + 1) : began;
    this.#airs = turned(this.#airs, { from, state, nowPlaying });
  }

  #hear({ nowPlaying, track = null, state, programTime }: StatusEvent): void {
    this.#toldAt = Date.now();
    this.#airs = turned(this.#airs, { from: programTime || this.now(), state, nowPlaying });
    if (!this.status) return;
    if (this.status.track?.startedAt !== track?.startedAt) this.#hurriedUntil = 0;
    this.status = { ...this.status, nowPlaying, track, state };
    this.#ear = remember(this.#ear, this.status);
  }

  #count({ breakdown, bandwidth, source }: Stats): void {
    if (!this.status) return;
    this.status = { ...this.status, listeners: breakdown, bandwidth: { bitsPerSecond: bandwidth }, source };
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#ended.signal.aborted) return;
    this.#timer = setTimeout(() => void this.#poll(), ms);
  }

  async #poll(): Promise<void> {
    const asked = Date.now();
    try {
      const status = await this.#look<Status>('/api/status');
      if (this.#toldAt > asked && this.status) return this.#schedule(hurryMs); // an event is newer than this answer
      this.take(status, Date.now() - asked);
      if (this.#alertAt <= asked) this.alert = alertOf(status.guard);
      await this.#pollQueue(status);
    } catch {
      this.#failures++;
      if (this.#failures >= patienceFailures) this.reachable = false;
    }
    if (Date.now() < this.#hurriedUntil) return this.#schedule(hurryMs);
    const told = this.#link?.up ? toldMs : visibleMs;
    const pace = document.visibilityState === 'visible' ? told : Math.max(told, hiddenMs);
    this.#schedule(Math.min(longestMs, pace * Math.max(1, this.#failures - patienceFailures)));
  }

  /** Asks for the queue when the track or the rotation changed, and every 15 s. */
  async #pollQueue(status: Status): Promise<void> {
    const key = `${status.track?.startedAt} ${status.rotation.builtAt} ${status.state}`;
    if (key === this.#queueFor && Date.now() - this.#queueAt < 15_000) return;
    const { queue } = await fetchJSON<{ queue: Queued[] | null }>('/api/upnext');
    this.queue = queue ?? [];
    this.#queueFor = key;
    this.#queueAt = Date.now();
  }
}

/** The kind of alarm, or nothing while the guard is off, starting or watching. */
function alertOf(guard: Guard | undefined): string {
  return guard && !['off', 'starting', 'watching'].includes(guard.state) ? guard.kind : '';
}
