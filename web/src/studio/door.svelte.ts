import { ask, Problem, type Manner, type Method } from '../station/control';
import { rights as all, type Right, type Session, type User } from './rights';

const kept = 'athir.station-key';
const keptModerator = 'athir.admin-key';

/** What a key is asked for: the station's controls, or listeners' posts, which the moderators' key opens as well. */
export type Purpose = 'station' | 'posts';

type Opens = 'station' | 'posts' | 'posts alone';

const mood = '/api/station/mood';
const pending = '/api/social/posts?status=pending&limit=1';

/** The operator closed the door without a key or a login. */
export class NoKey extends Error {
  constructor(
    /** The station has users: a login would have done. */
    readonly users = false,
  ) {
    super();
  }
}

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
 * The way to the station's controls. Looking is free: a login or a key is
 * asked for when a control first answers 401. Who is logged in gives orders
 * by a cookie that no page sees. A key is kept for the session or, when told
 * to, on the device, and given up when the station no longer takes it.
 *
 * rights says what whoever stands here may do, however they came: by a login,
 * by the station key (everything), by the moderators' key (listeners' posts
 * and nothing else, not even a look at the rest), or not at all.
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
  /** A login stood, and the station no longer knows it. */
  ended = $state(false);
  /** What the station says of whoever looks; null until it has, and where it has no users at all. */
  session = $state.raw<Session | null>(null);

  #key = read(kept);
  /** The moderators' key, where the station's is not known. */
  #moderatorKey = this.#key ? '' : read(keptModerator);

  hasKey = $state(this.#key !== '' || this.#moderatorKey !== '');
  /** Only listeners' posts are open: the key is the moderators'. */
  moderator = $state(this.#moderatorKey !== '');

  readonly rights = $derived.by((): ReadonlySet<Right> | null => {
    const { session } = this;
    if (session?.user && session.way === 'session') return new Set(session.rights);
    if (this.moderator) return new Set<Right>(['moderate']);
    if (session && (session.way !== '' || session.open)) return new Set(session.rights);
    return this.hasKey ? new Set(all) : null; // what a key opens is known once it was tried
  });

  readonly #known: Promise<void>;
  #knows = false;
  #turn = 0;
  /** How often in a row the station did not say who this is. */
  #lost = 0;
  /** How often somebody came in: an order that was refused before that is given again. */
  #entered = 0;
  #opened: Promise<void> | null = null;
  #enter: (() => void) | null = null;
  #turnAway: ((why: NoKey) => void) | null = null;

  constructor() {
    this.#known = this.learn().finally(() => (this.#knows = true));
    // Where the station has no key, the moderators' one confines nobody.
    if (this.moderator) void refusalOf(ask('GET', mood)).then((closed) => closed ?? ([this.moderator, this.open] = [false, true]));
  }

  /** Who is logged in. */
  get user(): User | null {
    return this.session?.way === 'session' ? (this.session.user ?? null) : null;
  }

  /** Somebody can log in here. */
  get users(): boolean {
    return this.session?.users ?? false;
  }

  /** Nobody sees the studio without saying who they are: where people work, unless the operator shows it to everybody. */
  get shut(): boolean {
    return this.users && !this.session?.look && this.rights === null;
  }

  /** Whether whoever stands here may do this, or may be asked who they are as they do. */
  may(right: Right): boolean {
    return this.rights === null || this.rights.has(right);
  }

  /** For the handshake of the event transport, and nothing else: it is no part of an address, and never kept elsewhere. */
  get key(): string {
    return this.user ? '' : this.#key;
  }

  /** What the handshake shows: the key, or a new ticket at each connect, as the cookie is not the transport's to read. */
  get handshake(): string | (() => Promise<string>) {
    if (!this.user) return this.#key;
    return async () => (await ask<{ ticket: string }>('POST', '/api/session/ticket', {}, { timeoutMs: 8000 })).ticket;
  }

  /** Asks the station who this is. The cookie comes before the key; a key that was never tried is no guess of ours. */
  async learn(): Promise<void> {
    const turn = ++this.#turn;
    let lost = false;
    const look = (key: string) =>
      ask<Session>('GET', '/api/session', undefined, { key, timeoutMs: 8000 }).catch((failure: unknown) => {
        lost = failure instanceof Problem && (failure.status === 0 || failure.status === 429 || failure.status >= 500);
        return null;
      });
    let session = await look('');
    if (session && session.way !== 'session' && this.#key && this.open) session = (await look(this.#key)) ?? session;
    if (turn !== this.#turn) return;
    // Without an answer no section knows what it may show: the question is asked again.
    if (lost) setTimeout(() => turn === this.#turn && void this.learn(), Math.min(30_000, 1000 * 2 ** this.#lost++));
    else this.#lost = 0;
    if (!session) return;
    this.session = session;
    if (this.user) this.open = true;
  }

  /** Gives an order; where a login or a key is missing it waits for the operator. Rejects with Problem or NoKey. */
  order<T>(method: Method, path: string, body?: unknown, how: Manner = {}): Promise<T> {
    return this.#insist('station', () => this.quietly<T>(method, path, body, how));
  }

  /** The same for listeners' posts, with either key. */
  moderate<T>(method: Method, path: string, body?: unknown, how: Manner = {}): Promise<T> {
    return this.#insist('posts', () => this.moderateQuietly<T>(method, path, body, how));
  }

  /** The same without asking the operator for anything. */
  async quietly<T>(method: Method, path: string, body?: unknown, how: Manner = {}): Promise<T> {
    if (!this.#knows) await this.#known;
    const answer = await ask<T>(method, path, body, { ...how, key: this.key });
    const first = !this.open;
    this.open = true;
    if (first && this.key) void this.learn(); // the key is right: what does it open?
    return answer;
  }

  async moderateQuietly<T>(method: Method, path: string, body?: unknown, how: Manner = {}): Promise<T> {
    if (!this.#knows) await this.#known;
    return ask<T>(method, path, body, { ...how, key: this.key, adminKey: this.user ? '' : this.#moderatorKey });
  }

  /** Looks at what is open to everybody and tells the operator more: process ids, why something failed. */
  async look<T>(path: string): Promise<T> {
    return ask<T>('GET', path, undefined, { key: this.open ? this.key : '', timeoutMs: 8000 }); // a key not tried yet is no guess of ours
  }

  /** Tries a key; the door closes behind the operator when it is right. */
  async offer(key: string, remember: boolean): Promise<void> {
    if (this.trying) return;
    this.trying = true;
    let opens: Opens;
    try {
      opens = await this.#judge(key.trim());
    } catch (problem) {
      this.#refuse(problem as Problem);
      return;
    } finally {
      this.trying = false;
    }
    this.#keep(key.trim(), remember, opens !== 'station');
    this.moderator = opens === 'posts alone';
    this.open = !this.moderator;
    this.#admit();
    void this.learn();
  }

  /** Comes in by a login: asks as it is told, and the cookie is set. Answers why not, or null. */
  async enter(log: () => Promise<Session>): Promise<Problem | null> {
    if (this.trying) return this.refused;
    this.trying = true;
    this.refused = null;
    try {
      const session = await log();
      this.#keep('', false, false); // one is somebody, and has no key besides
      ++this.#turn;
      [this.session, this.open, this.ended] = [session, Boolean(session.user), false];
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      return this.#refuse(problem);
    } finally {
      this.trying = false;
    }
    this.#admit();
    return null;
  }

  /** Opens the door for somebody who wants to come in before anything asks. */
  async welcome(): Promise<void> {
    await this.#knock(null, 'station').catch(() => undefined);
  }

  /** Closes the door unopened: whoever waits at it goes without. */
  leave(): void {
    this.asking = false;
    this.#turnAway?.(new NoKey(this.users));
  }

  forget(): void {
    this.#keep('', false, false);
    this.open = false;
    if (this.session && !this.user) void this.learn();
  }

  /** Ends the login here. Rejects with a Problem where the station cannot be told: the cookie stands until then. */
  async logOut(): Promise<void> {
    await ask('DELETE', '/api/session');
    this.#keep('', false, false);
    this.open = false;
    await this.learn();
  }

  async #insist<T>(purpose: Purpose, attempt: () => Promise<T>): Promise<T> {
    for (;;) {
      const entered = this.#entered;
      try {
        return await attempt();
      } catch (problem) {
        if (!(problem instanceof Problem) || problem.status !== 401) throw problem;
        if (purpose === 'station' && this.moderator) throw new NoKey(this.users);
        if (entered === this.#entered) await this.#knock(problem, purpose);
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

  #knock(problem: Problem | null, purpose: Purpose): Promise<void> {
    if (this.#opened) return this.#opened;
    const was = this.user;
    this.refused = problem && this.hasKey ? problem : null; // a key kept from before is no longer right
    this.purpose = purpose;
    if (problem) {
      this.#keep('', false, false);
      this.open = false;
    }
    this.#opened = new Promise<void>((enter, turnAway) => {
      this.#enter = enter;
      this.#turnAway = turnAway;
    }).finally(() => (this.#opened = null));
    // Whom the station knows by now, and whether anybody can log in: the door is another one then.
    void this.learn().then(() => {
      this.ended = was !== null && this.user === null;
      this.asking = true;
    });
    return this.#opened;
  }

  #refuse(problem: Problem): Problem {
    this.refused = problem;
    if (problem.status === 429) this.waitUntil = Date.now() + Math.max(1000, problem.waitMs);
    return problem;
  }

  #admit(): void {
    ++this.#entered;
    this.asking = false;
    this.#enter?.();
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
