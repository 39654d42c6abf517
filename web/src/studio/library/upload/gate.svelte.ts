import type { Door } from '../../door.svelte';
import type { Toasts } from '../../toasts.svelte';
import { isAnyKept } from './kept';
import type Tray from './Tray.svelte';
import type { Uploads } from './uploads.svelte';

/** The way to the uploads, which come when something is sent, or when a reload left something. */
export class Gate {
  uploads = $state.raw<Uploads | null>(null);
  Tray = $state.raw<typeof Tray | null>(null);
  readonly #door: Door;
  readonly #toasts: Toasts;
  #opened: Promise<Uploads> | null = null;

  constructor(door: Door, toasts: Toasts) {
    this.#door = door;
    this.#toasts = toasts;
  }

  /** Whether a reload left anything unfinished. */
  get left(): boolean {
    return isAnyKept();
  }

  /** Rejects where the page's parts cannot be loaded. */
  open(): Promise<Uploads> {
    this.#opened ??= Promise.all([import('./uploads.svelte'), import('./Tray.svelte')]).then(
      async ([{ Uploads: Made }, { default: View }]) => {
        const uploads = new Made(this.#door, this.#toasts);
        await uploads.found; // files that are dropped may be among them
        [this.uploads, this.Tray] = [uploads, View];
        return uploads;
      },
      (failure: unknown) => {
        this.#opened = null;
        throw failure;
      },
    );
    return this.#opened;
  }
}
