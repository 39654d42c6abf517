import { ask, Problem, type Manner, type Method } from '../station/control';

const kept = 'athir.station-key';
const keptModerator = 'athir.admin-key';

/** What a key is asked for: the station's controls, or listeners' posts, which the moderators' key opens as well. */
export type Purpose = 'station' | 'posts';

type Opens = 'station' | 'posts' | 'posts alone';

const mood = '/api/station/mood';
const pending = '/api/social/posts?status=pending&limit=1';

/** The operator closed the door without a key. */
export class NoKey extends Error {}

function read(name: string): string {
  try {
    return sessionStorage.getItem(name) ?? localStorage.getItem(name) ?? '';
  } catch {
    return '';
  }
}

function refusalOf(asked: Promise<unknown>): Promise<Problem | null> {
  return asked.then(
    () => null,
    (problem: Problem) => problem,
  );
}

/**
 * The way to the station's controls. Looking is free: the key is asked for
 * when a control first answers 401, kept for the session or, when told to, on
 * the device, and given up when the station no longer takes it. Whoever has
 * the moderators' key alone may decide listeners' posts and nothing else.
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
  purpose = $state<Purpose>('station');

  #key = read(kept);
  /** The moderators' key, where the station's is not known. */
  #moderatorKey = this.#key ? '' : read(keptModerator);

  hasKey = $state(this.#key !== '' || this.#moderatorKey !== '');
  /** Only listeners' posts are open: the key is the moderators'. */
  moderator = $state(this.#moderatorKey !== '');

  #opened: Promise<void> | null = null;
  #enter: (() => void) | null = null;
  #turnAway: ((why: NoKey) => void) | null = null;

  constructor() {
    // Where the station has no key, the moderators' one confines nobody.
    if (this.moderator) void refusalOf(ask('GET', mood)).then((closed) => closed ?? ([this.moderator, this.open] = [false, true]));
  }

  /** For the handshake of the event transport, and nothing else: it is no part of an address, and never kept elsewhere. */
  get key(): string {
    return this.#key;
  }

  /** Gives an order; where a key is missing it waits for the operator. Rejects with Problem or NoKey. */
  order<T>(method: Method, path: string, body?: unknown, how: Manner = {}): Promise<T> {
    return this.#insist('station', () => this.quietly<T>(method, path, body, how));
  }

  /** The same for listeners' posts, with either key. */
  moderate<T>(method: Method, path: string, body?: unknown, how: Manner = {}): Promise<T> {
    return this.#insist('posts', () => this.moderateQuietly<T>(method, path, body, how));
  }

  /** The same without asking the operator for anything. */
  async quietly<T>(method: Method, path: string, body?: unknown, how: Manner = {}): Promise<T> {
    const answer = await ask<T>(method, path, body, { ...how, key: this.#key });
    this.open = true;
    return answer;
  }

  moderateQuietly<T>(method: Method, path: string, body?: unknown, how: Manner = {}): Promise<T> {
    return ask<T>(method, path, body, { ...how, key: this.#key, adminKey: this.#moderatorKey });
  }

  /** Looks at what is open to everybody and tells the operator more: process ids, why something failed. */
  async look<T>(path: string): Promise<T> {
    return ask<T>('GET', path, undefined, { key: this.open ? this.#key : '', timeoutMs: 8000 }); // a key not tried yet is no guess of ours
  }

  /** Tries a key; the door closes behind the operator when it is right. */
  async offer(key: string, remember: boolean): Promise<void> {
    if (this.trying) return;
    this.trying = true;
    let opens: Opens;
    try {
      opens = await this.#judge(key.trim());
    } catch (problem) {
      this.refused = problem as Problem;
      if (this.refused.status === 429) this.waitUntil = Date.now() + Math.max(1000, this.refused.waitMs);
      return;
    } finally {
      this.trying = false;
    }
    this.#keep(key.trim(), remember, opens !== 'station');
    this.moderator = opens === 'posts alone';
    this.open = !this.moderator;
    this.asking = false;
    this.#enter?.();
  }

  /** Closes the door unopened: whoever waits at it goes without. */
  leave(): void {
    this.asking = false;
    this.#turnAway?.(new NoKey());
  }

  forget(): void {
    this.#keep('', false, false);
    this.open = false;
  }

  async #insist<T>(purpose: Purpose, attempt: () => Promise<T>): Promise<T> {
    for (;;) {
      const offered = this.#key + this.#moderatorKey;
      try {
        return await attempt();
      } catch (problem) {
        if (!(problem instanceof Problem) || problem.status !== 401) throw problem;
        if (purpose === 'station' && this.moderator) throw new NoKey();
        if (offered === this.#key + this.#moderatorKey) await this.#knock(problem, purpose);
      }
    }
  }

  /** Tells what a key opens; rejects where it opens nothing. A station without a key takes any, so that posts have to tell. */
  async #judge(key: string): Promise<Opens> {
    const closed = await refusalOf(ask('GET', mood, undefined, { key }));
    if (closed && closed.status !== 401) throw closed;
    if (!closed && (this.purpose === 'station' || (await refusalOf(ask('GET', pending, undefined, { key })))?.status !== 401)) return 'station';
    const refused = await refusalOf(ask('GET', pending, undefined, { adminKey: key }));
    if (refused) throw refused.status === 429 ? refused : (closed ?? refused);
    return closed ? 'posts alone' : 'posts';
  }

  #knock(problem: Problem, purpose: Purpose): Promise<void> {
    if (this.#opened) return this.#opened;
    this.refused = this.#key || this.#moderatorKey ? problem : null; // a key kept from before is no longer right
    this.purpose = purpose;
    this.forget();
    this.asking = true;
    this.#opened = new Promise<void>((enter, turnAway) => {
      this.#enter = enter;
      this.#turnAway = turnAway;
    }).finally(() => (this.#opened = null));
    return this.#opened;
  }

  #keep(key: string, remember: boolean, moderator: boolean): void {
    [this.#key, this.#moderatorKey] = moderator ? ['', key] : [key, ''];
    this.hasKey = key !== '';
    this.moderator = moderator;
    try {
      for (const name of [kept, keptModerator]) {
        sessionStorage.removeItem(name);
        localStorage.removeItem(name);
      }
      if (key) (remember ? localStorage : sessionStorage).setItem(moderator ? keptModerator : kept, key);
    } catch {
      // private windows may keep nothing
    }
  }
}
