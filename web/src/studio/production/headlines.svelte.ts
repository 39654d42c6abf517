import { productionWords } from '../../i18n/production';
import { tongue } from '../../i18n/tongue.svelte';
import { ask, Problem } from '../../station/control';
import { plain } from '../../text/bidi';
import type { Door } from '../door.svelte';
import { sayRefused } from '../problem';
import type { Toasts } from '../toasts.svelte';

interface Lines {
  headlines: string[];
  /** Of the file they are in: only who has seen it as it is may replace it. */
  version: string;
  /** The file holds more than these. */
  cut: boolean;
}

const path = '/api/bulletin/headlines';

/**
 * The headlines of the station and the operator's draft over them, one a line.
 * Saving replaces the whole file, so nothing is saved over lines that were not
 * shown: none before they are loaded, none where they are cut, and none that
 * have changed since the draft was begun.
 */
export class Headlines {
  busy = $state(false);
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  /** Why they could not be loaded, in the station's words; empty where it did not answer. */
  why = $state('');
  /** What the operator has typed; null where nothing was changed. */
  draft = $state<string | null>(null);
  /** The file holds more than is shown. */
  cut = $state(false);
  /** The lines were changed elsewhere, under the draft. */
  moved = $state(false);
  #kept = $state.raw<readonly string[]>([]);
  #version = '';
  readonly #door: Door;
  readonly #toasts: Toasts;

  readonly text = $derived(this.draft ?? this.#kept.join('\n'));
  readonly changed = $derived(this.draft !== null && this.draft !== this.#kept.join('\n'));
  readonly editable = $derived(this.phase === 'ready' && !this.cut);
  readonly lines = $derived(linesOf(this.text));
  readonly savable = $derived(this.editable && this.changed && !this.moved && !this.busy);

  constructor(door: Door, toasts: Toasts) {
    this.#door = door;
    this.#toasts = toasts;
  }

  /** Asks for the lines. */
  async load(): Promise<void> {
    try {
      this.#take(await ask<Lines>('GET', path, undefined, { timeoutMs: 8000 }));
    } catch (failure) {
      if (this.phase === 'ready') return;
      this.phase = 'failed';
      this.why = failure instanceof Problem ? plain(failure.detail) : '';
    }
  }

  /** Gives the draft up for the lines as they are now. */
  async reload(): Promise<void> {
    this.draft = null;
    await this.load();
  }

  /** Puts the draft in force for the next bulletin. What is refused stays as it was typed. */
  async save(): Promise<boolean> {
    if (!this.savable) return false;
    this.busy = true;
    try {
      const answer = await this.#door.order<Lines>('PUT', path, { headlines: linesOf(this.text), version: this.#version });
      this.draft = null;
      this.#take(answer);
      this.#toasts.say('good', productionWords[tongue.language].bulletin.kept);
      return true;
    } catch (failure) {
      sayRefused(this.#toasts, failure);
      // They have changed, or the answer to an order that was taken was lost.
      if (failure instanceof Problem && (failure.status === 409 || failure.status === 0)) await this.load();
      return false;
    } finally {
      this.busy = false;
    }
  }

  #take(lines: Lines): void {
    this.phase = 'ready';
    const same = linesOf(this.text).join('\n') === lines.headlines.join('\n');
    this.moved = this.changed && !same && lines.version !== this.#version;
    if (this.moved) return; // the draft stands over the lines it was begun with
    if (same) this.draft = null;
    this.#kept = lines.headlines;
    this.#version = lines.version;
    this.cut = lines.cut;
  }
}

/** The headlines of a text, one a line. */
export function linesOf(text: string): string[] {
  return text.split('\n').map((line) => line.trim()).filter(Boolean);
}
