import type { DetailedError, HttpResponse, Upload as Tus, UploadOptions } from 'tus-js-client';
import { deviceId, randomId } from '../live/device';
import { Problem, problemOf } from '../station/control';
import { after, Speed } from './after';
import { keepPost } from './kept';
import type { Draft, Owned } from './post';
import { drop, keep, unsent, type Unsent } from './shelf';

/**
 * | state | meaning |
 * |---|---|
 * | idle | nothing is sent |
 * | sending | bytes leave, or the server is asked how many it has |
 * | paused | by the listener |
 * | waiting | after a failure, until retryAt or until the network is back |
 * | missing | after a reload: the file is too large to have been kept and must be chosen again |
 * | refused | the station will not have it: problem says why |
 * | done | it arrived: post is the owner's hold on it, or null where the answer that held it was lost |
 */
export type UploadState = 'idle' | 'sending' | 'paused' | 'waiting' | 'missing' | 'refused' | 'done';

const endpoint = '/api/social/tus/';
/** A cut loses at most what a proxy has not passed on of one piece. */
const pieceBytes = 8 * 1024 * 1024;
/** A connection that moves nothing for so long is taken for dead; the last byte waits for the server's answer longer. */
const stallMs = { moving: 30_000, answering: 90_000 };

/** The one upload of this page: it goes on after cuts, and after a reload. */
export class Upload {
  state = $state<UploadState>('idle');
  sent = $state(0);
  /** What is or was sent. */
  unsent = $state.raw<Unsent | null>(null);
  perSecond = $state(0);
  leftMs = $state(0);
  /** When it is tried again by itself. */
  retryAt = $state(0);
  problem = $state.raw<Problem | null>(null);
  post = $state.raw<Owned | null>(null);
  /** The file that was chosen again is another one. */
  mistaken = $state(false);

  readonly #speed = new Speed();
  #tus: Tus | null = null;
  #attempt = 0;
  #movedAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #release: () => void = () => undefined;

  get total(): number {
    return this.unsent?.size ?? 0;
  }

  get busy(): boolean {
    return this.state === 'sending' || this.state === 'paused' || this.state === 'waiting' || this.state === 'missing';
  }

  /** Watches the network and what hangs, and picks up what a reload left, until the returned function is called. */
  follow(): () => void {
    const online = (): void => {
      if (this.state === 'waiting' && this.problem?.status !== 429) this.#go();
    };
    const ticker = setInterval(() => this.#look(), 1000);
    addEventListener('online', online);
    void this.#restore();
    return () => {
      clearInterval(ticker);
      clearTimeout(this.#timer);
      removeEventListener('online', online);
      void this.#tus?.abort();
      this.#release();
    };
  }

  async begin(sound: File | Blob, name: string, draft: Draft): Promise<void> {
    const lastModified = sound instanceof File ? sound.lastModified : 0;
    const fresh: Unsent = { id: randomId(), draft, name, size: sound.size, lastModified, url: '', blob: sound, at: Date.now() };
    await this.#hold(fresh.id);
    this.#take(fresh);
    void keep(fresh);
    this.#go();
  }

  pause(): void {
    if (this.state !== 'sending' && this.state !== 'waiting') return;
    clearTimeout(this.#timer);
    this.state = 'paused';
    void this.#tus?.abort();
  }

  /** Goes on after a pause, or at once instead of waiting. */
  resume(): void {
    if (this.state === 'paused' || this.state === 'waiting') this.#go();
  }

  /** Gives it up, at the server too. */
  async cancel(): Promise<void> {
    const { url, id } = { url: this.#tus?.url ?? this.unsent?.url ?? '', id: this.unsent?.id };
    this.close();
    if (id) await drop(id);
    if (url) await fetch(url, { method: 'DELETE', headers: { 'tus-resumable': '1.0.0', 'x-athir-device': deviceId() } }).catch(() => undefined);
  }

  /** Forgets what is finished or refused. */
  close(): void {
    clearTimeout(this.#timer);
    void this.#tus?.abort();
    this.#tus = null;
    this.#release();
    if (this.unsent && this.state === 'refused') void drop(this.unsent.id);
    Object.assign(this, { state: 'idle', unsent: null, post: null, problem: null, sent: 0, mistaken: false });
  }

  /** Takes the file again that could not be kept. */
  adopt(file: File): void {
    const known = this.unsent;
    if (this.state !== 'missing' || !known) return;
    this.mistaken = file.name !== known.name || file.size !== known.size || file.lastModified !== known.lastModified;
    if (this.mistaken) return;
    this.unsent = { ...known, blob: file };
    this.#go();
  }

  async #restore(): Promise<void> {
    for (const one of await unsent(Date.now())) {
      if (this.state !== 'idle' || !(await this.#hold(one.id))) continue; // another tab sends it
      this.#take(one);
      if (one.blob) this.#go();
      else this.state = 'missing';
    }
  }

  #take(one: Unsent): void {
    Object.assign(this, { unsent: one, post: null, problem: null, sent: 0, mistaken: false });
    this.#tus = null;
    this.#attempt = 0;
  }

  /** Holds an upload for this tab; false where another has it. Browsers without locks take the risk. */
  #hold(id: string): Promise<boolean> {
    this.#release();
    if (!navigator.locks) return Promise.resolve(true);
    return new Promise((answer) => {
      const held = (lock: Lock | null): Promise<void> | undefined => {
        answer(lock !== null);
        return lock ? new Promise((release) => (this.#release = release)) : undefined;
      };
      navigator.locks.request(`athir-unsent-${id}`, { ifAvailable: true }, held).catch(() => answer(true));
    });
  }

  #go(): void {
    clearTimeout(this.#timer);
    this.state = 'sending';
    this.problem = null;
    this.#speed.forget();
    this.#movedAt = performance.now();
    const id = this.unsent?.id;
    void this.#tusOf().then(
      (tus) => this.state === 'sending' && this.unsent?.id === id && tus?.start(),
      () => this.#failed(new Problem(0, '')), // the library could not be loaded
    );
  }

  async #tusOf(): Promise<Tus | null> {
    const one = this.unsent;
    if (this.#tus || !one?.blob) return this.#tus;
    const { Upload: Made } = await import('tus-js-client');
    return (this.#tus ??= new Made(one.blob, this.#options(one)));
  }

  #options(one: Unsent): UploadOptions {
    const { tags, ...words } = one.draft;
    return {
      endpoint,
      uploadUrl: one.url || null,
      chunkSize: pieceBytes,
      retryDelays: null, // after() decides
      storeFingerprintForResuming: false, // the shelf keeps the address
      metadata: said({ ...words, tags: tags.join(','), rights: 'true', filename: one.name.slice(-200) }),
      headers: { 'X-Athir-Device': deviceId() },
      onBeforeRequest: (request) => {
        if (request.getMethod() === 'POST') request.setHeader('Idempotency-Key', one.id);
      },
      onAfterResponse: (_, answer) => this.#hear(answer),
      onUploadUrlAvailable: () => this.#named(),
      onProgress: (bytes) => this.#moved(bytes),
      onSuccess: () => this.#arrived(),
      onError: (failure) => this.#failed(problemIn(failure)),
    };
  }

  /** The answer to the last byte carries the post; so may the answer to how much there is, where the first was lost. */
  #hear(answer: HttpResponse): void {
    const [id, token] = [Number(answer.getHeader('X-Post-Id')), answer.getHeader('X-Post-Token')];
    if (Number.isSafeInteger(id) && id > 0 && token) this.post = { id, token };
  }

  #named(): void {
    if (!this.unsent || !this.#tus?.url) return;
    this.unsent = { ...this.unsent, url: this.#tus.url };
    void keep(this.unsent);
  }

  #moved(bytes: number): void {
    const now = performance.now();
    if (bytes > this.sent) this.#attempt = 0;
    this.sent = bytes;
    this.#movedAt = now;
    this.#speed.take(bytes, now);
    this.perSecond = this.#speed.perSecond;
    this.leftMs = this.#speed.leftMs(this.total - bytes);
  }

  #arrived(): void {
    const one = this.unsent;
    this.sent = this.total;
    this.state = 'done';
    this.#tus = null;
    if (one) void drop(one.id);
    if (one && this.post) keepPost({ ...this.post, title: one.draft.title, type: one.draft.type, at: Date.now() });
    this.#release();
  }

  #failed(problem: Problem): void {
    if (this.state !== 'sending') return;
    const next = after(problem.status, this.#attempt++, problem.waitMs, Boolean(this.#tus?.url), problem.reason !== null);
    this.problem = problem;
    if (next === 'stop') {
      this.state = 'refused';
      this.#release();
      return;
    }
    this.state = 'waiting';
    this.retryAt = Date.now() + next.wait;
    this.#timer = setTimeout(() => this.#go(), next.wait);
  }

  /** A connection that says nothing is cut, so that another can be tried. */
  #look(): void {
    if (this.state !== 'sending' || !this.#tus) return;
    const patience = this.sent >= this.total ? stallMs.answering : stallMs.moving;
    if (performance.now() - this.#movedAt < patience) return;
    void this.#tus.abort();
    this.#failed(new Problem(0, ''));
  }
}

/** Metadata without what is empty. */
function said(all: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
}

function problemIn(failure: Error | DetailedError): Problem {
  const answer = 'originalResponse' in failure ? failure.originalResponse : null;
  return answer ? problemOf(answer.getStatus(), answer.getBody(), answer.getHeader('Retry-After') ?? null) : new Problem(0, '');
}
