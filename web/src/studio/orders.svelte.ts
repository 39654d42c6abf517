import { studioWords } from '../i18n/studio';
import { tongue } from '../i18n/tongue.svelte';
import type { Item } from '../station/api';
import type { Station } from '../station/station.svelte';
import { isolate } from '../text/bidi';
import type { Door } from './door.svelte';
import { namesOf } from './names';
import { sayRefused } from './problem';
import type { Toasts } from './toasts.svelte';

const patienceMs = 20_000;

export interface Pending {
  order: 'skip' | 'play' | 'rebuild';
  /** Start of what was on the air when the order was given: the order is heard once this changes. */
  startedAt: number;
  /** Taken by the station, not yet heard. */
  taken: boolean;
  title: string;
}

/** The orders of the on-air bar, one at a time: given, taken by the station, heard. */
export class Orders {
  pending = $state.raw<Pending | null>(null);

  readonly #station: Station;
  readonly #door: Door;
  readonly #toasts: Toasts;
  #late: ReturnType<typeof setTimeout> | undefined;

  constructor(station: Station, door: Door, toasts: Toasts) {
    this.#station = station;
    this.#door = door;
    this.#toasts = toasts;
  }

  /** Watches the air for what was ordered; call it while a component starts. */
  follow(): void {
    $effect(() => {
      const { pending } = this;
      const track = this.#station.status?.track;
      if (!pending?.taken || pending.order === 'rebuild' || !track || track.startedAt === pending.startedAt) return;
      this.#settle();
      this.#toasts.say('good', this.#words.heard(this.#named(track)));
    });
  }

  skip(): Promise<void> {
    return this.#give('skip', '', () => this.#door.order('POST', '/api/station/skip'));
  }

  /** Puts a track on the air; without a file the planner's choice of the category. */
  play(category: string, file?: string, title = ''): Promise<void> {
    return this.#give('play', title, () => this.#door.order('POST', '/api/station/play', file ? { category, file } : { category }));
  }

  rebuild(): Promise<void> {
    return this.#give('rebuild', '', async () => {
      await this.#door.order('POST', '/api/station/rotation/rebuild');
      this.#settle();
      this.#toasts.say('good', this.#words.rebuilt);
    });
  }

  get #words() {
    return studioWords[tongue.language].control;
  }

  #named(track: Item): string {
    return isolate(namesOf(track, tongue.language).title, tongue.direction);
  }

  async #give(order: Pending['order'], title: string, carry: () => Promise<unknown>): Promise<void> {
    if (this.pending) return;
    const startedAt = this.#station.status?.track?.startedAt ?? 0;
    this.pending = { order, startedAt, taken: false, title };
    try {
      await carry();
    } catch (failure) {
      this.#settle();
      sayRefused(this.#toasts, failure);
      return;
    }
    this.#station.hurry(patienceMs);
    if (order === 'rebuild') return;
    this.pending = { order, startedAt, taken: true, title };
    this.#late = setTimeout(() => {
      this.#settle();
      this.#toasts.say('note', this.#words.notHeard);
    }, patienceMs);
  }

  #settle(): void {
    clearTimeout(this.#late);
    this.pending = null;
  }
}
