import { byHandWords } from '../../i18n/byhand';
import { studioWords } from '../../i18n/studio';
import { tongue } from '../../i18n/tongue.svelte';
import { Problem } from '../../station/control';
import { isolate } from '../../text/bidi';
import { count } from '../../text/format';
import type { Desk } from '../desk.svelte';
import type { Door } from '../door.svelte';
import { comingOf } from '../hours';
import { namesOf } from '../names';
import { sayRefused } from '../problem';
import type { Toasts } from '../toasts.svelte';
import type { Break, Coming, Edited, Order, QueueAnswer, Song, Verdict } from './answers';
import { breakSentences } from './breaks';
import { aimAt, changesNothing, highest, intentOf, lowest, metAgain, orderFrom, placeOf, positionAt, preview, weighty, type Met } from './order';

const at = '/api/station/queue';
/** How long a place must be kept before the station is asked about it: by a pointer on its way, and by keys, which may be pressed again. */
export const pauseMs = { pointer: 120, keys: 450, none: 0 } as const;
/** How often an edit is tried again on a queue that had changed. */
const mostTries = 3;

export type State = 'asking' | 'clear' | 'breaks' | 'unknown';

/** An edit that is shown and not done yet. */
export interface Pending {
  order: Order;
  /** What is put in, of an insertion. */
  song?: Song;
  /** What it is about, as one says it. */
  name: string;
  /** It is done as soon as it is known to break nothing of weight. */
  auto: boolean;
  /** The same, by a word given while the station is still asked. */
  sure?: boolean;
  state: State;
  breaks: readonly Break[];
  lifts: readonly Break[];
  sending: boolean;
}

/**
 * The queue by hand. An edit is shown first, and the station is asked what it
 * breaks; the newest place alone is asked about. What breaks nothing of weight
 * is done at once, anything else when it is confirmed. Positions are of one
 * version of the queue: where that has changed, what was meant is looked for
 * in the new one, the same file at the same neighbour.
 */
export class Queue {
  pending = $state.raw<Pending | null>(null);
  /** For a screen reader: places on the way and what is asked. What was done is told where the news is. */
  said = $state('');
  /** A row that should have the focus once it is shown. */
  wanted = $state.raw<{ file: string; place: number } | null>(null);
  busy = $state(false);
  /** Which step of the place bar was pressed: the bar may stand in another list by then. */
  stepped: 'earlier' | 'later' | '' = '';

  readonly #door: Door;
  readonly #desk: Desk;
  readonly #toasts: Toasts;
  readonly #zone: () => string;
  #version: string | null = null;
  #entries: readonly Coming[] = [];
  #asking: AbortController | null = null;
  #pause: ReturnType<typeof setTimeout> | undefined;
  readonly #nexts = new Set<string>();

  constructor(door: Door, desk: Desk, toasts: Toasts, zone: () => string) {
    [this.#door, this.#desk, this.#toasts, this.#zone] = [door, desk, toasts, zone];
  }

  /** What is to come. */
  readonly entries: Coming[] = $derived.by(() => comingOf(this.#desk.schedule?.rotation ?? [], this.#desk.queue?.entries ?? null));

  /** The same with the pending edit in it, and where that is; a removal is not carried out before its time. */
  readonly shown: { entries: Coming[]; at: number } = $derived.by(() => {
    const { pending, entries } = this;
    if (pending?.order.op === 'remove') return { entries, at: placeOf(entries, pending.order.position) };
    return (pending && preview(entries, pending.order, pending.song)) ?? { entries, at: -1 };
  });

  /** How far down something may be put. */
  get lowest(): number {
    return lowest(this.entries, this.#desk.queue?.most);
  }

  /** Shows an edit and asks what it breaks. */
  propose(order: Order, more: { auto: boolean; pause?: number; song?: Song }): void {
    this.#drop();
    const { entries } = this;
    if (changesNothing(entries, order)) {
      this.pending = null;
      return;
    }
    const { song } = more;
    this.#base();
    this.pending = { order, name: this.#nameIn(entries, order, song), auto: more.auto, state: 'asking', breaks: [], lifts: [], sending: false, ...(song ? { song } : {}) };
    this.#ask(more.pause ?? pauseMs.none, more.pause !== pauseMs.pointer);
  }

  /** Takes the pending edit to another place. */
  aim(place: number): void {
    const { pending, entries } = this;
    if (!pending || pending.sending) return;
    const order = { ...pending.order, to: aimAt(entries, pending.order.position, Math.max(highest(entries), Math.min(place, this.lowest))) };
    if (changesNothing(entries, order)) this.#rest({ ...pending, order, state: 'clear', breaks: [], lifts: [] });
    else this.propose(order, { auto: pending.auto, pause: pauseMs.keys, ...(pending.song ? { song: pending.song } : {}) });
    this.#sayPlace();
  }

  /** An entry one step up or down, from wherever it is shown; false where it cannot go further. */
  step(position: number, place: number): boolean {
    const { pending, entries } = this;
    if (place < highest(entries) || place > Math.min(this.lowest, entries.length) - 1) return false;
    if (pending?.order.op === 'move' && pending.order.position === position) this.aim(place);
    else {
      this.propose({ op: 'move', position, to: aimAt(entries, position, place) }, { auto: true, pause: pauseMs.keys });
      this.#sayPlace();
    }
    return true;
  }

  /** An entry that is kept in hand for longer than one version of the queue may last. */
  meet(position: number): Met {
    const { entries } = this;
    const place = placeOf(entries, position);
    const [file, name] = [entries[place]?.file ?? '', this.#nameIn(entries, { op: 'move', position })];
    return { version: this.#desk.queue?.version ?? null, position, file, place, name };
  }
  find(met: Met): Coming | undefined {
    return metAgain(met, this.entries, this.#desk.queue?.version ?? null);
  }

  /** What was in hand is to come no more. */
  miss({ version, name }: Met): void {
    this.leave();
    if (version === (this.#desk.queue?.version ?? null)) this.#toasts.say('note', this.#words.heardAlready(name));
    else this.#lost(name);
  }

  /** What a pointer carries is over another place. */
  consider(position: number, place: number): void {
    const [order, meant] = [this.#carried(position, place), this.pending?.order];
    if (order.to !== meant?.to || position !== meant?.position) this.propose(order, { auto: false, pause: pauseMs.pointer });
  }

  /** Lets go of what was carried: done at once where it is known to break nothing of weight. */
  settle(position: number, place: number): void {
    const order = this.#carried(position, place);
    const { pending } = this;
    const same = pending && pending.order.position === order.position && pending.order.to === order.to && pending.state !== 'unknown';
    if (!same) return this.propose(order, { auto: true });
    this.pending = { ...pending, auto: true };
    if (pending.state === 'clear') void this.confirm();
  }

  remove(position: number): void {
    this.propose({ op: 'remove', position }, { auto: true });
  }

  /** Of an entry of the queue: to the head. */
  first(position: number): void {
    this.propose({ op: 'move', position, to: positionAt(this.entries, highest(this.entries)) }, { auto: true });
  }

  /** Begins to choose where an entry goes. */
  choose(position: number): void {
    const to = aimAt(this.entries, position, placeOf(this.entries, position));
    this.#drop();
    this.#base();
    this.stepped = '';
    const order: Order = { op: 'move', position, to };
    this.pending = { order, name: this.#nameIn(this.entries, order), auto: false, state: 'clear', breaks: [], lifts: [], sending: false };
  }

  /** Begins to choose where a track is inserted: right behind what is on the air, to begin with. */
  insert(song: Song): void {
    this.stepped = '';
    this.propose({ op: 'insert', file: song.file, to: positionAt(this.entries, highest(this.entries)) }, { auto: false, song });
  }

  cancel(): void {
    this.#drop();
    if (!this.pending) return;
    const place = placeOf(this.entries, this.pending.order.position);
    if (place >= 0) this.wanted = { file: this.entries[place]?.file ?? '', place };
    this.pending = null;
    this.said = this.#words.left;
  }

  /** Puts what was carried back without a word. */
  leave(): void {
    this.#drop();
    if (!this.pending?.sending) this.pending = null;
  }

  /** Does what is pending; what it breaks is known first. */
  async confirm(): Promise<void> {
    const { pending } = this;
    if (!pending || pending.sending) return;
    if (changesNothing(this.entries, pending.order)) return this.cancel();
    if (pending.state === 'asking') {
      this.pending = { ...pending, sure: true };
      if (this.#pause === undefined) return; // it is asked already
      this.#drop();
      return this.#ask(pauseMs.none, true);
    }
    this.#drop();
    this.pending = { ...pending, sending: true };
    const done = await this.#carry(pending.order, pending.song, true);
    if (!done) return;
    this.pending = null;
    this.wanted = done.at >= 0 ? { file: done.file, place: done.at } : null;
  }

  /** Holds up to an entry, or gives back to the planner what is held from it on. */
  async hold(position: number): Promise<void> {
    this.leave();
    await this.#carry({ op: 'lock', position });
  }
  async release(position?: number): Promise<void> {
    this.leave();
    await this.#carry({ op: 'release', ...(position === undefined ? {} : { position }) });
  }

  /** Puts a track right behind what is on the air, from wherever it is shown: what it breaks is told where the news is. */
  async next(song: Song): Promise<void> {
    if (this.#nexts.has(song.file)) return; // impatience puts nothing in twice
    this.#nexts.add(song.file);
    const order: Order = { op: 'insert', file: song.file };
    try {
      await this.#know();
      this.#base();
      const found = await this.#verdict(order).catch((failure: unknown) => (failure instanceof Problem ? null : Promise.reject(failure)));
      const heavy = found ? weighty(found.breaks) : [];
      if (heavy.length === 0) return void (await this.#carry(order, song));
      const detail = this.sentences(heavy, song).join(' · ');
      this.#toasts.closeOffers();
      this.#toasts.say('note', detail, { action: { label: this.#words.nextAnyway, run: () => void this.#carry(order, song) }, staysMs: 30_000 });
    } catch (failure) {
      sayRefused(this.#toasts, failure);
    } finally {
      this.#nexts.delete(song.file);
    }
  }

  async undo(id: string): Promise<void> {
    this.leave();
    this.busy = true;
    try {
      const answer = await this.#door.order<Partial<QueueAnswer> | undefined>('POST', `${at}/undo`, { id });
      if (answer?.entries) this.#desk.take(answer as QueueAnswer);
      else await this.#desk.refresh();
      this.#toasts.closeOffers();
      this.#toasts.say('good', this.#words.done.undone);
      this.said = '';
    } catch (failure) {
      sayRefused(this.#toasts, failure);
      await this.#desk.refresh();
    } finally {
      this.busy = false;
    }
  }

  /** What is pending in a queue that was read again. */
  look(): void {
    const { pending } = this;
    const now = this.#desk.queue;
    if (!pending || pending.sending || !now || now.version === this.#version) return this.#headMoved();
    const order = orderFrom(intentOf(this.#entries, pending.order), this.entries);
    if (!order) return this.#lost(pending.name);
    this.propose(order, { auto: pending.auto, ...(pending.song ? { song: pending.song } : {}) });
  }

  /** What rules would be broken, in sentences. */
  sentences(breaks: readonly Break[], song = this.pending?.song): string[] {
    const entries = new Map<string, Song>(this.entries.map((entry) => [entry.file, entry]));
    if (song) entries.set(song.file, song);
    const named = breaks.map((one) => ({ ...one, artist: one.artist ?? entries.get(one.file)?.artist ?? '', category: one.category ?? entries.get(one.file)?.category ?? '' }));
    return breakSentences(named, { words: this.#words, rules: studioWords[tongue.language].control.rules, language: tongue.language, timezone: this.#zone() });
  }

  get #words() {
    return byHandWords[tongue.language];
  }

  #nameIn(entries: readonly Coming[], { position }: Order, song?: Song): string {
    const one = song ?? entries[placeOf(entries, position)];
    return one ? isolate(namesOf(one, tongue.language).title, tongue.direction) : '';
  }

  #sayPlace(): void {
    const { pending, shown } = this;
    if (pending) this.said = this.#words.at(pending.name, count(shown.at + 1, tongue.language), count(shown.entries.length, tongue.language));
  }

  #carried(position: number, place: number): Order {
    const { entries } = this;
    return { op: 'move', position, to: positionAt(entries, Math.max(place, highest(entries))) };
  }

  /** Remembers the queue that orders are about. */
  #base(): void {
    this.#version = this.#desk.queue?.version ?? null;
    this.#entries = this.entries;
  }

  #drop(): void {
    clearTimeout(this.#pause);
    this.#pause = undefined;
    this.#asking?.abort();
    this.#asking = null;
  }

  /** Shows an edit that leaves all as it is: it goes no further by itself. */
  #rest(pending: Pending): void {
    this.#drop();
    this.pending = pending;
  }

  /** What was pending is on the air by now. */
  #headMoved(): void {
    const { pending } = this;
    if (!pending || pending.sending || pending.order.position === undefined || this.#desk.queue === null) return;
    if (placeOf(this.entries, pending.order.position) >= 0) return;
    this.#drop();
    this.pending = null;
    this.#toasts.say('note', this.#words.heardAlready(pending.name));
  }

  #lost(name: string): void {
    this.#drop();
    this.pending = null;
    this.#toasts.say('note', this.#words.lost(name));
    this.said = '';
  }

  /** Learns what is to come, asking who this is where the station wants to know. */
  async #know(): Promise<void> {
    if (!this.#desk.queue) this.#desk.take(await this.#door.order<QueueAnswer>('GET', at));
  }

  /** Insists: somebody gave an order, and is asked who they are where the station wants to know. */
  #verdict(order: Order, insists = true, signal?: AbortSignal): Promise<Verdict> {
    const [body, how] = [{ version: this.#version, ...order }, signal ? { signal } : {}];
    return insists ? this.#door.order<Verdict>('POST', `${at}/check`, body, how) : this.#door.quietly<Verdict>('POST', `${at}/check`, body, how);
  }

  #ask(pause: number, insists: boolean): void {
    const asking = new AbortController();
    this.#asking = asking;
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      void this.#answer(asking, insists);
    }, pause);
  }

  async #answer(asking: AbortController, insists: boolean): Promise<void> {
    const stale = () => this.#asking !== asking;
    try {
      if (this.#version === null && insists && !(await this.#enter(stale))) return;
      const { pending } = this;
      if (stale() || !pending) return;
      if (this.#version === null) return void (this.pending = { ...pending, state: 'unknown', sure: false });
      const { breaks = [], lifts = [] } = await this.#verdict(pending.order, insists, asking.signal);
      if (stale() || !this.pending) return;
      this.#asking = null;
      const heavy = weighty(breaks);
      const { auto, sure } = this.pending;
      this.pending = { ...this.pending, state: heavy.length > 0 ? 'breaks' : 'clear', breaks, lifts, sure: false };
      if (heavy.length > 0) this.said = `${this.sentences(heavy).join('. ')}. ${this.#words.place.ask[pending.order.op]} ${this.#words.place.keys}`;
      else if (auto || sure) await this.confirm();
    } catch (failure) {
      if (stale() || !this.pending) return;
      if (!(failure instanceof Problem)) {
        this.pending = null;
        return void sayRefused(this.#toasts, failure);
      }
      this.pending = { ...this.pending, state: 'unknown', sure: false };
      if (failure.status === 409) await this.#desk.refresh(); // look() finds the place in what there is now
    }
  }

  /** Learns the version that the pending edit is of; false where that was not told. */
  async #enter(stale: () => boolean): Promise<boolean> {
    const before = this.#entries;
    const { pending } = this;
    await this.#know();
    if (stale() || !pending) return false;
    const order = orderFrom(intentOf(before, pending.order), this.entries);
    this.#base();
    if (!order) return (this.#lost(pending.name), false);
    this.pending = { ...pending, order };
    return true;
  }

  /** Sends an edit; where the queue had changed, what was meant is sent again. Null where it was not done. */
  async #carry(order: Order, song?: Song, shown = false): Promise<{ file: string; at: number } | null> {
    this.busy = true;
    let [meant, moved] = [order, false];
    try {
      if (!this.#desk.queue) {
        const before = this.#entries;
        await this.#know();
        meant = orderFrom(intentOf(before.length > 0 ? before : this.entries, order), this.entries) ?? order;
      }
      this.#base();
      for (let tries = 1; ; tries++) {
        const entries = this.#entries;
        const name = this.#nameIn(entries, meant, song);
        try {
          const done = await this.#door.order<Edited>('POST', `${at}/edit`, { version: this.#version, ...meant });
          this.#tell(meant, name, done, moved);
          const landed = preview(entries, meant, song);
          const file = song?.file ?? landed?.entries[landed.at]?.file ?? '';
          return { file, at: landed?.at ?? -1 };
        } catch (failure) {
          if (!(failure instanceof Problem) || failure.status !== 409 || tries >= mostTries) throw failure;
          await this.#desk.refresh();
          if (this.#desk.queue?.version === this.#version) throw failure; // nothing can be changed at the moment
          const again = orderFrom(intentOf(entries, meant), this.entries);
          if (!again) return (this.#lost(name), null);
          this.#base();
          [meant, moved] = [again, true];
          if (shown && (await this.#heavier(meant))) return null;
        }
      }
    } catch (failure) {
      this.pending = null;
      sayRefused(this.#toasts, failure);
      await this.#desk.refresh();
      return null;
    } finally {
      this.busy = false;
    }
  }

  /** Whether an edit breaks something in the queue as it is now that nobody was asked about; then it is asked. */
  async #heavier(order: Order): Promise<boolean> {
    const { pending } = this;
    if (!pending) return true;
    const { breaks, lifts } = await this.#verdict(order);
    const asked = new Set(pending.breaks.map(({ rule, file }) => `${rule} ${file}`));
    if (weighty(breaks).every(({ rule, file }) => asked.has(`${rule} ${file}`))) return false;
    this.pending = { ...pending, order, state: 'breaks', breaks, lifts, sending: false };
    this.said = `${this.sentences(weighty(breaks)).join('. ')}. ${this.#words.place.ask[order.op]}`;
    this.#toasts.say('note', this.#words.changed);
    return true;
  }

  #tell(order: Order, name: string, done: Edited, moved: boolean): void {
    const { op, to } = order;
    const head = to === undefined || to === positionAt(this.#entries, highest(this.#entries));
    const say = this.#words.done;
    const text = op === 'release' ? say.release : (op === 'insert' || op === 'move') && head ? say.next(name) : say[op](name);
    this.#desk.take(done);
    const { deed } = done;
    this.#toasts.closeOffers();
    const more = deed ? { action: { label: this.#words.undo, run: () => void this.undo(deed.id) }, staysMs: 20_000 } : {};
    this.#toasts.say(moved ? 'note' : 'good', text, { ...more, ...(moved ? { detail: this.#words.kept(name) } : {}) });
    this.said = '';
  }
}
