import type { DetailedError, HttpResponse, Upload as Tus, UploadOptions } from 'tus-js-client';
import { intakeWords } from '../../../i18n/intake';
import { tongue } from '../../../i18n/tongue.svelte';
import { randomId } from '../../../live/device';
import { Problem, problemOf } from '../../../station/control';
import { after, Speed } from '../../../social/after';
import type { Door } from '../../door.svelte';
import { sayRefused } from '../../problem';
import type { Toasts } from '../../toasts.svelte';
import type { Arrival } from '../answers';
import type { Dropped } from './dropped';
import { Kept } from './kept';
import { isBusy, isSound, lookAfter, metadataOf, missingOf, overall, reloaded, toStart, type Sending } from './queue';

const endpoint = '/api/station/library/uploads/';
const intake = '/api/station/library/intake';
/** A cut loses at most what a proxy has not passed on of one piece. */
const pieceBytes = 8 * 1024 * 1024;
/** A connection that moves nothing for so long is taken for dead. */
const stallMs = 60_000;

/** Files on their way into the library: those that leave this page, and all that have arrived and are not done. */
export class Uploads {
  list = $state.raw<readonly Sending[]>([]);
  arrivals = $state.raw<readonly Arrival[]>([]);
  /** The tray is looked into. */
  open = $state(false);
  /** What is sent next goes there; empty: the station guesses. */
  category = $state('');
  leftMs = $state(0);
  /** Ids of what an order is under way for. */
  busy = $state.raw<ReadonlySet<string>>(new Set());
  doneBytes = $state(0);
  /** Grows as the library takes something in, and as that can air. */
  taken = $state(0);
  /** Another tab is sending as well. */
  elsewhere = $state(false);
  /** What was left by a reload is in the list. */
  readonly found: Promise<void>;

  readonly #door: Door;
  readonly #toasts: Toasts;
  readonly #files = new Map<string, File>();
  readonly #tus = new Map<string, { tus: Tus; movedAt: number; intake: string }>();
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #speed = new Speed();
  readonly #batches = new Set<string>();
  readonly #kept = new Kept();
  #looking: ReturnType<typeof setTimeout> | undefined;
  /** Of the arrivals as they were last heard: what has not changed is not sent again. */
  #etag = '';
  #turn = 0;

  constructor(door: Door, toasts: Toasts) {
    this.#door = door;
    this.#toasts = toasts;
    this.found = this.#kept.claim().then((own) => this.#find(own));
  }

  readonly progress = $derived(overall(this.list, this.doneBytes));
  readonly leaving = $derived(isBusy(this.list));
  /** Those that wait for a word of the operator. */
  readonly asking = $derived(this.arrivals.filter(({ state }) => state === 'asks').length);
  /** Whether there is anything of this page to show without being asked. */
  readonly own = $derived(this.list.length > 0 || this.arrivals.some(({ batch }) => this.#batches.has(batch)));

  /** Watches the network and what hangs, until the returned function is called. */
  follow(): () => void {
    const online = () => {
      for (const { id, state } of this.list) if (state === 'waiting') this.#amend(id, { state: 'line', said: '' });
      this.#go();
    };
    const ticker = setInterval(() => this.#tick(), 1000);
    const stored = (event: StorageEvent) => Kept.isOne(event) && void this.#mind();
    // Tabs may have come and gone meanwhile.
    const seen = () => document.visibilityState === 'visible' && void Promise.all([this.#find([]), this.look()]);
    addEventListener('online', online);
    addEventListener('storage', stored);
    document.addEventListener('visibilitychange', seen);
    void this.look();
    return () => {
      clearInterval(ticker);
      clearTimeout(this.#looking);
      removeEventListener('online', online);
      removeEventListener('storage', stored);
      document.removeEventListener('visibilitychange', seen);
      for (const timer of this.#timers.values()) clearTimeout(timer);
      for (const { tus } of this.#tus.values()) void tus.abort();
    };
  }

  /** Takes files to send; those that a reload lost go on where they were. Rejects nothing: what is no sound is told. */
  add(files: readonly Dropped[], how: { replace?: string } = {}): void {
    const words = intakeWords[tongue.language];
    const batch = randomId();
    const fresh: Sending[] = [];
    let others = 0;
    for (const { file, folder } of files) {
      const known = missingOf(this.list, { name: file.name, size: file.size, folder });
      if (known) {
        this.#files.set(known.id, file);
        this.#amend(known.id, { state: 'line', said: '', attempt: 0 });
      } else if (!isSound(file.name, file.type) || file.size === 0) others++;
      else {
        const id = randomId();
        this.#files.set(id, file);
        fresh.push({ id, batch, name: file.name, folder, size: file.size, category: this.category, replace: how.replace ?? '', state: 'line', sent: 0, url: '', attempt: 0, retryAt: 0, said: '', at: Date.now() });
      }
    }
    if (others > 0) this.#toasts.say('note', tongue.counted(others, words.noSound));
    if (fresh.length > 0) {
      if (!this.leaving) this.doneBytes = 0;
      this.#batches.add(batch);
      this.list = [...this.list, ...fresh];
    }
    if (this.leaving) this.open = true;
    this.#keep();
    this.#go();
  }

  pause(id: string): void {
    clearTimeout(this.#timers.get(id));
    this.#amend(id, { state: 'paused' });
    void this.#tus.get(id)?.tus.abort();
    this.#go();
  }

  resume(id: string): void {
    this.#amend(id, { state: 'line', said: '' });
    this.#go();
  }

  pauseAll(): void {
    for (const { id, state } of this.list) if (state === 'sending' || state === 'line' || state === 'waiting') this.#halt(id);
  }

  resumeAll(): void {
    for (const { id, state } of this.list) if (state === 'paused' || state === 'waiting') this.#amend(id, { state: 'line', said: '' });
    this.#go();
  }

  /** Gives it up, at the station too. */
  async cancel(id: string): Promise<void> {
    const one = this.list.find((other) => other.id === id);
    const url = this.#tus.get(id)?.tus.url ?? one?.url ?? '';
    this.#halt(id);
    this.#forget(id);
    this.#go();
    if (url) await this.#door.quietly('DELETE', new URL(url, location.href).pathname, undefined, { headers: { 'tus-resumable': '1.0.0' } }).catch(() => undefined); // the station drops it in time by itself
  }

  /** A refused one is sent once more. */
  again(id: string): void {
    this.#amend(id, this.#files.has(id) ? { state: 'line', said: '', url: '', sent: 0, attempt: 0 } : { state: 'missing', said: '', url: '', sent: 0 });
    this.#tus.delete(id);
    this.#go();
  }

  /** One category for all that have not been taken. */
  async chooseForAll(category: string): Promise<void> {
    this.category = category;
    this.list = this.list.map((one) => (one.url === '' ? { ...one, category } : one));
    this.#keep();
    if (category) await Promise.all(this.arrivals.filter(({ state, batch }) => state === 'asks' && this.#batches.has(batch)).map(({ id }) => this.say(id, { category })));
  }

  /** Says something of an arrival. */
  async say(id: string, order: { category?: string; title?: string; artist?: string; replace?: string }): Promise<boolean> {
    return this.#order(id, async () => {
      this.#put(await this.#door.order<Arrival>('PUT', `${intake}/${id}`, order));
      this.#next();
    });
  }

  async take(ids: readonly string[] | 'all'): Promise<void> {
    await this.#order(ids === 'all' ? 'all' : (ids[0] ?? ''), async () => {
      const { taken } = await this.#door.order<{ taken: number }>('POST', `${intake}/take`, ids === 'all' ? { all: true } : { ids });
      if (ids === 'all') this.#toasts.say('good', tongue.counted(taken, intakeWords[tongue.language].taking));
      await this.look();
    });
  }

  /** In place of the old one's file. */
  async replace(id: string, path: string): Promise<void> {
    if (await this.say(id, { replace: path })) await this.take([id]);
  }

  async drop(id: string): Promise<void> {
    await this.#order(id, async () => {
      await this.#door.order('DELETE', `${intake}/${id}`, undefined, { read: async () => undefined });
      this.arrivals = this.arrivals.filter((other) => other.id !== id);
    });
  }

  /** The lines of those that are in the library go. */
  async clear(): Promise<void> {
    for (const { id } of this.arrivals.filter(({ state }) => state === 'taken' || state === 'undone')) await this.drop(id);
  }

  /** Into the archive again, and what it replaced back: at once, or once it is off the air. */
  async undo(id: string): Promise<void> {
    await this.#order(id, async () => {
      const arrival = await this.#door.order<Arrival>('POST', `${intake}/${id}/undo`, {}, { timeoutMs: 60_000 });
      const was = this.arrivals.find((other) => other.id === id);
      this.#put(arrival);
      if (arrival.state === 'undone' && was?.state !== 'undone') this.#undone(arrival);
      this.#next();
    });
  }

  #undone({ replace }: Arrival): void {
    this.taken++; // lists of the library ask again
    this.#toasts.say('good', replace ? intakeWords[tongue.language].broughtBack : intakeWords[tongue.language].takenBack);
  }

  async lookAgain(id: string): Promise<void> {
    await this.#order(id, async () => {
      this.#put(await this.#door.order<Arrival>('POST', `${intake}/${id}/again`, {}));
      this.#next();
    });
  }

  /** Asks what has arrived. */
  async look(): Promise<void> {
    const turn = ++this.#turn;
    const answer = await this.#heard();
    if (turn !== this.#turn) return;
    if (answer) {
      const { files } = answer;
      this.#etag = answer.etag;
      const before = new Map(this.arrivals.map((one) => [one.id, one]));
      const news = ({ id, state, airsAt }: Arrival): boolean => {
        const was = before.get(id);
        return was !== undefined && ((state === 'taken' && was.state !== 'taken') || (airsAt > 0 && was.airsAt === 0));
      };
      if (files.some(news)) this.taken++;
      this.arrivals = files;
      for (const one of files) if (one.state === 'undone' && before.get(one.id)?.state === 'undoing') this.#undone(one);
    }
    if (answer !== null) for (const { id, state } of this.list) if (state === 'sent') this.#forget(id);
    this.#next();
  }

  /** All that has arrived; undefined where that is as it was, null where nobody answers. */
  async #heard(): Promise<{ files: Arrival[]; etag: string } | undefined | null> {
    try {
      return await this.#door.quietly<{ files: Arrival[]; etag: string }>('GET', intake, undefined, {
        headers: this.#etag ? { 'if-none-match': this.#etag } : {},
        read: async (answer) => ({ files: ((await answer.json()) as { files: Arrival[] }).files, etag: answer.headers.get('etag') ?? '' }),
      });
    } catch (failure) {
      return failure instanceof Problem && failure.status === 304 ? undefined : null;
    }
  }

  #next(): void {
    clearTimeout(this.#looking);
    const sent = this.list.some(({ state }) => state === 'sent');
    const wait = lookAfter(this.arrivals, sent, document.visibilityState === 'visible');
    if (wait !== null) this.#looking = setTimeout(() => void this.look(), wait);
  }

  async #order(id: string, work: () => Promise<void>): Promise<boolean> {
    this.busy = new Set([...this.busy, id]);
    try {
      await work();
      return true;
    } catch (failure) {
      sayRefused(this.#toasts, failure);
      return false;
    } finally {
      this.busy = new Set([...this.busy].filter((other) => other !== id));
    }
  }

  #put(arrival: Arrival): void {
    this.arrivals = this.arrivals.map((other) => (other.id === arrival.id ? arrival : other));
  }

  #halt(id: string): void {
    clearTimeout(this.#timers.get(id));
    this.#amend(id, { state: 'paused' });
    void this.#tus.get(id)?.tus.abort();
  }

  #amend(id: string, change: Partial<Sending>): void {
    this.list = this.list.map((one) => (one.id === id ? { ...one, ...change } : one));
    if (change.state || change.url) this.#keep();
  }

  #forget(id: string): void {
    this.#tus.delete(id);
    this.#files.delete(id);
    this.list = this.list.filter((one) => one.id !== id);
    this.#keep();
  }

  #keep(): void {
    this.#kept.write(this.list);
  }

  /** Takes in what a reload, or a tab that is gone, has left. */
  async #find(own: readonly Sending[]): Promise<void> {
    const found = reloaded([...own, ...(await this.#kept.left())], Date.now());
    if (found.length > 0 || own.length > 0) {
      for (const { batch } of found) this.#batches.add(batch);
      this.list = [...found, ...this.list];
      this.#keep();
    }
    await this.#mind();
  }

  async #mind(): Promise<void> {
    this.elsewhere = await this.#kept.isElsewhere();
  }

  #go(): void {
    for (const one of toStart(this.list)) {
      this.#amend(one.id, { state: 'sending' });
      void this.#start(one.id).catch(() => this.#failed(one.id, new Problem(0, ''))); // the library could not be loaded
    }
  }

  async #start(id: string): Promise<void> {
    const file = this.#files.get(id);
    if (!file) return this.#amend(id, { state: 'missing' });
    const { Upload: Made } = await import('tus-js-client');
    const one = this.list.find((other) => other.id === id);
    if (one?.state !== 'sending') return; // paused meanwhile
    const made = { tus: new Made(file, this.#options(one)), movedAt: performance.now(), intake: '' };
    this.#tus.set(id, made);
    made.tus.start();
  }

  #options(one: Sending): UploadOptions {
    const { id } = one;
    return {
      endpoint,
      uploadUrl: one.url || null,
      chunkSize: pieceBytes,
      retryDelays: null, // after() decides
      storeFingerprintForResuming: false, // the list keeps the address
      metadata: metadataOf(one),
      headers: this.#door.key ? { 'x-station-key': bytesOf(this.#door.key) } : {},
      onBeforeRequest: (request) => {
        if (request.getMethod() === 'POST') request.setHeader('Idempotency-Key', id);
      },
      onAfterResponse: (_, answer) => this.#hear(id, answer),
      onUploadUrlAvailable: () => this.#amend(id, { url: this.#tus.get(id)?.tus.url ?? '' }),
      onProgress: (bytes) => this.#moved(id, bytes),
      onSuccess: () => this.#arrived(id),
      onError: (failure) => this.#failed(id, problemIn(failure)),
    };
  }

  #hear(id: string, answer: HttpResponse): void {
    const [made, name] = [this.#tus.get(id), answer.getHeader('X-Intake-Id')];
    if (made && name) made.intake = name;
  }

  #moved(id: string, bytes: number): void {
    const made = this.#tus.get(id);
    const one = this.list.find((other) => other.id === id);
    if (!made || !one) return;
    made.movedAt = performance.now();
    this.#amend(id, bytes > one.sent ? { sent: bytes, attempt: 0 } : { sent: bytes });
    this.#speed.take(this.progress.sent, performance.now());
    this.leftMs = this.#speed.leftMs(this.progress.total - this.progress.sent);
  }

  #arrived(id: string): void {
    const one = this.list.find((other) => other.id === id);
    if (!one) return;
    this.doneBytes += one.size;
    this.#amend(id, { state: 'sent', sent: 0, size: 0 }); // its bytes are counted among those done
    this.#go();
    void this.look();
  }

  #failed(id: string, problem: Problem): void {
    const one = this.list.find((other) => other.id === id);
    if (one?.state !== 'sending') return;
    this.#speed.forget();
    if (problem.status === 401) {
      this.#halt(id);
      void this.#door.welcome().then(() => this.#door.open && this.resumeAll());
      return;
    }
    if (problem.status === 404 || problem.status === 410) this.#amend(id, { url: '', sent: 0 });
    const next = after(problem.status, one.attempt, problem.waitMs, one.url !== '', problem.reason !== null);
    const said = problem.reason?.[tongue.language] ?? problem.detail;
    if (next === 'stop') this.#amend(id, { state: 'refused', said });
    else {
      this.#amend(id, { state: 'waiting', attempt: one.attempt + 1, retryAt: Date.now() + next.wait, said });
      this.#timers.set(id, setTimeout(() => this.list.find((other) => other.id === id)?.state === 'waiting' && this.resume(id), next.wait));
    }
    this.#go();
  }

  /** A connection that says nothing is cut, so that another can be tried. */
  #tick(): void {
    if (this.elsewhere) void this.#mind(); // a tab that is closed does not tell
    for (const { id, state } of this.list) {
      const made = this.#tus.get(id);
      if (state !== 'sending' || !made || performance.now() - made.movedAt < stallMs) continue;
      void made.tus.abort();
      this.#failed(id, new Problem(0, ''));
    }
  }
}

/** Headers carry bytes: a key in any script travels as UTF-8. */
const bytesOf = (text: string): string => Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');

function problemIn(failure: Error | DetailedError): Problem {
  const answer = 'originalResponse' in failure ? failure.originalResponse : null;
  return answer ? problemOf(answer.getStatus(), answer.getBody(), answer.getHeader('Retry-After') ?? null) : new Problem(0, '');
}
