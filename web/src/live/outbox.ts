import { Problem } from '../station/control';

/**
 * What was written here and is not acknowledged yet. It is sent one at a time,
 * in order, each under its own id for as long as it takes: the station answers
 * the same id with the same answer, so nothing is doubled or lost by asking
 * again.
 *
 * State     What it waits for
 * -------   -----------------------------------------------------
 * waiting   its turn, a connection, or the moment the station named
 * sending   the acknowledgement
 * refused   the writer: to send it again, or to take it back
 */
export type Fate = 'waiting' | 'sending' | 'refused';

export interface Pending<T> {
  readonly id: string;
  readonly body: T;
  readonly at: number;
  readonly fate: Fate;
  /** Why it was refused, or must wait. */
  readonly problem?: Problem;
  /** Not before this moment, epoch ms. */
  readonly notBefore: number;
  readonly attempts: number;
}

/** No answer, or one from a server that could not reach the station. */
export function away(problem: Problem): boolean {
  return problem.status === 0 || problem.status >= 500;
}

/** Refusals that pass with time: no answer, too many requests, a station that is starting. */
export function passes(problem: Problem): boolean {
  return away(problem) || problem.status === 429;
}

const most = 50;

export interface Post<T, A> {
  /** Rejects with a Problem. */
  send: (id: string, body: T) => Promise<A>;
  sent: (item: Pending<T>, answer: A) => void;
  changed: (items: readonly Pending<T>[]) => void;
  newId: () => string;
  now?: () => number;
}

export class Outbox<T, A = unknown> {
  #items: readonly Pending<T>[] = [];
  #busy = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ended = false;
  readonly #post: Post<T, A>;
  readonly #now: () => number;

  constructor(post: Post<T, A>) {
    this.#post = post;
    this.#now = post.now ?? Date.now;
  }

  get items(): readonly Pending<T>[] {
    return this.#items;
  }

  /** Queues it and starts sending; false when too much waits already. */
  put(body: T): boolean {
    if (this.#items.length >= most) return false;
    this.#set([...this.#items, { id: this.#post.newId(), body, at: this.#now(), fate: 'waiting', notBefore: 0, attempts: 0 }]);
    this.pump();
    return true;
  }

  /** Sends a refused or waiting one again, under the id it has. */
  again(id: string): void {
    this.#change(id, (item) => (item.fate === 'sending' ? item : cleared({ ...item, fate: 'waiting', notBefore: 0 })));
    this.pump();
  }

  drop(id: string): void {
    this.#set(this.#items.filter((item) => item.id !== id || item.fate === 'sending'));
    this.pump();
  }

  /** The station can be reached again: sends what only waited for that. */
  resume(): void {
    this.#set(this.#items.map((item) => (item.problem && away(item.problem) ? { ...item, notBefore: 0 } : item)));
    this.pump();
  }

  close(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  /** Sends the first waiting item once it is due, then the next. */
  pump(): void {
    clearTimeout(this.#timer);
    if (this.#busy || this.#ended) return;
    const item = this.#items.find(({ fate }) => fate === 'waiting');
    if (!item) return;
    const wait = item.notBefore - this.#now();
    if (wait > 0) {
      this.#timer = setTimeout(() => this.pump(), Math.min(wait, 60_000));
      return;
    }
    void this.#send(item);
  }

  async #send(item: Pending<T>): Promise<void> {
    this.#busy = true;
    this.#change(item.id, (mine) => ({ ...mine, fate: 'sending', attempts: mine.attempts + 1 }));
    try {
      const answer = await this.#post.send(item.id, item.body);
      this.#set(this.#items.filter(({ id }) => id !== item.id));
      this.#post.sent(item, answer);
    } catch (failure) {
      this.#refused(item.id, failure instanceof Problem ? failure : new Problem(0, ''));
    } finally {
      this.#busy = false;
    }
    this.pump();
  }

  #refused(id: string, problem: Problem): void {
    this.#change(id, (item) => {
      if (!passes(problem)) return { ...item, fate: 'refused', problem };
      const pause = problem.waitMs || Math.min(20_000, 1000 * 2 ** Math.min(5, item.attempts - 1));
      return { ...item, fate: 'waiting', problem, notBefore: this.#now() + pause };
    });
  }

  #change(id: string, change: (item: Pending<T>) => Pending<T>): void {
    this.#set(this.#items.map((item) => (item.id === id ? change(item) : item)));
  }

  #set(items: readonly Pending<T>[]): void {
    this.#items = items;
    this.#post.changed(items);
  }
}

function cleared<T>({ problem: _, ...item }: Pending<T>): Pending<T> {
  return item;
}

/**
 * What is pending without what has come back already: the station may tell
 * everybody of it before it acknowledges it, and it is not to be seen twice.
 */
export function unheard<T, E extends { at: number }>(
  pending: readonly Pending<T>[],
  entries: readonly E[],
  same: (body: T, entry: E) => boolean,
): readonly Pending<T>[] {
  const recent = entries.slice(-30);
  return pending.filter(({ fate, body, at }) => fate !== 'sending' || !recent.some((entry) => entry.at > at - 5000 && same(body, entry)));
}
