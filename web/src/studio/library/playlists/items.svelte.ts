import { playlistWords } from '../../../i18n/playlists';
import { tongue } from '../../../i18n/tongue.svelte';
import { Problem } from '../../../station/control';
import { count } from '../../../text/format';
import type { Door } from '../../door.svelte';
import { isIdle, joined, landed, movedList, placeAfter, placeWithout, rising, step, type Move } from '../../moves';
import { sayRefused } from '../../problem';
import type { Toasts } from '../../toasts.svelte';
import type { Span } from '../pages';
import type { Query } from '../query';
import type { Item, ItemPage, ItemsDone, Sorting } from './answers';
import { at, type Playlists } from './playlists.svelte';

const pageSize = 100;
const patienceMs = 30_000;
const settleMs = 70;
/** Steps of the keyboard are sent as one move once no other has followed. */
const pauseMs = 400;
const mostRemembered = 20;

export interface Back {
  deed: number;
  what: string;
}

/**
 * The songs of a playlist by hand. Rows come as they are looked at. A change
 * is shown at once and sent in its turn; where the station refuses it, what
 * the station has is shown again.
 */
export class Items {
  total = $state(0);
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  holes = $state(false);
  /** Somebody else changed it since: nothing is sent until it was read again. */
  stale = $state(false);
  selection = $state.raw<ReadonlySet<number>>(new Set());
  active = $state(0);
  /** What was changed here and can be taken back, the latest last. */
  backs = $state.raw<readonly Back[]>([]);
  /** Changes that are not at the station yet. */
  waiting = $state(0);
  /** Grows with each change: rows are read again. */
  seen = $state(0);

  readonly #door: Door;
  readonly #toasts: Toasts;
  readonly #lists: Playlists;
  readonly #id: number;
  #rows: (Item | undefined)[] = [];
  #version = 0;
  #span: Span = { from: 0, to: 0 };
  #turn = 0;
  #settle: ReturnType<typeof setTimeout> | undefined;
  #pause: ReturnType<typeof setTimeout> | undefined;
  /** A move that waits for the next step of the keyboard. */
  #pending: Move | null = null;
  #chain: Promise<void> = Promise.resolve();
  /** What is shown is another thing than what the station has: it is read again once nothing waits to be sent. */
  #dirty = false;
  readonly #flying = new Set<number>();

  constructor(door: Door, toasts: Toasts, lists: Playlists, id: number) {
    this.#door = door;
    this.#toasts = toasts;
    this.#lists = lists;
    this.#id = id;
  }

  get #words() {
    return playlistWords[tongue.language];
  }

  row(place: number): Item | undefined {
    void this.seen;
    return this.#rows[place];
  }

  /** Reads it from the beginning; the place that is looked at stays. */
  async load(): Promise<void> {
    const turn = ++this.#turn;
    this.#flying.clear();
    const offset = Math.floor(this.#span.from / pageSize) * pageSize;
    try {
      let page = await this.#ask(offset);
      if (page.items.length === 0 && offset > 0) page = await this.#ask(0); // it has become shorter
      if (turn !== this.#turn) return;
      this.#rows = [];
      this.#take(page);
      [this.phase, this.stale, this.holes] = ['ready', false, false];
      this.selection = new Set([...this.selection].filter((place) => place < page.total));
      this.#fill();
    } catch (failure) {
      if (turn !== this.#turn) return;
      if (!(failure instanceof Problem)) throw failure;
      if (this.phase === 'ready') this.holes = true;
      else this.phase = 'failed';
    }
  }

  /** What was changed elsewhere is read again, unless it is our own change that made it so. */
  async look(version: number): Promise<void> {
    if (this.phase !== 'ready' || this.stale || this.waiting > 0 || this.#pending || version === this.#version) return;
    this.clear(); // a place may be another song's by now
    await this.load();
  }

  stop(): void {
    clearTimeout(this.#settle);
    this.#flush();
    this.#turn++;
  }

  see(span: Span): void {
    this.#span = span;
    clearTimeout(this.#settle);
    this.#settle = setTimeout(() => this.#fill(), settleMs);
  }

  select(places: readonly number[], on = true): void {
    const next = new Set(this.selection);
    for (const place of places) {
      if (on) next.add(place);
      else next.delete(place);
    }
    this.selection = next;
  }

  selectAll(): void {
    this.selection = new Set(Array.from({ length: this.total }, (_, place) => place));
  }

  clear(): void {
    this.selection = new Set();
  }

  /** What an order of the keyboard is about: the selection where the active song is in it, else that song. */
  reached(place = this.active): number[] {
    return this.selection.has(place) ? rising(this.selection) : [place];
  }

  /** One place up or down. Answers where they are then, or null where they cannot go further. */
  step(by: -1 | 1): number | null {
    const move = step(this.reached(), by, this.total);
    if (!move || this.stale) return null;
    this.#apply(move);
    const both = this.#pending && joined(this.#pending, move, this.total);
    if (!both) this.#flush();
    this.#pending = both ?? move;
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => this.#flush(), pauseMs);
    return this.active;
  }

  /** Moves entries before a place. */
  move(places: readonly number[], to: number): void {
    const move = { places, to };
    if (this.stale || places.length === 0 || isIdle(move)) return;
    this.#flush();
    this.#apply(move);
    this.#send({ move: { places, to } }, tongue.counted(places.length, this.#words.done.moved), true);
  }

  remove(places: readonly number[]): void {
    if (this.stale || places.length === 0) return;
    this.#flush();
    const gone = new Set(places);
    const kept = new Set([...this.selection].map((place) => placeWithout(place, places)).filter((place) => place >= 0));
    this.#rows = sparse(this.#rows, this.total).filter((_, place) => !gone.has(place));
    this.total -= gone.size;
    this.selection = kept;
    this.active = Math.max(0, Math.min(this.total - 1, this.active - places.filter((place) => place < this.active).length));
    this.seen++;
    this.#send({ remove: { places } }, tongue.counted(places.length, this.#words.done.removed));
  }

  sort(by: Sorting): void {
    if (this.stale) return;
    this.#flush();
    this.clear();
    this.#send({ sort: by }, by === 'shuffle' ? this.#words.done.shuffled : this.#words.done.sorted, false, true);
  }

  /** Adds tracks at a place, or at the end; answers how many, null where it was refused. */
  async add(targets: readonly ({ query: Query } | { paths: string[] })[], place?: number): Promise<number | null> {
    if (this.stale) return null;
    this.#flush();
    let added = 0;
    let at = place;
    for (const target of targets) {
      const done = await this.#send({ add: { ...target, ...(at === undefined ? {} : { at }) } }, '', false, true);
      if (!done) return null;
      added += done.added ?? 0;
      if (at !== undefined) at += done.added ?? 0;
    }
    return added;
  }

  /** Takes the latest change back that was made here. */
  async undo(): Promise<void> {
    this.#flush();
    await this.#chain;
    const last = this.backs.at(-1);
    if (!last || this.stale) return;
    this.backs = this.backs.slice(0, -1);
    this.clear();
    if (await this.#lists.undo(last.deed)) await this.load();
  }

  #apply(move: Move): void {
    this.#rows = movedList(sparse(this.#rows, this.total), move);
    this.active = placeAfter(this.active, move);
    const chosen = move.places.length === this.selection.size && move.places.every((place) => this.selection.has(place));
    this.selection = new Set(chosen ? landed(move) : [...this.selection].map((place) => placeAfter(place, move)));
    this.seen++;
  }

  /** Sends the steps that were waiting. */
  #flush(): void {
    clearTimeout(this.#pause);
    const move = this.#pending;
    this.#pending = null;
    if (move && !isIdle(move)) this.#send({ move }, tongue.counted(move.places.length, this.#words.done.moved), true);
    else void this.#settled();
  }

  /** In its turn: each change names the version that the one before it made. */
  #send(order: object, what: string, quiet = false, reads = false): Promise<ItemsDone | null> {
    this.waiting++;
    const sent = this.#chain.then(async (): Promise<ItemsDone | null> => {
      if (this.stale) return null;
      try {
        const done = await this.#door.order<ItemsDone>('PATCH', `${at}/${this.#id}/items`, { version: this.#version, ...order }, { timeoutMs: 120_000 });
        this.#version = done.playlist.version;
        this.#lists.take(done.playlist);
        this.#lists.tellRefused(done.refused ?? []);
        this.#remember(done, what || tongue.counted(done.added ?? 0, this.#words.done.added), quiet);
        return done;
      } catch (failure) {
        await this.#refused(failure);
        return null;
      }
    }).finally(() => {
      this.waiting--;
      this.#fill();
    });
    this.#chain = sent.then(async (done) => {
      if (done && (reads || done.playlist.tracks !== this.total)) this.#dirty = true;
      await this.#settled();
    });
    return sent;
  }

  async #settled(): Promise<void> {
    if (!this.#dirty || this.waiting > 0 || this.#pending || this.stale) return;
    this.#dirty = false;
    await this.load();
  }

  #remember(done: ItemsDone, what: string, quiet: boolean): void {
    this.#lists.made++;
    const { deed } = done;
    if (!deed) return;
    this.backs = [...this.backs, { deed: deed.id, what }].slice(-mostRemembered);
    if (quiet) return;
    // Only while it is the latest: what came after it was made over it.
    const run = async (): Promise<void> => {
      if (this.backs.at(-1)?.deed === deed.id) await this.undo();
      else if (await this.#lists.undo(deed.id)) await this.load();
    };
    this.#toasts.say('good', what, { action: { label: this.#words.undo, run: () => void run() }, staysMs: 20_000 });
  }

  async #refused(failure: unknown): Promise<void> {
    if (failure instanceof Problem && failure.status === 409) this.stale = true;
    else {
      sayRefused(this.#toasts, failure);
      await this.load(); // what was shown did not come to be
    }
  }

  #fill(): void {
    if (this.waiting > 0 || this.#pending) return void (this.#settle = setTimeout(() => this.#fill(), settleMs)); // places are about to change
    for (let page = Math.floor(this.#span.from / pageSize); page * pageSize < Math.min(this.#span.to, this.total); page++) {
      if (this.#flying.has(page) || !this.#lacks(page)) continue;
      void this.#page(page);
    }
  }

  #lacks(page: number): boolean {
    const to = Math.min((page + 1) * pageSize, this.total, this.#span.to);
    for (let place = Math.max(page * pageSize, this.#span.from); place < to; place++) if (!this.#rows[place]) return true;
    return false;
  }

  async #page(page: number): Promise<void> {
    const turn = this.#turn;
    this.#flying.add(page);
    try {
      const answer = await this.#ask(page * pageSize);
      if (turn !== this.#turn || this.waiting > 0 || this.#pending) return; // it shows what was
      if (answer.version !== this.#version) return void this.load(); // a page of something else
      this.#take(answer);
      this.holes = false;
    } catch (failure) {
      if (!(failure instanceof Problem)) throw failure;
      if (turn === this.#turn) this.holes = true;
    } finally {
      this.#flying.delete(page);
    }
  }

  #ask(offset: number): Promise<ItemPage> {
    return this.#door.quietly<ItemPage>('GET', `${at}/${this.#id}/items?${new URLSearchParams({ offset: String(offset), limit: String(pageSize) })}`, undefined, { timeoutMs: patienceMs });
  }

  #take(page: ItemPage): void {
    [this.#version, this.total] = [page.version, page.total];
    for (const item of page.items) this.#rows[item.place] = item;
    if (this.active >= page.total) this.active = Math.max(0, page.total - 1);
    this.seen++;
  }
}

/** As long as the list is, holes and all. */
function sparse<T>(rows: readonly (T | undefined)[], total: number): (T | undefined)[] {
  return Array.from({ length: total }, (_, place) => rows[place]);
}

/** A place as it is counted aloud. */
export const ordinal = (place: number): string => count(place + 1, tongue.language);
