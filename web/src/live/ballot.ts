import { Problem } from '../station/control';
import type { Counts } from './words';

/**
 * One's own votes on the queue: for, against, or taken back. They show at once;
 * the last word on a track is sent, one at a time. The browser remembers them
 * while their track waits: the station counts them by listener and does not say
 * whose vote is whose.
 */
export type Vote = 1 | 0 | -1;

export interface BallotPost {
  /** Answers with all counts; rejects with a Problem. */
  send: (file: string, delta: Vote) => Promise<Counts>;
  counted: (votes: Counts) => void;
  changed: () => void;
  refused: (problem: Problem) => void;
}

const kept = 'athir.votes';

export class Ballot {
  /** What the station has acknowledged, and what is wanted instead. */
  #cast: Record<string, Vote> = restore();
  readonly #wanted = new Map<string, Vote>();
  #busy = false;
  readonly #post: BallotPost;

  constructor(post: BallotPost) {
    this.#post = post;
  }

  mine(file: string): Vote {
    return this.#wanted.get(file) ?? this.#cast[file] ?? 0;
  }

  /** A track's count with one's own vote as it is wanted. */
  shown(file: string, counted: number): number {
    return counted + this.mine(file) - (this.#cast[file] ?? 0);
  }

  /** Votes, or takes the same vote back. */
  press(file: string, delta: 1 | -1): void {
    this.#wanted.set(file, this.mine(file) === delta ? 0 : delta);
    this.#post.changed();
    void this.#pump();
  }

  /** The queue as it stands: votes for what left it are forgotten. */
  forget(files: ReadonlySet<string>): void {
    const left = Object.entries(this.#cast).filter(([file]) => files.has(file));
    if (left.length === Object.keys(this.#cast).length) return;
    this.#cast = Object.fromEntries(left);
    keep(this.#cast);
  }

  async #pump(): Promise<void> {
    const next = this.#wanted.entries().next().value;
    if (this.#busy || !next) return;
    this.#busy = true;
    const [file, delta] = next;
    try {
      const votes = await this.#post.send(file, delta);
      this.#cast = { ...this.#cast, [file]: delta };
      keep(this.#cast);
      this.#post.counted(votes);
    } catch (failure) {
      if (this.#wanted.get(file) === delta) this.#wanted.delete(file);
      this.#post.refused(failure instanceof Problem ? failure : new Problem(0, ''));
    }
    if (this.#wanted.get(file) === delta) this.#wanted.delete(file);
    this.#busy = false;
    this.#post.changed();
    void this.#pump();
  }
}

function restore(): Record<string, Vote> {
  try {
    const said: unknown = JSON.parse(localStorage.getItem(kept) ?? '{}');
    return Object.fromEntries(Object.entries(said as object).filter(([, vote]) => vote === 1 || vote === -1));
  } catch {
    return {};
  }
}

function keep(cast: Record<string, Vote>): void {
  try {
    localStorage.setItem(kept, JSON.stringify(cast));
  } catch {
    // private windows may keep nothing
  }
}
