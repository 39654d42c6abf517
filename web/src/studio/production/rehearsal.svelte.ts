import { Problem } from '../../station/control';
import { plain } from '../../text/bidi';
import type { Door } from '../door.svelte';
import { sayRefused } from '../problem';
import type { Toasts } from '../toasts.svelte';
import type { BulletinRehearsed, Job } from './answers';
import { isFinal } from './work';

const path = '/api/station/bulletin/preview/audio';
const lookMs = 500;

/** Why nothing is heard: the order was refused, or its job failed; detail is what a program said. */
export interface Unheard {
  refused: Problem | null;
  reason: { en: string; ar: string } | null;
  detail: string;
}

/**
 * Lets the operator hear the bulletin before it airs. The station speaks it as
 * a job; what was spoken is heard again without another job while the headlines
 * that are read stay the same and the station keeps it.
 */
export class Rehearsal {
  /** waiting: the browser wants a press before it plays. */
  stage = $state<'idle' | 'making' | 'playing' | 'waiting' | 'failed'>('idle');
  job = $state.raw<Job | null>(null);
  /** The newest that was spoken. */
  made = $state.raw<BulletinRehearsed | null>(null);
  unheard = $state.raw<Unheard | null>(null);
  /** Milliseconds. */
  at = $state(0);
  /** The headlines that are being spoken or were: what is heard is theirs. */
  of = $state('');
  #audio: HTMLAudioElement | null = null;
  #turn = 0;
  readonly #door: Door;
  readonly #toasts: Toasts;

  constructor(door: Door, toasts: Toasts) {
    this.#door = door;
    this.#toasts = toasts;
  }

  /** Listens to a bulletin with these headlines, or stops what is made or heard. */
  async press(lines: readonly string[]): Promise<void> {
    if (this.stage === 'making' || this.stage === 'playing') return this.stop();
    const turn = ++this.#turn;
    if (this.made && this.of === keyOf(lines) && this.#audio && Date.now() < this.made.until) return this.#play(turn, true);
    this.#forget();
    [this.stage, this.of, this.unheard] = ['making', keyOf(lines), null];
    try {
      const made = await this.#speak(turn, lines);
      if (!made) return;
      const { path: address } = await this.#door.quietly<{ path: string }>('POST', `${path}/${encodeURIComponent(made.id)}/ticket`, {});
      if (turn !== this.#turn) return;
      this.made = made;
      this.#load(address);
      await this.#play(turn);
    } catch (failure) {
      if (turn === this.#turn) this.#fail(failure);
    }
  }

  /** Ends the job that is under way, or the sound. */
  async stop(): Promise<void> {
    const job = this.stage === 'making' ? this.job : null;
    this.#turn++;
    this.#audio?.pause();
    [this.stage, this.at, this.job] = ['idle', 0, null];
    if (job) await this.#cancel(job);
  }

  /** Has it spoken; null where it was stopped meanwhile, or ended without a sound. */
  async #speak(turn: number, lines: readonly string[]): Promise<BulletinRehearsed | null> {
    let job = await this.#door.order<Job>('POST', path, { headlines: lines });
    while (turn === this.#turn) {
      this.job = job;
      if (isFinal(job)) return this.#came(job);
      await new Promise((seen) => setTimeout(seen, lookMs));
      if (turn !== this.#turn) return null; // stop has cancelled it
      job = await this.#door.quietly<Job>('GET', `/api/jobs/${job.id}`, undefined, { timeoutMs: 8000 }).catch((failure: unknown) => {
        if (failure instanceof Problem && (failure.status === 0 || failure.status === 429 || failure.status >= 500)) return job; // it may answer again
        throw failure;
      });
    }
    await this.#cancel(job); // it was stopped before its job was known
    return null;
  }

  #came(job: Job): BulletinRehearsed | null {
    const result = (job.result ?? null) as BulletinRehearsed | null;
    if (job.state === 'done' && result?.id) return result;
    this.job = null;
    if (job.state === 'cancelled') this.stage = 'idle';
    else [this.stage, this.unheard] = ['failed', { refused: null, reason: result?.reason ?? null, detail: plain(result?.reason?.detail ?? job.error ?? '') }];
    return null;
  }

  async #cancel(job: Job): Promise<void> {
    // Where it has ended meanwhile there is nothing to end.
    await this.#door.quietly('POST', `/api/jobs/${job.id}/cancel`).catch(() => undefined);
  }

  #load(address: string): void {
    const audio = new Audio(address); // with the ticket in it: an audio element sends no key
    this.#audio = audio;
    audio.addEventListener('timeupdate', () => (this.at = audio.currentTime * 1000));
    audio.addEventListener('ended', () => this.#audio === audio && ([this.stage, this.at] = ['idle', 0]));
    audio.addEventListener('error', () => {
      if (this.#audio !== audio) return;
      this.#forget();
      [this.stage, this.unheard] = ['failed', { refused: null, reason: null, detail: '' }];
    });
  }

  async #play(turn: number, again = false): Promise<void> {
    const audio = this.#audio;
    if (!audio) return;
    [this.job, this.unheard, this.at] = [null, null, 0];
    if (again) audio.currentTime = 0;
    this.stage = 'playing';
    await audio.play().catch(() => {
      // A browser may want a press that is not seconds old.
      if (turn === this.#turn && this.stage === 'playing') this.stage = 'waiting';
    });
  }

  #forget(): void {
    this.#audio?.pause();
    [this.#audio, this.made, this.job, this.at] = [null, null, null, 0];
  }

  #fail(failure: unknown): void {
    this.#forget();
    this.stage = 'idle';
    if (!(failure instanceof Problem)) return void sayRefused(this.#toasts, failure); // the door was left closed
    [this.stage, this.unheard] = ['failed', { refused: failure, reason: failure.reason, detail: '' }];
  }
}

/** The headlines that are read are the first three. */
export function keyOf(lines: readonly string[]): string {
  return lines.slice(0, 3).join('\n');
}
