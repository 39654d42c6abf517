import { ask, Problem, type Manner, type Method } from '../station/control';

const kept = 'athir.station-key';

/** The operator closed the door without a key. */
export class NoKey extends Error {}

function read(): string {
  try {
    return sessionStorage.getItem(kept) ?? localStorage.getItem(kept) ?? '';
  } catch {
    return '';
  }
}

/**
 * The way to the station's controls. Looking is free: the key is asked for
 * when a control first answers 401, kept for the session or, when told to, on
 * the device, and given up when the station no longer takes it.
 */
export class Door {
  asking = $state(false);
  trying = $state(false);
  /** Why the last offer failed; null before one. */
  refused = $state.raw<Problem | null>(null);
  /** The moment from which the station takes offers again, epoch ms. */
  waitUntil = $state(0);
  /** Whether any control has opened: what stands behind may be asked for. */
  open = $state(false);
  hasKey = $state(read() !== '');

  #key = read();
  #opened: Promise<void> | null = null;
  #enter: (() => void) | null = null;
  #turnAway: ((why: NoKey) => void) | null = null;

  /** For the handshake of the event transport, and nothing else: it is no part of an address, and never kept elsewhere. */
  get key(): string {
    return this.#key;
  }

  /** Gives an order; where a key is missing it waits for the operator. Rejects with Problem or NoKey. */
  async order<T>(method: Method, path: string, body?: unknown, how: Manner = {}): Promise<T> {
    for (;;) {
      const offered = this.#key;
      try {
        return await this.quietly<T>(method, path, body, how);
      } catch (problem) {
        if (!(problem instanceof Problem) || problem.status !== 401) throw problem;
        if (offered === this.#key) await this.#knock(problem);
      }
    }
  }

  /** The same without asking the operator for anything. */
  async quietly<T>(method: Method, path: string, body?: unknown, how: Manner = {}): Promise<T> {
    const answer = await ask<T>(method, path, body, { ...how, key: this.#key });
    this.open = true;
    return answer;
  }

  /** Looks at what is open to everybody and tells the operator more: process ids, why something failed. */
  async look<T>(path: string): Promise<T> {
    return ask<T>('GET', path, undefined, { key: this.open ? this.#key : '', timeoutMs: 8000 }); // a key not tried yet is no guess of ours
  }

  /** Tries a key; the door closes behind the operator when it is right. */
  async offer(key: string, remember: boolean): Promise<void> {
    if (this.trying) return;
    this.trying = true;
    try {
      await ask('GET', '/api/station/mood', undefined, { key: key.trim() });
    } catch (problem) {
      this.refused = problem as Problem;
      if (this.refused.status === 429) this.waitUntil = Date.now() + Math.max(1000, this.refused.waitMs);
      return;
    } finally {
      this.trying = false;
    }
    this.#keep(key.trim(), remember);
    this.open = true;
    this.asking = false;
    this.#enter?.();
  }

  /** Closes the door unopened: whoever waits at it goes without. */
  leave(): void {
    this.asking = false;
    this.#turnAway?.(new NoKey());
  }

  forget(): void {
    this.#keep('', false);
    this.open = false;
  }

  #knock(problem: Problem): Promise<void> {
    if (this.#opened) return this.#opened;
    this.refused = this.#key ? problem : null; // a key kept from before is no longer right
    this.forget();
    this.asking = true;
    this.#opened = new Promise<void>((enter, turnAway) => {
      this.#enter = enter;
      this.#turnAway = turnAway;
    }).finally(() => (this.#opened = null));
    return this.#opened;
  }

  #keep(key: string, remember: boolean): void {
    this.#key = key;
    this.hasKey = key !== '';
    try {
      sessionStorage.removeItem(kept);
      localStorage.removeItem(kept);
      if (key) (remember ? localStorage : sessionStorage).setItem(kept, key);
    } catch {
      // private windows may keep nothing
    }
  }
}
