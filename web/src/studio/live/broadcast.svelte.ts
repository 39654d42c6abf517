import { broadcastWords } from '../../i18n/broadcast';
import { tongue } from '../../i18n/tongue.svelte';
import { Problem, type Method } from '../../station/control';
import type { Door } from '../door.svelte';
import { sayRefused } from '../problem';
import type { Toasts } from '../toasts.svelte';
import type { Entrances, LiveState, LiveStatus, Mode, Publisher, PublisherOrder, Recording, Stream } from './answers';
import { rowsOf } from './rows';

const everyMs = 1000;
const hiddenMs = 10_000;
const listsEveryMs = 15_000;
/** How long a recording that was deleted can be brought back. */
const heldMs = 8000;
const at = '/api/station/live';

/** A question before somebody is cut off. */
export interface Question {
  title: string;
  say: string;
  go: string;
  run: () => void;
}

/**
 * What the section knows of live broadcasting, asked for each second while it
 * is open, and the orders it gives.
 */
export class Broadcast {
  phase = $state<'loading' | 'ready' | 'locked' | 'off' | 'failed'>('loading');
  status = $state.raw<LiveStatus | null>(null);
  /** The station's clock is so far ahead of this device's, ms. */
  #ahead = $state(0);
  #tick = $state(Date.now());
  publishers = $state.raw<readonly Publisher[] | null>(null);
  recordings = $state.raw<readonly Recording[] | null>(null);
  recordingsFailed = $state(false);
  /** Names of recordings that are deleted and not gone yet. */
  leaving = $state.raw<ReadonlySet<string>>(new Set());
  /** Orders on their way, by what they are about. */
  busy = $state.raw<ReadonlySet<string>>(new Set());
  question = $state.raw<Question | null>(null);

  rows = $derived(this.status ? rowsOf(this.status) : []);
  now = $derived(this.#tick + this.#ahead);

  readonly #door: Door;
  readonly #toasts: Toasts;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #listsAt = 0;
  #open = false;
  #turn = 0;
  /** The toast of the last order that was refused. */
  #refused = 0;
  readonly #held = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(door: Door, toasts: Toasts) {
    this.#door = door;
    this.#toasts = toasts;
  }

  /** Asks until the returned function is called. */
  follow(): () => void {
    this.#open = true;
    const ticker = setInterval(() => (this.#tick = Date.now()), 500);
    const seen = () => document.visibilityState === 'visible' && this.#soon(0);
    const closing = () => this.#deleteHeld(true);
    document.addEventListener('visibilitychange', seen);
    addEventListener('pagehide', closing);
    this.#soon(0);
    return () => {
      this.#open = false;
      clearTimeout(this.#timer);
      clearInterval(ticker);
      document.removeEventListener('visibilitychange', seen);
      removeEventListener('pagehide', closing);
      this.#deleteHeld(false);
    };
  }

  /** Asks for the key, and looks again. */
  async unlock(): Promise<void> {
    try {
      await this.#door.order('GET', at);
    } catch (failure) {
      sayRefused(this.#toasts, failure);
    }
    this.#listsAt = 0;
    this.#soon(0);
  }

  async retry(): Promise<void> {
    this.#soon(0);
  }

  nameOf(stream: Pick<Stream, 'title' | 'creator'> | undefined): string {
    return stream?.title || stream?.creator || broadcastWords[tongue.language].untitled;
  }

  titleOf(id: string): string {
    return this.nameOf(this.rows.find((row) => row.id === id));
  }

  async start(id: string, mode: Mode): Promise<boolean> {
    const { done } = this.#words.streams;
    return !!(await this.#steer('start', { ...(id ? { id } : {}), mode }, mode === 'over' ? done.over : done.start, id));
  }

  stop(): Promise<unknown> {
    return this.#steer('stop', undefined, this.#words.air.stopped);
  }

  hand(id: string): Promise<unknown> {
    return this.#steer('hand', { id }, this.#words.streams.done.hand, id);
  }

  /** Seconds until the presenter should end; 0 takes the sign back. */
  wrapUp(seconds: number): Promise<unknown> {
    return this.#steer('wrapup', { seconds }, seconds ? this.#words.air.wrapUpSent : this.#words.air.wrapUpTaken);
  }

  async show(title: string, minutes: number, bed: string): Promise<boolean> {
    return !!(await this.#steer('show', { title, minutes, ...(bed ? { bed } : {}) }, this.#words.shows.begun));
  }

  endShow(): Promise<unknown> {
    return this.#steer('show/end', undefined, this.#words.shows.ended);
  }

  vote(id: string, delta: number): Promise<unknown> {
    return this.#steer('vote', { id, delta }, '', id);
  }

  block(id: string, lift: boolean): Promise<unknown> {
    return this.#steer('blacklist', { id, ...(lift ? { lift } : {}) }, this.#words.streams.done[lift ? 'unblock' : 'block'], id);
  }

  remove(id: string): Promise<unknown> {
    return this.#steer('remove', { id }, this.#words.streams.done.remove, id);
  }

  async register(order: { url: string; title: string; creator: string }): Promise<boolean> {
    return !!(await this.#steer('register', { ...order, listeners: 0, ingest: '' }, this.#words.streams.added));
  }

  hold(session: string): Promise<unknown> {
    return this.#steer('hold', { session }, this.#words.streams.held, session);
  }

  kick(session: string): Promise<unknown> {
    return this.#steer('kick', { session }, this.#words.streams.kicked, session);
  }

  get entrances(): Entrances | undefined {
    return this.status?.entrances;
  }

  /** The account with its secret where it is a new one; null where it was refused. */
  async keepPublisher(id: string, order: PublisherOrder): Promise<Publisher | null> {
    const { done } = this.#words.people;
    const kept = id
      ? await this.#give<Publisher>('PUT', `${at}/publishers/${id}`, order, done.edit, `publisher ${id}`)
      : await this.#give<Publisher>('POST', `${at}/publishers`, order, done.add, 'publisher');
    this.#lists();
    return kept;
  }

  async newLink(id: string): Promise<Publisher | null> {
    const made = await this.#give<Publisher>('POST', `${at}/publishers/${id}/secret`, undefined, '', `publisher ${id}`);
    this.#lists();
    return made;
  }

  async revoke(id: string): Promise<void> {
    await this.#give('POST', `${at}/publishers/${id}/revoke`, undefined, this.#words.people.done.revoke, `publisher ${id}`);
    this.#lists();
  }

  async removePublisher(id: string): Promise<void> {
    await this.#give('DELETE', `${at}/publishers/${id}`, undefined, this.#words.people.done.remove, `publisher ${id}`);
    this.#lists();
  }

  /** An address that plays a recording without the key; null where there is none. */
  async ticket(name: string): Promise<string | null> {
    const answer = await this.#give<{ path: string }>('POST', `${at}/recordings/${encodeURIComponent(name)}/ticket`, undefined, '', name);
    return answer?.path ?? null;
  }

  async takeIn(name: string, order: { category: string; title: string; artist: string }): Promise<boolean> {
    return (await this.#give('POST', `${at}/recordings/${encodeURIComponent(name)}/category`, order, this.#words.recordings.taken, name)) !== null;
  }

  /** Deletes a recording after a while unless that is undone; leaving the section deletes it at once. */
  deleteSoon(recording: Recording): void {
    const { name } = recording;
    this.leaving = new Set([...this.leaving, name]);
    this.#held.set(name, setTimeout(() => void this.#delete(name, false), heldMs));
    const run = () => {
      clearTimeout(this.#held.get(name));
      if (!this.#held.delete(name)) return; // too late
      this.#stay(name);
      this.#toasts.say('note', this.#words.recordings.kept);
    };
    this.#toasts.say('note', this.#words.recordings.held(this.nameOf(recording)), { action: { label: this.#words.undo, run } });
  }

  #deleteHeld(keepalive: boolean): void {
    for (const [name, timer] of this.#held) {
      clearTimeout(timer);
      void this.#delete(name, keepalive);
    }
  }

  async #delete(name: string, keepalive: boolean): Promise<void> {
    this.#held.delete(name);
    await this.#give('DELETE', `${at}/recordings/${encodeURIComponent(name)}`, undefined, '', name, keepalive);
    await this.#askRecordings();
    this.#stay(name);
  }

  #stay(name: string): void {
    this.leaving = new Set([...this.leaving].filter((other) => other !== name));
  }

  get #words() {
    return broadcastWords[tongue.language];
  }

  #lists(): void {
    this.#listsAt = 0;
    this.#soon(0);
  }

  #soon(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#open) this.#timer = setTimeout(() => void this.#look(), ms);
  }

  async #look(): Promise<void> {
    const turn = ++this.#turn;
    await this.#askStatus(turn);
    if (this.phase === 'ready' && Date.now() - this.#listsAt >= listsEveryMs) {
      this.#listsAt = Date.now();
      await Promise.all([this.#door.may('programme') && this.#askPublishers(), this.#door.may('inside') && this.#askRecordings()]);
    }
    if (turn === this.#turn) this.#soon(document.visibilityState === 'visible' ? everyMs : hiddenMs);
  }

  async #askStatus(turn: number): Promise<void> {
    // Where the key is missing, another order may have brought it meanwhile.
    if (this.phase === 'locked' && !this.#door.open) return;
    try {
      const status = await this.#door.quietly<LiveStatus>('GET', at, undefined, { timeoutMs: 8000 });
      if (turn !== this.#turn) return;
      this.#ahead = status.now - Date.now();
      this.#tick = Date.now();
      this.status = status;
      this.phase = 'ready';
    } catch (failure) {
      const { status, detail } = failure instanceof Problem ? failure : { status: 0, detail: '' };
      if (status === 401 || status === 429) {
        [this.#door.open, this.status, this.publishers, this.recordings] = [false, null, null, null];
        this.phase = 'locked';
      } else this.phase = status === 404 || (status === 503 && detail.includes('switched off')) ? 'off' : 'failed';
    }
  }

  async #askPublishers(): Promise<void> {
    const answer = await this.#door.quietly<{ publishers: Publisher[] }>('GET', `${at}/publishers`).catch(() => null);
    if (answer) this.publishers = answer.publishers;
  }

  async #askRecordings(): Promise<void> {
    try {
      this.recordings = (await this.#door.quietly<{ recordings: Recording[] }>('GET', `${at}/recordings`)).recordings;
      this.recordingsFailed = false;
    } catch {
      this.recordingsFailed = true;
    }
  }

  /** An order that answers with the state it made. */
  async #steer(order: string, body: unknown, done: string, about = order): Promise<{ live: LiveState } | null> {
    const answer = await this.#give<{ live: LiveState }>('POST', `${at}/${order}`, body, done, about);
    if (answer && this.status) {
      ++this.#turn; // a look that is under way shows what was
      this.status = { ...this.status, ...answer.live, active: answer.live.active, show: answer.live.show } as LiveStatus;
    }
    this.#soon(0);
    return answer;
  }

  async #give<T>(method: Method, path: string, body: unknown, done: string, about: string, keepalive = false): Promise<T | null> {
    if (this.busy.has(about)) return null;
    this.busy = new Set([...this.busy, about]);
    try {
      const answer = await this.#door.order<T>(method, path, body, { keepalive });
      this.#toasts.drop(this.#refused); // it is no longer how things stand
      if (done) this.#toasts.say('good', done);
      return answer ?? ({} as T);
    } catch (failure) {
      this.#refused = sayRefused(this.#toasts, failure);
      return null;
    } finally {
      this.busy = new Set([...this.busy].filter((other) => other !== about));
    }
  }
}
