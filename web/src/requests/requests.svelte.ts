import { ask, Problem } from '../station/control';
import { deviceId, randomId } from '../live/device';
import type { Link } from '../live/link.svelte';
import type { Asked, Limits, Look, Told, Track, Verdict } from './answers';
import { inOrder, isOpen } from './order';
import { gateOf, merged, ruleOf } from './rules';

const everyMs = 15_000;
/** A station that takes no requests is asked again this seldom: it may be configured otherwise. */
const idleMs = 300_000;
const tickMs = 5000;

/** What is being asked for: one id for as long as no answer has come, so that it is asked for once. */
interface Draft {
  id: string;
  file: string;
  at: number;
}

/** The queue of requests as this listener sees it, and what they ask for. Its event keeps it live; without a link it is looked at. */
export class Requests {
  enabled = $state(false);
  open = $state(false);
  all = $state.raw<readonly Asked[]>([]);
  limits = $state.raw<Limits>({ everyMs: 0, perDay: 0, queue: 0, nextAt: 0 });
  /** The station's clock. */
  now = $state(0);
  /** A request is on its way. */
  sending = $state(false);
  /** Why the last one was not taken; a rule has words of its own. */
  problem = $state.raw<Problem | null>(null);
  rule = $state.raw<Verdict | null>(null);
  /** The last one of this visit that was granted; 0 for none. */
  granted = $state(0);

  readonly #link: Link;
  readonly #clock: () => number;
  #draft: Draft | null = null;
  #told: Told | null = null;
  /** Grows with every event. */
  #tales = 0;
  #turn = 0;
  #lookedAt = 0;
  /** The station has said whether it takes requests. */
  #known = false;

  constructor(link: Link, clock: () => number) {
    this.#link = link;
    this.#clock = clock;
    this.now = clock();
  }

  /** What waits, in the order in which it will air. */
  get queue(): Asked[] {
    return inOrder(this.all);
  }

  /** One's own: what waits, then what is over, the newest first. */
  get mine(): Asked[] {
    const own = this.all.filter(({ mine }) => mine).sort((a, b) => b.at - a.at);
    return [...inOrder(own), ...own.filter((request) => !isOpen(request))];
  }

  /** What stands against any request of this listener now. */
  get gate(): Verdict | null {
    return gateOf(this.open, this.all, this.limits, this.now);
  }

  find(id: number): Asked | undefined {
    return this.all.find((request) => request.id === id);
  }

  /** Follows the station until the returned function is called. */
  follow(): () => void {
    const offs = [this.#link.on('requests', (told) => this.#hear(told)), this.#link.onAnew(() => void this.look())];
    if (!this.#link.up) void this.look();
    const ticker = setInterval(() => {
      this.now = this.#clock();
      if (this.#known && this.#link.brings && !this.#link.away) return; // it tells of every change
      const pause = this.#known && !this.enabled ? idleMs : everyMs;
      if (document.visibilityState === 'visible' && Date.now() - this.#lookedAt > pause) void this.look();
    }, tickMs);
    return () => {
      clearInterval(ticker);
      for (const off of offs) off();
    };
  }

  /** Asks for the queue. An event that came meanwhile is as new as the answer, and only one's own is taken from that. */
  async look(): Promise<void> {
    const turn = ++this.#turn;
    const tales = this.#tales;
    this.#lookedAt = Date.now();
    try {
      const { enabled, open, requests, limits } = await ask<Look>('GET', '/api/requests', undefined, asDevice());
      if (turn !== this.#turn) return;
      const told = tales === this.#tales ? null : this.#told;
      this.#known = true;
      [this.enabled, this.limits, this.now] = [enabled, limits, this.#clock()];
      this.open = told ? told.open : open;
      this.all = told ? merged(requests ?? [], told.requests ?? []).requests : (requests ?? []);
      this.#settle();
    } catch {
      // the next connection or look asks again
    }
  }

  /** Asks for a song; returns whether it was granted. Asked again after a lost answer it is the same request. */
  async request(track: Pick<Track, 'file'>, name: string, note: string): Promise<boolean> {
    if (this.sending) return false;
    if (this.#draft?.file !== track.file) this.#draft = { id: randomId(), file: track.file, at: this.#clock() };
    const draft = this.#draft;
    this.sending = true;
    [this.problem, this.rule] = [null, null];
    try {
      const body = { file: track.file, id: draft.id, ...(name ? { name } : {}), ...(note ? { note } : {}) };
      const { request } = await ask<{ request: Asked }>('POST', '/api/requests', body, asDevice());
      this.#take(request);
      this.#draft = null;
      void this.look(); // from when the next one is
      return true;
    } catch (failure) {
      return this.#refused(failure as Problem);
    } finally {
      this.sending = false;
    }
  }

  /** Takes back one's own. Rejects with a Problem. */
  async takeBack(id: number): Promise<void> {
    try {
      await ask('DELETE', `/api/requests/${id}`, undefined, asDevice());
      this.all = this.all.map((request) => (request.id === id ? { ...request, status: 'cancelled', expectedAt: 0 } : request));
    } finally {
      void this.look();
    }
  }

  /** Forgets what was said of the last try. */
  clear(): void {
    [this.problem, this.rule, this.granted] = [null, null, 0];
  }

  #hear(told: Told): void {
    this.#told = told;
    this.#tales++;
    this.open = told.open;
    const { requests, lost } = merged(this.all, told.requests ?? []);
    this.all = requests;
    this.#settle();
    if (lost || !this.enabled) void this.look();
  }

  #take(request: Asked): void {
    const others = this.all.filter(({ id }) => id !== request.id);
    this.all = [...others.filter(isOpen), request, ...others.filter((other) => !isOpen(other))];
    this.granted = request.id;
  }

  #refused(problem: Problem): boolean {
    this.rule = ruleOf(problem);
    // Without an answer it may have been granted: the id is kept, and the queue tells.
    const unknown = problem.status === 0 || problem.status === 429 || problem.status >= 500;
    if (!unknown) this.#draft = null;
    if (!this.rule) this.problem = problem;
    void this.look();
    return false;
  }

  /** The answer was lost, yet the request is there. */
  #settle(): void {
    const draft = this.#draft;
    if (!draft || this.sending) return;
    const there = this.all.find((request) => request.mine && request.file === draft.file && request.at > draft.at - 5000 && isOpen(request));
    if (!there) return;
    this.#draft = null;
    [this.problem, this.rule, this.granted] = [null, null, there.id];
  }
}

export const asDevice = () => ({ timeoutMs: 12_000, headers: { 'x-athir-device': deviceId() } });
