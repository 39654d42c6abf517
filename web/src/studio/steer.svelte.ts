import { createContext } from 'svelte';
import { studioWords } from '../i18n/studio';
import { tongue } from '../i18n/tongue.svelte';
import type { Station } from '../station/station.svelte';
import type { Song } from './byhand/answers';
import type { Hands } from './byhand/hands';
import type { Desk } from './desk.svelte';
import type { Door } from './door.svelte';
import type { Orders } from './orders.svelte';
import type { Toasts } from './toasts.svelte';

/** Rows wherever a track is shown put it on the air through this. */
export const [steering, setSteering] = createContext<Steer>();

/** Puts tracks on the air, at once or into the queue. What edits the queue is loaded when it is first needed. */
export class Steer {
  hands = $state.raw<Hands | null>(null);

  readonly door: Door;
  readonly desk: Desk;
  readonly toasts: Toasts;
  readonly #station: Station;
  readonly #orders: Orders;
  readonly #load: () => Promise<{ handsOf: (steer: Steer) => Hands }>;
  #loading: Promise<Hands | null> | null = null;

  constructor(station: Station, door: Door, desk: Desk, orders: Orders, toasts: Toasts, load: () => Promise<{ handsOf: (steer: Steer) => Hands }>) {
    [this.#station, this.door, this.desk, this.#orders, this.toasts, this.#load] = [station, door, desk, orders, toasts, load];
  }

  /** Whether whoever looks may put anything on the air. */
  get may(): boolean {
    return this.door.may('air');
  }

  /** Whether the programme is on the air, so that something else can be in its place. */
  get plays(): boolean {
    return this.#station.status?.state === 'music';
  }

  get timezone(): string {
    return this.#station.status?.station.timezone ?? '';
  }

  now(song: Song): void {
    void this.#orders.play(song.category, song.file, song.title);
  }

  /** Shift with Enter plays next, Ctrl at once, in every list of tracks; false for any other key. */
  keys(event: KeyboardEvent, song: Song | null): boolean {
    const now = event.ctrlKey || event.metaKey;
    if (event.key !== 'Enter' || now === event.shiftKey || !song || !this.may || (now && !this.plays)) return false;
    if (now) this.now(song);
    else void this.next(song);
    return true;
  }

  async next(song: Song): Promise<void> {
    await (await this.open(true))?.queue.next(song);
  }

  /** Shows the queue, where the place of a track is chosen. */
  async insert(song: Song): Promise<void> {
    const hands = await this.open(true);
    if (!hands) return;
    location.hash = '#/air';
    hands.queue.insert(song);
  }

  /** Loads what edits the queue; insists: somebody waits for it. */
  open(insists = false): Promise<Hands | null> {
    this.#loading ??= this.#load().then(
      ({ handsOf }) => (this.hands = handsOf(this)),
      () => (this.#loading = null),
    );
    return this.#loading.then((hands) => {
      if (!hands && insists) this.toasts.say('bad', studioWords[tongue.language].control.unloaded);
      return hands;
    });
  }
}
