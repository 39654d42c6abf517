import { ask, Problem } from '../station/control';
import type { Page, Track } from './answers';
import { asDevice } from './requests.svelte';

const settleMs = 250;

/** The songs that may be asked for, found as they are typed. A newer question gives an older one up. */
export class Finder {
  tracks = $state.raw<readonly Track[]>([]);
  total = $state(0);
  phase = $state<'looking' | 'found' | 'failed'>('looking');
  /** More of the same is on its way. */
  extending = $state(false);
  problem = $state.raw<Problem | null>(null);

  #query = '';
  #timer: ReturnType<typeof setTimeout> | undefined;
  #under = new AbortController();

  /** Looks for words once they settle; nothing lists every song by its artist. */
  seek(query: string, atOnce = false): void {
    this.#query = query.trim();
    this.#stop();
    this.phase = 'looking';
    this.#timer = setTimeout(() => void this.#look(0, 0), atOnce ? 0 : settleMs);
  }

  /** What is shown, asked again: the rules change with the queue. */
  renew(): void {
    if (this.phase !== 'found' || this.extending) return;
    this.#stop();
    this.#timer = setTimeout(() => void this.#look(0, this.tracks.length), settleMs);
  }

  more(): void {
    if (this.extending || this.phase !== 'found') return;
    this.#stop();
    this.extending = true;
    void this.#look(this.tracks.length, 0);
  }

  close(): void {
    this.#stop();
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#under.abort();
    this.#under = new AbortController();
    this.extending = false;
  }

  /** One page, put behind the tracks before it; the first of a renewal leaves what is beyond it as it was. */
  async #look(offset: number, keep: number): Promise<void> {
    const { signal } = this.#under;
    const query = this.#query;
    try {
      const answer = await ask<Page>('GET', `/api/requests/search?${new URLSearchParams({ q: query, offset: String(offset) })}`, undefined, { ...asDevice(), signal });
      if (signal.aborted) return;
      const got = answer.tracks ?? [];
      const known = new Set(got.map(({ file }) => file));
      const before = this.tracks.slice(0, offset).filter(({ file }) => !known.has(file));
      const beyond = keep > got.length ? this.tracks.slice(got.length, keep).filter(({ file }) => !known.has(file)) : [];
      this.tracks = [...before, ...got, ...beyond];
      [this.total, this.phase, this.problem] = [answer.total, 'found', null];
    } catch (failure) {
      if (signal.aborted) return;
      this.problem = failure as Problem;
      if (keep === 0) this.phase = offset > 0 ? 'found' : 'failed';
    } finally {
      if (!signal.aborted) this.extending = false;
    }
  }
}
