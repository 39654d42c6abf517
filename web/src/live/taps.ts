import { Problem } from '../station/control';
import { passes } from './outbox';
import type { Counts } from './words';

/**
 * A listener's taps on the reactions. A tap shows at once and is counted
 * later: taps are gathered for a second and sent in batches of at most ten,
 * one batch at a time, each under one id until it is acknowledged.
 *
 * The station tells everybody of every reaction, this listener's own included.
 * What it tells of is first taken to be our own, as far as some are awaited;
 * only the rest are other people's.
 */

export interface Batch {
  readonly id: string;
  readonly emoji: string;
  readonly delta: number;
}

export interface TapPost {
  send: (batch: Batch) => Promise<{ count: number }>;
  changed: () => void;
  refused: (problem: Problem) => void;
  newId: () => string;
  now?: () => number;
}

const gatherMs = 800;
const mostInBatch = 10;
/** How long to expect the station's event for a batch of our own. */
const echoMs = 15_000;

interface Echo {
  readonly batch: Batch;
  /** Taps of the batch that no event has included yet. */
  left: number;
  until: number;
  /** The batch was acknowledged, so counts include all of it. */
  counted: boolean;
}

export class Taps {
  counts: Counts = {};
  readonly #post: TapPost;
  readonly #now: () => number;
  #gathered: Counts = {};
  readonly #batches: Batch[] = [];
  /** Own taps that counts do not include yet. */
  readonly #unseen: Counts = {};
  #echoes: Echo[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #busy = false;
  #failures = 0;

  constructor(post: TapPost) {
    this.#post = post;
    this.#now = post.now ?? Date.now;
  }

  /** What to show: the station's count and one's own taps on top. */
  shown(emoji: string): number {
    return (this.counts[emoji] ?? 0) + (this.#unseen[emoji] ?? 0);
  }

  tap(emoji: string): void {
    this.#add(this.#gathered, emoji, 1);
    this.#add(this.#unseen, emoji, 1);
    this.#post.changed();
    this.#timer ??= setTimeout(() => this.flush(), gatherMs);
  }

  /** Takes all counts from an answer. */
  take(counts: Counts): void {
    this.counts = { ...counts };
    this.#post.changed();
  }

  /** Takes an event; returns how many taps of each emoji were other listeners'. */
  hear(counts: Counts, changed: Counts): Counts {
    const others: Counts = {};
    this.#echoes = this.#echoes.filter((echo) => echo.left > 0 && echo.until > this.#now());
    for (const [emoji, n] of Object.entries(changed)) {
      const own = this.#echoed(emoji, n);
      if (n > own) others[emoji] = n - own;
    }
    this.counts = { ...this.counts, ...counts };
    this.#post.changed();
    return others;
  }

  /** Puts what was gathered into batches and sends them. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [emoji, n] of Object.entries(this.#gathered)) {
      for (let left = n; left > 0; left -= mostInBatch) {
        this.#batches.push({ id: this.#post.newId(), emoji, delta: Math.min(left, mostInBatch) });
      }
    }
    this.#gathered = {};
    void this.#pump();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#busy = true;
  }

  async #pump(): Promise<void> {
    const batch = this.#batches[0];
    if (this.#busy || !batch) return;
    this.#busy = true;
    const echo = this.#echoOf(batch);
    let pause = 0;
    try {
      const { count } = await this.#post.send(batch);
      this.#batches.shift();
      this.#failures = 0;
      this.#settle(echo);
      this.counts = { ...this.counts, [batch.emoji]: Math.max(this.counts[batch.emoji] ?? 0, count) };
    } catch (failure) {
      pause = this.#failed(echo, failure instanceof Problem ? failure : new Problem(0, ''));
    }
    this.#post.changed();
    if (pause > 0) await new Promise((done) => setTimeout(done, pause));
    this.#busy = false;
    void this.#pump();
  }

  /** How long to wait before the next try; the batch is given up for good at 0. */
  #failed(echo: Echo, problem: Problem): number {
    if (passes(problem) && ++this.#failures < 8) {
      if (problem.status === 429) this.#post.refused(problem);
      return problem.waitMs || Math.min(15_000, 500 * 2 ** this.#failures);
    }
    this.#failures = 0;
    this.#batches.shift();
    this.#settle(echo);
    echo.left = 0;
    this.#post.refused(problem);
    return 0;
  }

  /** One echo per batch, however often it is sent. */
  #echoOf(batch: Batch): Echo {
    let echo = this.#echoes.find((known) => known.batch === batch);
    if (!echo) this.#echoes.push((echo = { batch, left: batch.delta, until: 0, counted: false }));
    echo.until = this.#now() + echoMs;
    return echo;
  }

  /** Acknowledged: counts include the taps that no event has included yet. */
  #settle(echo: Echo): void {
    if (!echo.counted) this.#add(this.#unseen, echo.batch.emoji, -echo.left);
    echo.counted = true;
  }

  #echoed(emoji: string, n: number): number {
    let own = 0;
    for (const echo of this.#echoes) {
      if (echo.batch.emoji !== emoji || own >= n) continue;
      const part = Math.min(echo.left, n - own);
      echo.left -= part;
      own += part;
      if (!echo.counted) this.#add(this.#unseen, emoji, -part);
    }
    return own;
  }

  #add(counts: Counts, emoji: string, n: number): void {
    counts[emoji] = Math.max(0, (counts[emoji] ?? 0) + n);
  }
}
