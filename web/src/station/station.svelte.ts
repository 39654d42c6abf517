import type { Link } from '../live/link.svelte';
import type { Counts, Stats, StatusEvent } from '../live/words';
import { fetchJSON, type Guard, type Played, type Queued, type Status } from './api';
import { Clock } from './clock';
import { airAt, heardAt, remember, turned, type Air, type Ear } from './ear';
import { patienceFailures, pauseOf } from './pace';
import { withTold } from './told';

const hurryMs = 400;
/** A connection that breaks is back within two seconds as a rule, and tells by itself what was missed. */
const brokenMs = { least: 2500, spread: 3000 };
/** A look that is no older need not be repeated because events begin to come. */
const freshMs = 30_000;

/**
 * What the pages know of the station. Once a link stands its events tell all
 * of it and nothing is asked. Without one it polls: often while the page is
 * looked at, seldom while it is hidden, slower and slower while nobody answers.
 */
export class Station {
  status = $state.raw<Status | null>(null);
  queue = $state.raw<Queued[]>([]);
  reachable = $state(true);
  /** What the dead-air guard is putting right: silence, gone, starved, frozen, unreachable, playlist, emergency; empty while all is well. */
  alert = $state('');

  #look: <T>(path: string) => Promise<T>;
  /** Events do not tell all that an operator sees: polling goes on beside them. */
  readonly #closely: boolean;
  readonly #clock = new Clock();
  #ear: Ear = [];
  #airs: readonly Air[] = [];
  #link = $state.raw<Link | null>(null);
  /** What the link has told since it began. */
  readonly #tells = { status: false, queue: false };
  #toldAt = 0;
  #alertAt = 0;
  #lookedAt = 0;
  /** Something has to be asked for although events come. */
  #owes = false;
  #failures = 0;
  #queueFor = '';
  #queueAt = 0;
  #hurriedUntil = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ended = new AbortController();

  /** look asks for the status; an operator's tells more. */
  constructor(look?: <T>(path: string) => Promise<T>) {
    this.#look = look ?? fetchJSON;
    this.#closely = look !== undefined;
  }

  /** A relaying server reports that the control plane is away; the sound goes on. */
  get away(): boolean {
    return this.#link?.away ?? false;
  }

  /** The station's clock, estimated from what it says. */
  now(): number {
    return this.#clock.now();
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
      // Where it was taken up where it broke, what was missed comes by itself.
      link.onUp(() => {
        this.#begin();
        link.ask('join_channel', 'main').catch(() => undefined); // nothing is told then, and polling goes on
      }),
      link.onAnew(() => this.#owe()),
      link.onDown(() => this.#schedule(brokenMs.least + Math.random() * brokenMs.spread)),
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
        this.#tells.queue = true;
      }),
      link.on('votes', ({ votes }) => this.counted(votes)),
      link.on('alert', ({ kind, state }) => {
        this.alert = state === 'raised' ? kind : '';
        this.#alertAt = Date.now();
      }),
    ];
    return () => {
      this.#link = null;
      this.#begin();
      for (const off of offs) off();
    };
  }

  /** Takes the votes on the whole queue: a track that is not named has none. */
  counted(votes: Counts): void {
    this.queue = this.queue.map((item) => ({ ...item, votes: votes[item.file] ?? 0 }));
  }

  /** Keeps up with the station until the returned function is called. */
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
    this.#owe();
  }

  /** Takes one status answer; tookMs is how long the request took. */
  take(status: Status, tookMs = 0): void {
    this.#clock.asked(status.serverTime, tookMs);
    this.#ear = remember(this.#ear, status);
    if (this.status?.track?.startedAt !== status.track?.startedAt) this.#hurriedUntil = 0;
    this.#turn(status);
    this.status = status;
    this.#reached();
  }

  /** Events tell all that is shown, and the link that brings them stands. */
  get #told(): boolean {
    return this.#tells.status && this.#tells.queue && this.#link !== null && this.#link.brings && !this.#link.away && this.status !== null;
  }

  /** What an earlier connection told counts no more. */
  #begin(): void {
    this.#tells.status = false;
    this.#tells.queue = false;
  }

  /** Looks once, unless that was done a moment ago. */
  #owe(): void {
    if (Date.now() - this.#lookedAt < freshMs && this.#hurriedUntil < Date.now() && !this.#closely) return;
    this.#owes = true;
    this.#schedule(0);
  }

  /** A poll does not say since when the state holds: it is dated by its track, and after every change known so far. */
  #turn({ state, nowPlaying = null, track, serverTime }: Status): void {
    const last = this.#airs.at(-1);
    if (last && last.from > serverTime) return; // an event has announced a later change
    const began = state === 'music' && track ? track.startedAt : serverTime;
    const from = last && last.state !== state ? Math.max(began, last.from + 1) : began;
    this.#airs = turned(this.#airs, { from, state, nowPlaying });
  }

  #hear(said: StatusEvent): void {
    const { channel, nowPlaying, track = null, state, programTime } = said;
    if (channel && channel !== 'main') return;
    this.#toldAt = Date.now();
    this.#tells.status = true;
    this.#reached();
    this.#airs = turned(this.#airs, { from: programTime || this.now(), state, nowPlaying });
    if (!this.status) return;
    if (this.status.track?.startedAt !== track?.startedAt) this.#hurriedUntil = 0;
    this.status = withTold(this.status, said);
    this.#ear = remember(this.#ear, this.status);
  }

  #count({ breakdown, bandwidth, source, serverTime }: Stats): void {
    if (serverTime) this.#clock.told(serverTime);
    if (!this.status) return;
    this.status = { ...this.status, listeners: breakdown, bandwidth: { bitsPerSecond: bandwidth }, source };
  }

  #reached(): void {
    this.reachable = true;
    this.#failures = 0;
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#ended.signal.aborted) return;
    this.#timer = setTimeout(() => void this.#poll(), ms);
  }

  async #poll(): Promise<void> {
    const asked = Date.now();
    const hurries = asked < this.#hurriedUntil;
    if (this.#told && !this.#closely && !this.#owes && !hurries && !this.#clock.stepped) return this.#again();
    try {
      const status = await this.#look<Status>('/api/status');
      if (this.#toldAt > asked && this.status) return this.#schedule(hurryMs); // an event is newer than this answer
      this.#owes = false;
      this.#lookedAt = asked;
      this.take(status, Date.now() - asked);
      if (this.#alertAt <= asked) this.alert = alertOf(status.guard);
      if (!this.#told || this.#closely) await this.#pollQueue(status);
    } catch {
      this.#failures++;
      if (this.#failures >= patienceFailures) this.reachable = false;
    }
    this.#again();
  }

  #again(): void {
    if (Date.now() < this.#hurriedUntil) return this.#schedule(hurryMs);
    const confirms = this.#link?.up ?? false;
    const told = this.#told && !this.#closely && !this.#owes;
    this.#schedule(pauseOf({ told, confirms, visible: document.visibilityState === 'visible', failures: this.#failures }));
  }

  /** Asks for the queue when the track or the rotation changed, and every 15 s. */
  async #pollQueue(status: Status): Promise<void> {
    const key = `${status.track?.startedAt} ${status.rotation.builtAt} ${status.state}`;
    if (key === this.#queueFor && Date.now() - this.#queueAt < 15_000) return;
    const asked = Date.now();
    const { queue } = await fetchJSON<{ queue: Queued[] | null }>('/api/upnext');
    if (this.#queueAt > asked) return; // an event is newer
    this.queue = queue ?? [];
    this.#queueFor = key;
    this.#queueAt = Date.now();
  }
}

/** The kind of alarm, or nothing while the guard is off, starting or watching. */
function alertOf(guard: Guard | undefined): string {
  return guard && !['off', 'starting', 'watching'].includes(guard.state) ? guard.kind : '';
}
