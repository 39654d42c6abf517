import { importWords } from '../../../i18n/import';
import { tongue } from '../../../i18n/tongue.svelte';
import { encodeHeader, Problem, problemOf } from '../../../station/control';
import { plain } from '../../../text/bidi';
import { NoKey, type Door } from '../../door.svelte';
import { sayRefused } from '../../problem';
import { isFinal } from '../../production/work';
import type { Job } from '../../production/answers';
import type { Toasts } from '../../toasts.svelte';
import { faultsOf } from '../playlists/settings';
import type { Held, Secrets } from './answers';
import { failureOf, faultsHere, fileFault, freshSource, jobToFollow, keptOf, orderOf, phaseOf, planOf, reportOf, runKind, sourceOf, stationsOf, type Source } from './source';

const at = '/api/station/import';
const under = 'athir.import';

interface Kept {
  source: Source;
  held: Held | null;
  job: string;
}

/** One station that is brought over from another system: where from, what would come, and how far it is. */
export class Importing {
  source = $state<Source>(freshSource());
  /** The backup that is at the station. */
  held = $state.raw<Held | null>(null);
  upload = $state.raw<{ name: string; size: number; sent: number } | null>(null);
  job = $state.raw<Job | null>(null);
  /** The import before, where its result is not looked at. */
  last = $state.raw<Job | null>(null);
  reach = $state<'loading' | 'ready' | 'locked' | 'failed'>('loading');
  /** The station did not answer the last time. */
  stale = $state(false);
  /** What imports gave that no job tells; null: not known yet. */
  secrets = $state.raw<Secrets | null>(null);
  /** The stations of a source of which one must be chosen. */
  stations = $state.raw<readonly string[]>([]);
  /** An order is on its way. */
  busy = $state(false);
  /** The end of the job was asked for. */
  ending = $state(false);
  /** What is wrong, by field; '' where it has none. */
  errors = $state.raw<Record<string, string>>({});

  readonly phase = $derived(phaseOf(this.job));
  readonly plan = $derived(planOf(this.job));
  readonly report = $derived(reportOf(this.job));
  /** The source is known with all its secrets: the station can be asked. */
  readonly known = $derived(orderOf(this.source, this.held) !== null);

  readonly #door: Door;
  readonly #toasts: Toasts;
  #sending: XMLHttpRequest | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #open = false;
  #turn = 0;

  constructor(door: Door, toasts: Toasts) {
    this.#door = door;
    this.#toasts = toasts;
    const kept = this.#read();
    [this.source, this.held] = [sourceOf(kept.source), kept.held ?? null];
  }

  get #words() {
    return importWords[tongue.language];
  }

  /** Follows what runs until the returned function is called. */
  follow(): () => void {
    this.#open = true;
    void this.look();
    return () => {
      this.#open = false;
      clearTimeout(this.#timer);
    };
  }

  /** Asks the station what of this is under way. */
  async look(insist = false): Promise<void> {
    const turn = ++this.#turn;
    try {
      const { jobs } = await (insist ? this.#door.order<{ jobs: Job[] | null }>('GET', '/api/jobs') : this.#door.quietly<{ jobs: Job[] | null }>('GET', '/api/jobs'));
      const found = jobToFollow(jobs ?? [], this.job?.id ?? this.#read().job ?? '');
      const last = (jobs ?? []).find((job) => job.kind === runKind && isFinal(job) && job.id !== found?.id);
      const job = found ? await this.#door.quietly<Job>('GET', `/api/jobs/${found.id}`) : null;
      if (turn !== this.#turn) return;
      this.last = last ?? null;
      if (job) this.#take(job);
      this.reach = 'ready';
    } catch (failure) {
      if (turn !== this.#turn) return;
      const status = failure instanceof Problem ? failure.status : 0;
      if (failure instanceof NoKey || status === 401) this.reach = 'locked';
      else if (this.reach !== 'ready') this.reach = 'failed';
    }
  }

  /** Sends a backup to the station. */
  async send(files: readonly File[]): Promise<void> {
    const [file] = files;
    const { faults } = this.#words.source;
    if (!file || this.upload) return;
    const fault = fileFault(file);
    if (files.length > 1 || fault) {
      this.errors = { file: fault ? faults[fault] : faults.several };
      return;
    }
    this.errors = {};
    const before = this.held;
    this.upload = { name: file.name, size: file.size, sent: 0 };
    addEventListener('beforeunload', stay);
    try {
      await this.#door.order('GET', '/api/jobs'); // whoever has no key is asked for it before the bytes leave
      if (!this.upload) return;
      this.held = await this.#put(file);
      this.#keep();
      if (before) this.#drop(before);
    } catch (failure) {
      if (failure instanceof Problem && failure.status === 0) this.errors = { file: faults.broken };
      else if (failure instanceof Problem && failure.status !== 403) this.errors = { file: Object.values(faultsOf(failure, tongue.language))[0] || faults.broken };
      else if (failure !== null) sayRefused(this.#toasts, failure);
    } finally {
      removeEventListener('beforeunload', stay);
      [this.upload, this.#sending] = [null, null];
    }
  }

  stopSending(): void {
    this.upload = null;
    this.#sending?.abort();
    this.#toasts.say('note', this.#words.source.cancelled);
  }

  /** Gives the backup up that is at the station. */
  giveUp(): void {
    if (this.held) this.#drop(this.held);
    [this.held, this.errors] = [null, {}];
    this.another();
    this.#keep();
  }

  /** Another source has other stations. */
  another(): void {
    if (this.stations.length > 0) [this.stations, this.source.station] = [[], ''];
  }

  /** Asks what would come over. */
  async ask(): Promise<void> {
    const { faults } = this.#words.source;
    const missing = faultsHere(this.source, this.held, this.upload !== null);
    if (this.stations.length > 0 && !this.stations.includes(this.source.station)) return void (this.errors = { station: faults.station });
    this.errors = Object.fromEntries(Object.entries(missing).map(([field, fault]) => [field, faults[fault]]));
    if (Object.keys(missing).length === 0) await this.#begin('plan');
  }

  /** Brings it over. */
  async run(): Promise<void> {
    await this.#begin('apply');
  }

  async cancel(): Promise<void> {
    const { job } = this;
    if (!job || this.ending) return;
    this.ending = true;
    try {
      await this.#door.order('POST', `/api/jobs/${job.id}/cancel`);
    } catch (failure) {
      this.ending = false;
      sayRefused(this.#toasts, failure);
    }
    this.#soon(0);
  }

  /** Back to the source, which stays as it was typed. */
  leave(): void {
    if (this.job?.kind === runKind) this.last = this.job;
    [this.job, this.errors] = [null, {}];
    this.#keep();
  }

  /** The result of the import before. */
  async recall(): Promise<void> {
    const { last } = this;
    if (!last) return;
    try {
      this.#take(await this.#door.order<Job>('GET', `/api/jobs/${last.id}`));
      this.last = null;
    } catch (failure) {
      sayRefused(this.#toasts, failure);
    }
  }

  async #begin(what: 'plan' | 'apply'): Promise<void> {
    const order = orderOf(this.source, this.held);
    if (!order || this.busy) return;
    this.busy = true;
    this.errors = {};
    try {
      this.#take(await this.#door.order<Job>('POST', `${at}/${what}`, order));
    } catch (failure) {
      if (failure instanceof Problem && [404, 409, 422].includes(failure.status)) {
        this.job = null;
        this.errors = faultsOf(failure, tongue.language);
        if (this.errors.file !== undefined) [this.held, this.errors] = [null, { file: this.#words.source.faults.gone }];
        this.#keep();
      } else sayRefused(this.#toasts, failure);
    } finally {
      this.busy = false;
    }
  }

  #take(job: Job): void {
    const before = this.job;
    ++this.#turn;
    if (job.id !== before?.id) this.ending = false;
    this.job = job;
    this.stale = false;
    this.#keep();
    if (!isFinal(job)) return this.#soon(1000);
    if (job.kind === runKind) return void this.#askSecrets();
    if (job.state === 'done') return;
    this.stations = stationsOf(job);
    const { planning } = this.#words;
    this.errors = { '': job.state === 'failed' ? plain(failureOf(job, tongue.language)) || planning.failed : job.state === 'cancelled' ? planning.cancelled : planning.interrupted };
  }

  /** Links and secrets are for owners alone, and no part of a job. */
  async #askSecrets(): Promise<void> {
    const { report } = this;
    if ((report?.invited?.length ?? 0) + (report?.webhooks?.length ?? 0) === 0) return;
    this.secrets = null;
    this.secrets = await this.#door.quietly<Secrets>('GET', `${at}/secrets`).catch(() => ({}));
  }

  #soon(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#open) this.#timer = setTimeout(() => void this.#ask(), ms);
  }

  async #ask(): Promise<void> {
    const { job } = this;
    if (!job || isFinal(job)) return;
    try {
      const now = await this.#door.quietly<Job>('GET', `/api/jobs/${job.id}`);
      if (this.job?.id === job.id) this.#take(now);
    } catch (failure) {
      const status = failure instanceof Problem ? failure.status : 0;
      if (this.job?.id !== job.id) return;
      if (status === 401) this.reach = 'locked';
      else if (status === 404) this.#take({ ...job, state: 'interrupted', endedAt: Date.now() }); // a station that was restarted knows no job of before
      else {
        this.stale = true;
        this.#soon(3000);
      }
    }
  }

  /** The bytes of a file with their progress, which fetch does not tell. Rejects with a Problem, or null where it was called off. */
  #put(file: File): Promise<Held> {
    return new Promise((done, fail) => {
      const request = new XMLHttpRequest();
      this.#sending = request;
      request.open('PUT', `${at}/file?${new URLSearchParams({ name: file.name.slice(-200) })}`);
      request.setRequestHeader('accept', 'application/json');
      request.setRequestHeader('content-type', 'application/octet-stream');
      if (this.#door.key) request.setRequestHeader('x-station-key', encodeHeader(this.#door.key));
      request.upload.onprogress = ({ loaded }) => this.upload && (this.upload = { ...this.upload, sent: Math.min(loaded, file.size) });
      request.onload = () => (request.status < 300 ? done(JSON.parse(request.responseText) as Held) : fail(problemOf(request.status, request.responseText, request.getResponseHeader('retry-after'))));
      request.onerror = () => fail(new Problem(0, ''));
      request.onabort = () => fail(null);
      request.send(file);
    });
  }

  #drop({ file }: Held): void {
    void this.#door.quietly('DELETE', `${at}/file/${encodeURIComponent(file)}`).catch(() => undefined); // the station drops it in time by itself
  }

  #read(): Partial<Kept> {
    try {
      return (JSON.parse(sessionStorage.getItem(under) ?? '{}') ?? {}) as Partial<Kept>;
    } catch {
      return {}; // nothing that we wrote
    }
  }

  #keep(): void {
    const kept: Kept = { source: keptOf(this.source), held: this.held, job: this.job?.id ?? '' };
    try {
      sessionStorage.setItem(under, JSON.stringify(kept));
    } catch {
      // private windows may keep nothing
    }
  }
}

/** Leaving the page would break the upload off. */
function stay(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
