import { productionWords } from '../../i18n/production';
import { studioWords } from '../../i18n/studio';
import { tongue } from '../../i18n/tongue.svelte';
import { fetchJSON } from '../../station/api';
import { Problem } from '../../station/control';
import { NoKey, type Door } from '../door.svelte';
import { problemWords } from '../problem';
import type { Toasts } from '../toasts.svelte';

interface Lines {
  headlines: string[];
}

const path = '/api/bulletin/headlines';

/** The headlines of the station and the operator's draft over them, one a line. */
export class Headlines {
  busy = $state(false);
  /** What the operator has typed; null where nothing was changed. */
  draft = $state<string | null>(null);
  #kept = $state.raw<readonly string[]>([]);
  readonly #door: Door;
  readonly #toasts: Toasts;

  readonly text = $derived(this.draft ?? this.#kept.join('\n'));
  readonly changed = $derived(this.draft !== null && this.draft !== this.#kept.join('\n'));

  constructor(door: Door, toasts: Toasts) {
    this.#door = door;
    this.#toasts = toasts;
  }

  /** Asks for the lines; the status beside them says where the station does not answer. */
  async load(): Promise<void> {
    this.#kept = await fetchJSON<Lines>(path).then((answer) => answer.headlines, () => this.#kept);
  }

  /** Puts the draft in force for the next bulletin. What is refused stays as it was typed. */
  async save(): Promise<boolean> {
    if (!this.changed || this.busy) return false;
    this.busy = true;
    try {
      const headlines = this.text.split('\n').map((line) => line.trim()).filter(Boolean);
      this.#kept = (await this.#door.order<Lines>('PUT', path, { headlines })).headlines;
      this.draft = null;
      this.#toasts.say('good', productionWords[tongue.language].bulletin.kept);
      return true;
    } catch (failure) {
      const words = studioWords[tongue.language].control;
      if (failure instanceof NoKey) this.#toasts.say('note', words.noKey);
      else if (failure instanceof Problem) this.#toasts.say('bad', ...problemWords(failure, words, tongue.language));
      else throw failure;
      return false;
    } finally {
      this.busy = false;
    }
  }
}
