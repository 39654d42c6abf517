import { Problem } from '../station/control';

export interface LastWordPost<V> {
  send: (key: string, value: V) => Promise<void>;
  changed: () => void;
  refused: (key: string, problem: Problem) => void;
}

/**
 * Presses that replace each other: a vote, a reaction. What is wanted shows at
 * once; one request of a key is under way at a time, and of what was pressed
 * meanwhile the last is sent after it.
 */
export class LastWord<V> {
  readonly #wanted = new Map<string, V>();
  readonly #busy = new Set<string>();
  readonly #post: LastWordPost<V>;

  constructor(post: LastWordPost<V>) {
    this.#post = post;
  }

  want(key: string, value: V): void {
    this.#wanted.set(key, value);
    this.#post.changed();
    void this.#pump(key);
  }

  wanted(key: string): V | undefined {
    return this.#wanted.get(key);
  }

  /** Everything that is wanted and not yet granted. */
  get open(): ReadonlyMap<string, V> {
    return this.#wanted;
  }

  async #pump(key: string): Promise<void> {
    if (this.#busy.has(key) || !this.#wanted.has(key)) return;
    this.#busy.add(key);
    const value = this.#wanted.get(key) as V;
    let failure: unknown = null;
    await this.#post.send(key, value).catch((why: unknown) => (failure = why));
    if (this.#wanted.get(key) === value) this.#wanted.delete(key);
    this.#busy.delete(key);
    if (failure) this.#post.refused(key, failure instanceof Problem ? failure : new Problem(0, ''));
    this.#post.changed();
    void this.#pump(key);
  }
}
