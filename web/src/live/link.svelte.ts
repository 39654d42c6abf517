import type { Socket } from 'socket.io-client';
import { fieldsOf, Problem } from '../station/control';
import { deviceId } from './device';
import type { Asks, Events, Hearing } from './words';

export type LinkState = 'resting' | 'connecting' | 'live' | 'lost';

const patienceMs = 12_000;

/**
 * How long it waits between two tries, in ms. A station that starts again is found within
 * the second pause, and the first two, which the library varies by half, spread those who
 * lost it together over a second and a half. After as many tries as `soon` the station has
 * forgotten who they are, and nothing is lost by asking seldom.
 */
const pause = { first: 500, most: 1500, soon: 80, later: 8000, tries: 400 };

/** Within this time those ask who are back at the same moment, ms. */
const spreadMs = 30_000;
/** A connection that stands brings a heartbeat every 25 s. */
const quietMs = 60_000;

/**
 * The event transport: Socket.IO on the page's own origin. Its library is
 * loaded when it is first opened. It connects again by itself, for ever, and
 * never holds an order back to send it later: whoever writes keeps what is
 * not acknowledged (outbox.ts) and asks again with the same id.
 */
export class Link {
  /** connecting until the first connection stands, lost whenever one went away. */
  state = $state<LinkState>('resting');
  /** The server answers but has lost the station: it holds what is written until the station is back. */
  away = $state(false);

  /** What staff show in the handshake and nowhere else: the station key, or what fetches a new ticket for each. */
  key: string | (() => Promise<string>) = '';
  /** Called with the reason when the station refuses the key; the link then rests until it is opened again. */
  refused: (why: string) => void = () => undefined;

  #socket: Socket | null = null;
  #opened = false;
  /** Handshakes so far: a ticket that comes late belongs to none. */
  #shows = 0;
  readonly #ears = new Map<string, Set<(payload: never) => void>>();
  readonly #ups = new Map<() => void, () => void>();
  readonly #downs = new Set<() => void>();
  readonly #backs = new Set<() => void>();
  /** Nothing has been heard over this connection yet. */
  #fresh = false;
  /** When it last brought anything, heartbeats too. */
  #broughtAt = 0;
  /** Connections so far that were not taken up where they broke. */
  #begun = 0;

  /** Opens the link once. Where its library cannot be loaded, the page polls. */
  open(): void {
    if (this.#opened) return;
    this.#opened = true;
    this.state = 'connecting';
    void import('socket.io-client').then(
      ({ io }) => this.#opened && this.#connect(io),
      () => this.close(),
    );
  }

  close(): void {
    this.#opened = false;
    this.#socket?.disconnect();
    this.#socket = null;
    this.state = 'resting';
    this.away = false;
  }

  get up(): boolean {
    return this.state === 'live';
  }

  /** It stands and brings heartbeats: events come, each and in order. A device that slept learns late that it does not. */
  get brings(): boolean {
    return this.up && Date.now() - this.#broughtAt < quietMs;
  }

  /** What keeps writes from the station: the line to its server, the server's own line to the station, or nothing. */
  get gap(): 'line' | 'station' | null {
    if (!this.up) return 'line';
    return this.away ? 'station' : null;
  }

  on<E extends keyof Events>(event: E, hear: (payload: Events[E]) => void): () => void {
    const ears = this.#ears.get(event) ?? new Set();
    this.#ears.set(event, ears.add(hear as (payload: never) => void));
    return () => ears.delete(hear as (payload: never) => void);
  }

  /**
   * Calls run after every connect, and at once while connected. Where the connection was taken up where it
   * broke, what was missed comes by itself: then again is called in its place.
   */
  onUp(run: () => void, again: () => void = () => undefined): () => void {
    this.#ups.set(run, again);
    if (this.up) run();
    return () => this.#ups.delete(run);
  }

  onDown(run: () => void): () => void {
    this.#downs.add(run);
    return () => this.#downs.delete(run);
  }

  /** Calls run when the server finds the station again while the connection stood. */
  onBack(run: () => void): () => void {
    this.#backs.add(run);
    return () => this.#backs.delete(run);
  }

  /**
   * Calls run where what is not told has to be asked for: after the first connection at once; after later ones, and
   * when the server finds the station again, at some moment of half a minute, for everybody else is back as well.
   */
  onAnew(run: (first: boolean) => void): () => void {
    let due: ReturnType<typeof setTimeout> | undefined;
    const soon = () => {
      clearTimeout(due);
      due = setTimeout(() => run(false), Math.random() * spreadMs);
    };
    const offs = [this.onDown(() => clearTimeout(due)), this.onBack(soon), this.onUp(() => (this.#begun < 2 ? run(true) : soon()))];
    return () => {
      clearTimeout(due);
      for (const off of offs) off();
    };
  }

  /** Emits an event and returns its acknowledgement; rejects with a Problem, with status 0 where no answer came. */
  async ask<E extends keyof Asks>(event: E, payload: Asks[E][0], timeoutMs = patienceMs): Promise<Asks[E][1]> {
    if (!this.#socket?.connected) throw new Problem(0, '');
    let answer: unknown;
    try {
      answer = await this.#socket.timeout(timeoutMs).emitWithAck(event, payload);
    } catch {
      throw new Problem(0, '');
    }
    return understood<Asks[E][1]>(answer);
  }

  #connect(io: typeof import('socket.io-client').io): void {
    const socket = io({
      transports: ['websocket', 'polling'],
      tryAllTransports: true,
      reconnectionDelay: pause.first,
      reconnectionDelayMax: pause.most,
      reconnectionAttempts: pause.tries,
      auth: (show) => this.#show(show),
    });
    this.#socket = socket;
    socket.io.on('reconnect_attempt', (tries) => socket.io.reconnectionDelayMax(tries < pause.soon ? pause.most : pause.later));
    // Its pauses double with each try, and beyond a thousand come out as none: it begins to count anew.
    socket.io.on('reconnect_failed', () => setTimeout(() => this.#opened && socket.connect(), pause.later * (0.5 + Math.random() / 2)));
    this.#begun = 0;
    const brought = () => (this.#broughtAt = Date.now());
    socket.io.on('ping', brought);
    socket.on('connect', () => {
      brought();
      if (!socket.recovered) this.#begun++;
      this.state = 'live';
      this.#fresh = !socket.recovered;
      for (const [run, again] of this.#ups) (socket.recovered ? again : run)();
    });
    const lost = () => {
      if (this.state === 'live') for (const run of this.#downs) run();
      if (this.#opened) this.state = 'lost';
    };
    socket.on('disconnect', (reason) => {
      lost();
      // The library does not reconnect by itself after a server's disconnect or a refused handshake.
      if (this.#opened && reason === 'io server disconnect') setTimeout(() => this.#opened && socket.connect(), 2000);
    });
    socket.on('connect_error', ({ message }) => {
      lost();
      if (this.key && this.#opened && !socket.active) {
        this.close(); // repeated wrong keys would lock out every operator
        return this.refused(message);
      }
      if (this.#opened && !socket.active) setTimeout(() => this.#opened && socket.connect(), 8000);
    });
    socket.onAny((event: string, payload: unknown) => {
      brought();
      this.#heed(event === 'link' ? (payload as Hearing) : null);
      for (const hear of this.#ears.get(event) ?? []) hear(payload as never);
    });
  }

  /** Says who connects. While a ticket cannot be had the connection waits, and begins anew where the server gives it up. */
  #show(show: (auth: object) => void): void {
    const who = { device: deviceId(), recover: true };
    const { key } = this;
    const turn = ++this.#shows;
    if (typeof key === 'string') return show(key ? { ...who, key } : who);
    const current = () => this.#opened && turn === this.#shows && this.key === key;
    key().then(
      (ticket) => current() && show({ ...who, key: ticket }),
      (failure: unknown) => {
        if (!current()) return;
        const status = failure instanceof Problem ? failure.status : 0;
        if (status === 0 || status === 429 || status >= 500) return void setTimeout(() => current() && this.#show(show), 2000);
        this.close(); // the login has ended, or never allowed this
        this.refused(failure instanceof Problem ? failure.detail : '');
      },
    );
  }

  /** A server that lost the station sends nothing but link events, so the first event of a connection tells which it is. */
  #heed(told: Hearing | null): void {
    const was = this.away;
    if (told) this.away = !told.up;
    else if (this.#fresh) this.away = false;
    this.#fresh = false;
    if (was && !this.away) for (const run of this.#backs) run();
  }
}

/** Returns what {ok: true, …} carries; throws the Problem of {ok: false, error}. */
export function understood<T>(answer: unknown): T {
  const { ok, error, ...rest } = (answer ?? {}) as { ok?: unknown; error?: Record<string, unknown> };
  if (ok === true) return rest as T;
  const { status, detail, title, retryAfter, errors } = error ?? {};
  const words = [detail, title].find((text): text is string => typeof text === 'string' && text !== '') ?? '';
  const waitMs = typeof retryAfter === 'number' && retryAfter > 0 ? retryAfter * 1000 : 0;
  throw new Problem(typeof status === 'number' ? status : 500, words, fieldsOf(errors), waitMs);
}
