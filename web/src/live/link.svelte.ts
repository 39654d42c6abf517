import type { Socket } from 'socket.io-client';
import { fieldsOf, Problem } from '../station/control';
import { deviceId } from './device';
import type { Events } from './words';

export type LinkState = 'resting' | 'connecting' | 'live' | 'lost';

const patienceMs = 12_000;

/**
 * The event transport: Socket.IO on the page's own origin. Its library is
 * loaded when it is first opened. It connects again by itself, for ever, and
 * never holds an order back to send it later: whoever writes keeps what is
 * not acknowledged (outbox.ts) and asks again with the same id.
 */
export class Link {
  /** connecting until the first connection stands, lost whenever one went away. */
  state = $state<LinkState>('resting');

  /** The station key, for staff alone: shown as one connects, and nowhere else. */
  key = '';
  /** Told why the station did not take the key; the link rests until it is opened again. */
  refused: (why: string) => void = () => undefined;

  #socket: Socket | null = null;
  #opened = false;
  readonly #ears = new Map<string, Set<(payload: never) => void>>();
  readonly #ups = new Set<() => void>();
  readonly #downs = new Set<() => void>();

  /** Opens it, once. A page without the library is a page that polls. */
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
  }

  get up(): boolean {
    return this.state === 'live';
  }

  on<E extends keyof Events>(event: E, hear: (payload: Events[E]) => void): () => void {
    const ears = this.#ears.get(event) ?? new Set();
    this.#ears.set(event, ears.add(hear as (payload: never) => void));
    return () => ears.delete(hear as (payload: never) => void);
  }

  /** Calls after each connection made, at once if one stands. */
  onUp(run: () => void): () => void {
    this.#ups.add(run);
    if (this.up) run();
    return () => this.#ups.delete(run);
  }

  onDown(run: () => void): () => void {
    this.#downs.add(run);
    return () => this.#downs.delete(run);
  }

  /** One question and its acknowledgement; rejects with a Problem, of status 0 where no answer came. */
  async ask<T>(event: string, payload: unknown, timeoutMs = patienceMs): Promise<T> {
    if (!this.#socket?.connected) throw new Problem(0, '');
    let answer: unknown;
    try {
      answer = await this.#socket.timeout(timeoutMs).emitWithAck(event, payload);
    } catch {
      throw new Problem(0, '');
    }
    return understood<T>(answer);
  }

  #connect(io: typeof import('socket.io-client').io): void {
    const socket = io({
      transports: ['websocket', 'polling'],
      tryAllTransports: true,
      reconnectionDelay: 500,
      reconnectionDelayMax: 8000,
      auth: (show) => show({ device: deviceId(), ...(this.key ? { key: this.key } : {}) }),
    });
    this.#socket = socket;
    socket.on('connect', () => {
      this.state = 'live';
      for (const run of this.#ups) run();
    });
    const lost = () => {
      if (this.state === 'live') for (const run of this.#downs) run();
      if (this.#opened) this.state = 'lost';
    };
    socket.on('disconnect', (reason) => {
      lost();
      // The library does not come back from these two by itself.
      if (this.#opened && reason === 'io server disconnect') setTimeout(() => this.#opened && socket.connect(), 2000);
    });
    socket.on('connect_error', ({ message }) => {
      lost();
      if (this.key && this.#opened && !socket.active) {
        this.close(); // to try a wrong key again and again would shut everybody's door
        return this.refused(message);
      }
      if (this.#opened && !socket.active) setTimeout(() => this.#opened && socket.connect(), 8000);
    });
    socket.onAny((event: string, payload: unknown) => {
      for (const hear of this.#ears.get(event) ?? []) hear(payload as never);
    });
  }
}

/** {ok:true, …} as what it carries, {ok:false, error} as the Problem it tells. */
export function understood<T>(answer: unknown): T {
  const { ok, error, ...rest } = (answer ?? {}) as { ok?: unknown; error?: Record<string, unknown> };
  if (ok === true) return rest as T;
  const { status, detail, title, retryAfter, errors } = error ?? {};
  const words = [detail, title].find((text): text is string => typeof text === 'string' && text !== '') ?? '';
  const waitMs = typeof retryAfter === 'number' && retryAfter > 0 ? retryAfter * 1000 : 0;
  throw new Problem(typeof status === 'number' ? status : 500, words, fieldsOf(errors), waitMs);
}
