import { productionWords } from '../../i18n/production';
import { tongue } from '../../i18n/tongue.svelte';
import { Problem } from '../../station/control';
import type { Door } from '../door.svelte';
import { sayRefused } from '../problem';
import type { Toasts } from '../toasts.svelte';
import type { BulletinStatus, ContentStatus, ImagingMade, Job } from './answers';
import { Headlines } from './headlines.svelte';
import { Rehearsal } from './rehearsal.svelte';
import { Script } from './script.svelte';
import { isFinal, newest, pace, summary } from './work';

const statusEveryMs = 10_000;

/** Kinds of jobs that make imaging. */
export const imagingKinds = ['imaging', 'sweepers', 'stingers'] as const;

/**
 * What the section knows of the station's long work. It asks only while the
 * section is open; what needs the key is asked for quietly, and the operator
 * is asked for the key by an order alone.
 */
export class Production {
  jobs = $state.raw<readonly Job[]>([]);
  jobsPhase = $state<'loading' | 'ready' | 'locked' | 'missing' | 'failed'>('loading');
  bulletin = $state.raw<BulletinStatus | null>(null);
  content = $state.raw<ContentStatus | null>(null);
  /** The open routes did not answer the last time. */
  stale = $state(false);
  /** Paths of orders that are on their way. */
  sending = $state.raw<ReadonlySet<string>>(new Set());
  /** Jobs whose end was asked for. */
  ending = $state.raw<ReadonlySet<string>>(new Set());

  /** The box of headlines: a draft outlives the section. */
  readonly headlines: Headlines;
  /** What they would sound like. */
  readonly script: Script;
  readonly rehearsal: Rehearsal;

  readonly #door: Door;
  readonly #toasts: Toasts;
  #details = $state.raw<ReadonlyMap<string, Job>>(new Map());
  /** Jobs whose log is read. */
  #read = $state.raw<ReadonlySet<string>>(new Set());
  /** Jobs begun from this page: their end is told. */
  readonly #mine = new Set<string>();
  #statusAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #open = false;
  #turn = 0;

  constructor(door: Door, toasts: Toasts) {
    this.#door = door;
    this.#toasts = toasts;
    this.headlines = new Headlines(door, toasts);
    this.script = new Script(door);
    this.rehearsal = new Rehearsal(door, toasts);
  }

  /** Asks at once for what a change has changed. */
  look(): void {
    this.#statusAt = 0;
    this.#soon(0);
  }

  /** Asks until the returned function is called. */
  follow(): () => void {
    this.#open = true;
    const seen = () => document.visibilityState === 'visible' && this.#soon(0);
    document.addEventListener('visibilitychange', seen);
    this.#soon(0);
    return () => {
      this.#open = false;
      clearTimeout(this.#timer);
      document.removeEventListener('visibilitychange', seen);
    };
  }

  /** Asks for the jobs once more after they were locked, with the key if need be. */
  async unlock(): Promise<void> {
    try {
      await this.#door.order('GET', '/api/jobs');
      this.jobsPhase = 'loading';
    } catch (failure) {
      sayRefused(this.#toasts, failure);
    }
    this.#soon(0);
  }

  /** Whoever stands here may order work; what only the key opens is known to be open. */
  get may(): boolean {
    return this.#door.may('programme');
  }

  get opened(): boolean {
    return this.#door.open;
  }

  /** Begins long work; the job, or null where it was refused, which is told. */
  async begin(path: string, body?: unknown): Promise<Job | null> {
    if (this.sending.has(path)) return null;
    this.sending = new Set([...this.sending, path]);
    try {
      const job = await this.#door.order<Job>('POST', path, body);
      this.#mine.add(job.id);
      this.#keep(job);
      this.jobs = [job, ...this.jobs.filter((other) => other.id !== job.id)];
      this.jobsPhase = 'ready';
      return job;
    } catch (failure) {
      sayRefused(this.#toasts, failure);
      return null;
    } finally {
      this.sending = new Set([...this.sending].filter((other) => other !== path));
      this.#soon(0);
    }
  }

  async cancel(job: Job): Promise<void> {
    this.ending = new Set([...this.ending, job.id]);
    try {
      await this.#door.order('POST', `/api/jobs/${job.id}/cancel`);
    } catch (failure) {
      this.ending = new Set([...this.ending].filter((id) => id !== job.id));
      sayRefused(this.#toasts, failure);
    }
    this.#soon(0);
  }

  /** A job with its log and result as far as they are known. */
  detail(id: string): Job | undefined {
    const listed = this.jobs.find((job) => job.id === id);
    const kept = this.#details.get(id);
    return listed && kept ? { ...kept, ...listed, log: kept.log ?? [], result: kept.result } : (kept ?? listed);
  }

  /** The newest job of some kinds, with what is known of it. */
  newest(kinds: readonly string[]): Job | undefined {
    const job = newest(this.jobs, kinds);
    return job && this.detail(job.id);
  }

  /** The newest imaging job that made something; one that was cancelled keeps what it made. */
  get lastImaging(): Job | undefined {
    return this.#ended(imagingKinds)
      .map((id) => this.detail(id))
      .find((job) => (job?.result as ImagingMade | undefined)?.made?.length);
  }

  reading(id: string): boolean {
    return this.#read.has(id);
  }

  /** Unfolds a job, or folds it. */
  read(id: string, open: boolean): void {
    const read = new Set(this.#read);
    if (open) read.add(id);
    else read.delete(id);
    this.#read = read;
    if (open) this.#soon(0);
  }

  #soon(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#open) this.#timer = setTimeout(() => void this.#ask(), ms);
  }

  async #ask(): Promise<void> {
    const turn = ++this.#turn;
    const visible = document.visibilityState === 'visible';
    const before = this.jobs;
    // Where the key is missing, another order may have brought it meanwhile.
    if (this.jobsPhase !== 'locked' || this.#door.open) await this.#askJobs();
    const ended = before.some((job) => !isFinal(job) && this.jobs.some((now) => now.id === job.id && isFinal(now)));
    if (ended || Date.now() - this.#statusAt >= statusEveryMs) await this.#askStatus();
    if (turn === this.#turn) this.#soon(pace(this.jobs, visible));
  }

  async #askJobs(): Promise<void> {
    try {
      const { jobs } = await this.#door.quietly<{ jobs: Job[] | null }>('GET', '/api/jobs');
      this.jobs = jobs ?? [];
      this.jobsPhase = 'ready';
      await Promise.all(this.#wanted().map((id) => this.#askDetail(id)));
      this.#tellEnds();
    } catch (failure) {
      const status = failure instanceof Problem ? failure.status : 0;
      const locked = status === 401 || status === 429;
      if (locked) [this.#door.open, this.jobs] = [false, []];
      this.jobsPhase = locked ? 'locked' : status === 404 ? 'missing' : 'failed';
    }
  }

  /** Jobs whose log or result is shown and not known to its end. */
  #wanted(): string[] {
    const shown = new Set([...this.#read, ...this.#mine]);
    for (const id of [...this.#ended(imagingKinds), ...this.#ended(['bulletin'])]) shown.add(id);
    return this.jobs
      .filter((job) => {
        const kept = this.#details.get(job.id);
        return shown.has(job.id) && !(kept && isFinal(kept));
      })
      .map((job) => job.id);
  }

  /** The newest few jobs of some kinds that are over. */
  #ended(kinds: readonly string[]): string[] {
    return this.jobs
      .filter((job) => kinds.includes(job.kind) && isFinal(job))
      .slice(0, 3)
      .map((job) => job.id);
  }

  async #askDetail(id: string): Promise<void> {
    const job = await this.#door.quietly<Job>('GET', `/api/jobs/${id}`).catch(() => null); // the next turn asks again
    if (job) this.#keep(job);
  }

  #keep(job: Job): void {
    this.#details = new Map([...this.#details, [job.id, job]]);
    // What ended between the list and the detail is not listed as running any more.
    this.jobs = this.jobs.map((listed) => (listed.id === job.id && isFinal(job) ? { ...job, log: null, result: undefined } : listed));
  }

  async #askStatus(): Promise<void> {
    this.#statusAt = Date.now();
    try {
      [this.bulletin, this.content] = await Promise.all([this.#door.look<BulletinStatus>('/api/bulletin/status'), this.#door.look<ContentStatus>('/api/content/status')]);
      this.stale = false;
    } catch {
      this.stale = true;
    }
  }

  #tellEnds(): void {
    for (const id of this.#mine) {
      const job = this.#details.get(id);
      if (!job || !isFinal(job)) continue;
      this.#mine.delete(id);
      if (job.kind === 'content plan' || (job.result as { dryRun?: boolean } | undefined)?.dryRun) continue; // its answer is looked at already
      const words = productionWords[tongue.language];
      const text = words.jobs.ended(words.jobs.kinds[job.kind] ?? job.kind, words.jobs.states[job.state] ?? job.state);
      const problem = job.state === 'cancelled' ? '' : job.error || (job.result as { problem?: string } | undefined)?.problem;
      const detail = problem || summary(job, words, tongue.language);
      this.#toasts.say(job.state === 'done' ? 'good' : job.state === 'failed' ? 'bad' : 'note', text, { detail });
    }
  }
}
