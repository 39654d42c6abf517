import { tick, untrack } from 'svelte';
import type { Desk } from '../desk.svelte';
import { Drag } from '../drag.svelte';
import type { Row } from '../hours';
import { latinOf } from '../keyboard';
import { placeOf, type Met } from './order';
import type { Queue } from './queue.svelte';

/** What the list of rows asks for and can do. */
export interface Listed {
  /** What scrolls. */
  box: () => HTMLElement | undefined;
  /** The rows that are shown. */
  rows: () => readonly Row[];
  /** Shows why an entry stands there, or hides it. */
  ask: (row: Row) => void;
}

/** The rotation as a list whose rows are carried by a pointer and moved by keys. Call follow while its component starts. */
export class HandList {
  /** The row whose orders are open, and the button that opened them. */
  menu = $state.raw<{ met: Met; anchor: HTMLElement } | null>(null);
  /** Where what is carried would be put, in pixels of the list. */
  aim = $state(0);

  readonly queue: Queue;
  readonly #desk: Desk;
  readonly #list: Listed;
  readonly #drag: Drag;
  #active = $state('');
  /** What a pointer carries: its place may be another one by the time it is let go. */
  #met = $state.raw<Met | null>(null);
  #metAt = $state(-1);
  /** The keyboard did what is done: it gets its row back. */
  #byKeys = false;

  constructor(queue: Queue, desk: Desk, list: Listed) {
    [this.queue, this.#desk, this.#list] = [queue, desk, list];
    this.#drag = new Drag({ box: list.box, placeAt: (y) => this.#placeAt(y), reach: () => ({ edge: 48, head: 36 }) });
  }

  /** The place of what a pointer carries; -1 for none. */
  get carried(): number {
    return this.#met ? this.#metAt : -1;
  }

  get pendingAt(): number {
    return this.queue.pending && this.carried < 0 ? this.queue.shown.at : -1;
  }

  /** Whether what is pending is about to be done without a question. */
  get quiet(): boolean {
    const { pending } = this.queue;
    return pending !== null && pending.auto && (pending.state === 'asking' || pending.state === 'clear');
  }

  isActive(row: Row): boolean {
    const rows = this.#list.rows();
    const known = rows.some(({ key, place }) => key === this.#active && place >= 0);
    return known ? row.key === this.#active : row.place >= 0 && rows.find(({ place }) => place >= 0)?.key === row.key;
  }

  follow(): void {
    const { queue } = this;
    // What is pending is looked for in a queue that was read again.
    $effect(() => {
      void [this.#desk.queue, this.#desk.schedule];
      untrack(() => queue.look());
    });
    // An entry that is being placed is in sight.
    $effect(() => {
      const at = this.pendingAt;
      if (at >= 0) void tick().then(() => this.#rowAt(at)?.scrollIntoView({ block: 'nearest' }));
    });
    $effect(() => {
      const { wanted } = queue;
      if (!wanted) return;
      queue.wanted = null;
      if (this.#byKeys) void tick().then(() => this.#focus(wanted.place, wanted.file));
    });
    // The station is asked about each place at which the pointer stays, or which comes to where it is.
    $effect(() => {
      const { carried } = this.#drag;
      const met = this.#met;
      if (!carried || !met) return;
      const entry = queue.find(met);
      if (!entry) return untrack(() => this.#miss(met));
      this.#metAt = placeOf(queue.entries, entry.position);
      const to = this.#placeAt(carried.y);
      const [row, last] = [this.#rowAt(to), this.#rows().at(-1)];
      this.aim = row ? row.offsetTop : last ? last.offsetTop + last.offsetHeight : 0;
      untrack(() => queue.consider(entry.position, to));
    });
    $effect(() => {
      const escape = (event: KeyboardEvent) => event.key === 'Escape' && this.carried >= 0 && this.#drag.end(event) && this.#leave();
      addEventListener('keydown', escape);
      return () => {
        removeEventListener('keydown', escape);
        this.#drag.end();
        untrack(() => queue.leave());
      };
    });
  }

  /** The pointer is at the list: what is done next is not the keyboard's. */
  touched(): void {
    this.#byKeys = false;
  }

  reached(row: Row): void {
    this.#active = row.key;
  }

  grab(event: PointerEvent & { currentTarget: HTMLElement }, row: Row): void {
    if (this.queue.pending?.sending) return;
    this.queue.leave();
    this.#byKeys = false;
    if (!this.#drag.grab(event, [row.place], row.place, { drop: ({ y }) => this.#drop(y), leave: () => this.#leave() })) return;
    this.#active = row.key;
    [this.#met, this.#metAt] = [this.queue.meet(row.position), row.place];
  }

  #drop(y: number): void {
    const met = this.#met;
    this.#met = null;
    if (!met) return;
    const entry = this.queue.find(met);
    if (entry) this.queue.settle(entry.position, this.#placeAt(y));
    else this.queue.miss(met);
  }

  #leave(): void {
    this.#met = null;
    this.queue.leave();
  }

  open(row: Row, anchor: HTMLElement): void {
    this.menu = { met: this.queue.meet(row.position), anchor };
  }

  /** The row whose orders are open, as it is now. */
  get menuRow(): Row | null {
    const entry = this.menu && this.queue.find(this.menu.met);
    return (entry && this.#list.rows().find(({ place, position }) => place >= 0 && position === entry.position)) ?? null;
  }

  /** It is to come no more. */
  menuGone(): void {
    if (!this.menu) return;
    this.queue.miss(this.menu.met);
    this.menu = null;
    if (this.#byKeys) void tick().then(() => this.#focus(0));
  }

  #miss(met: Met): void {
    this.#drag.end();
    this.#met = null;
    this.queue.miss(met);
  }

  keys(event: KeyboardEvent, row: Row): void {
    if (event.defaultPrevented) return;
    this.#byKeys = true;
    if (this.#pressed(event, row)) event.preventDefault();
  }

  #pressed(event: KeyboardEvent, row: Row): boolean {
    const { queue } = this;
    const { key, altKey } = event;
    const whole = event.ctrlKey || event.metaKey;
    const own = event.target === event.currentTarget;
    const reads = event.target instanceof Element && event.target.closest('.wide, [data-place]') !== event.currentTarget; // its reason
    const shown = this.#list.rows().filter(({ place }) => place >= 0);
    const at = shown.findIndex((one) => one.key === row.key);
    const to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: shown.length - 1 }[key];
    if (altKey && (key === 'ArrowUp' || key === 'ArrowDown')) {
      const place = shown[to ?? -1]?.place;
      if (place !== undefined && queue.step(row.position, place)) void tick().then(() => this.#focus(queue.shown.at));
    } else if (!reads && !altKey && !whole && to !== undefined) {
      const next = shown[to];
      if (next) this.#focus(next.place);
    } else if (key === 'Escape' && queue.pending) queue.cancel();
    else if (whole && !event.shiftKey && latinOf(event) === 'z' && this.#desk.queue?.undo) void queue.undo(this.#desk.queue.undo.id);
    else if (whole || altKey || !own) return false;
    else if (key === 'Delete') queue.remove(row.position);
    else if (latinOf(event) === 'l') void (row.locked ? queue.release(row.position) : queue.hold(row.position));
    else if (key === 'Enter') {
      if (queue.pending && row.place === this.pendingAt) void queue.confirm();
      else this.#list.ask(row);
    } else return false;
    return true;
  }

  #rows(): HTMLElement[] {
    return [...(this.#list.box()?.querySelectorAll<HTMLElement>('[data-place]') ?? [])];
  }

  #rowAt(place: number): HTMLElement | null {
    return this.#list.box()?.querySelector<HTMLElement>(`[data-place="${place}"]`) ?? null;
  }

  #focus(place: number, file = ''): void {
    const all = this.#rows();
    const there = this.#rowAt(place);
    const row = there && (!file || there.dataset['file'] === file) ? there : (all.find((one) => one.dataset['file'] === file) ?? there ?? all.at(-1));
    row?.focus({ preventScroll: true });
    row?.scrollIntoView({ block: 'nearest' });
  }

  /** The place before which a pointer would put what it carries. */
  #placeAt(y: number): number {
    const all = this.#rows();
    const below = all.find((row) => {
      const { top, height } = row.getBoundingClientRect();
      return y < top + height / 2;
    });
    const placeIn = (row: HTMLElement) => Number(row.dataset['place']);
    const last = all.at(-1);
    return Math.min(below ? placeIn(below) : last ? placeIn(last) + 1 : 0, this.queue.lowest);
  }
}
