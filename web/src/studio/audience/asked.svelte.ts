import { Problem } from '../../station/control';
import type { Door } from '../door.svelte';

/** Figures of an hour or a day change slowly. */
const everyMs = 5 * 60_000;
const afterFailureMs = 30_000;
/** Presses that come quickly one after another are one question: the station makes few reports at a time. */
const restMs = 400;

/** One answer of the station: the newest question alone is answered, however late the others come. */
export class Asked<T> {
  phase = $state<'loading' | 'ready' | 'locked' | 'failed'>('loading');
  answer = $state.raw<T | null>(null);
  /** The station does not answer, and what is shown is what it said before. */
  stale = $state(false);

  readonly #door: Door;
  #path = () => '';
  #again = false;
  #turn = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(door: Door) {
    this.#door = door;
  }

  /** Asks; again after some minutes, where the answer changes with time. The path is made anew for each look. */
  ask(path: () => string, again = false): void {
    [this.answer, this.phase, this.stale] = [null, 'loading', false];
    [this.#path, this.#again] = [path, again];
    void this.#look();
  }

  /** Asks for more of the same: what is shown stays until it comes. */
  askMore(path: () => string, again = false): void {
    [this.#path, this.#again] = [path, again];
    this.stop();
    this.#timer = setTimeout(() => void this.#look(), restMs);
  }

  retry(): void {
    if (this.phase === 'failed') this.phase = 'loading';
    void this.#look();
  }

  /** Asks with the operator at hand: where a login or a key is missing, it is asked for. */
  async unlock(): Promise<void> {
    await this.#door.order('GET', '/api/station/guard?limit=1').catch(() => undefined);
    this.retry();
  }

  stop(): void {
    this.#turn++;
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    const turn = ++this.#turn;
    clearTimeout(this.#timer);
    try {
      const answer = await this.#door.quietly<T>('GET', this.#path(), undefined, { timeoutMs: 60_000 });
      if (turn !== this.#turn) return;
      [this.answer, this.phase, this.stale] = [answer, 'ready', false];
    } catch (problem) {
      if (turn !== this.#turn) return;
      // Who has to log in anew is not told that the station is silent.
      if (problem instanceof Problem && problem.status === 401) [this.answer, this.phase] = [null, 'locked'];
      else if (this.answer === null) this.phase = 'failed';
      this.stale = this.answer !== null;
    }
    const failed = this.stale || this.phase === 'failed';
    if (this.#again || failed) this.#timer = setTimeout(() => void this.#look(), failed ? afterFailureMs : everyMs);
  }
}
