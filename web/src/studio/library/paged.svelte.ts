import { phaseOf, type Phase } from './library.svelte';

interface Answer<T> {
  total: number;
  files: T[];
}

/** A list that grows by pages as more is asked for, and is searched. */
export class Paged<T> {
  rows = $state.raw<readonly T[]>([]);
  total = $state(0);
  phase = $state<Phase>('loading');
  q = $state('');
  asking = $state(false);
  readonly size: number;
  readonly #ask: (params: URLSearchParams, insist: boolean) => Promise<Answer<T>>;
  #turn = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ask: (params: URLSearchParams, insist: boolean) => Promise<Answer<T>>, size = 100) {
    this.#ask = ask;
    this.size = size;
  }

  /** As it is typed. */
  search(q: string): void {
    this.q = q;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.load(), 200);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** From the beginning; as many as are shown stay shown. */
  async load(insist = false): Promise<void> {
    await this.#get(0, Math.min(200, Math.max(this.size, this.rows.length)), insist);
  }

  async more(): Promise<void> {
    await this.#get(this.rows.length, this.size, false);
  }

  async #get(offset: number, limit: number, insist: boolean): Promise<void> {
    const turn = ++this.#turn;
    this.asking = true;
    try {
      const params = new URLSearchParams({ offset: String(offset), limit: String(limit), ...(this.q.trim() ? { q: this.q.trim() } : {}) });
      const answer = await this.#ask(params, insist);
      if (turn !== this.#turn) return;
      this.rows = offset === 0 ? answer.files : [...this.rows, ...answer.files];
      [this.total, this.phase] = [answer.total, 'ready'];
    } catch (failure) {
      if (turn === this.#turn) this.phase = phaseOf(failure);
    } finally {
      if (turn === this.#turn) this.asking = false;
    }
  }
}
