import { fetchJSON, type Played, type Queued, type Status } from './api';
import { heardAt, remember, type Ear } from './ear';

const visibleMs = 3000;
const hurryMs = 400;
const hiddenMs = 12_000;
const longestMs = 20_000;
const patienceFailures = 2;

/**
 * What the pages know of the station. It polls: often while the page is
 * looked at, seldom while it is hidden, slower and slower while nobody
 * answers. The event transport will feed the same fields through take().
 */
export class Station {
  status = $state.raw<Status | null>(null);
  queue = $state.raw<Queued[]>([]);
  reachable = $state(true);

  #ear: Ear = [];
  #clockAheadMs = 0;
  #failures = 0;
  #queueFor = '';
  #queueAt = 0;
  #hurriedUntil = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ended = new AbortController();

  /** The station's clock, as the last answer told it. */
  now(): number {
    return Date.now() + this.#clockAheadMs;
  }

  /** What was on at a moment of the programme. */
  heardAt(moment: number): Played | null {
    return heardAt(this.#ear, moment);
  }

  /** Polls until the returned function is called. */
  follow(): () => void {
    const soon = () => document.visibilityState === 'visible' && this.#schedule(0);
    document.addEventListener('visibilitychange', soon, { signal: this.#ended.signal });
    window.addEventListener('online', soon, { signal: this.#ended.signal });
    this.#schedule(0);
    return () => {
      this.#ended.abort();
      clearTimeout(this.#timer);
    };
  }

  /** Asks now, and for so long as a change is awaited, often. It ends when the track changes. */
  hurry(ms: number): void {
    this.#hurriedUntil = Date.now() + ms;
    this.#schedule(0);
  }

  /** Takes one snapshot, whatever carried it; tookMs is how long it was under way. */
  take(status: Status, tookMs = 0): void {
    this.#clockAheadMs = status.serverTime + tookMs / 2 - Date.now();
    this.#ear = remember(this.#ear, status);
    if (this.status?.track?.startedAt !== status.track?.startedAt) this.#hurriedUntil = 0;
    this.status = status;
    this.reachable = true;
    this.#failures = 0;
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#ended.signal.aborted) return;
    this.#timer = setTimeout(() => void this.#poll(), ms);
  }

  async #poll(): Promise<void> {
    const asked = Date.now();
    try {
      const status = await fetchJSON<Status>('/api/status');
      this.take(status, Date.now() - asked);
      await this.#pollQueue(status);
    } catch {
      this.#failures++;
      if (this.#failures >= patienceFailures) this.reachable = false;
    }
    if (Date.now() < this.#hurriedUntil) return this.#schedule(hurryMs);
    const pace = document.visibilityState === 'visible' ? visibleMs : hiddenMs;
    this.#schedule(Math.min(longestMs, pace * Math.max(1, this.#failures - patienceFailures)));
  }

  /** The queue is asked for when the track or the rotation changed, and now and then. */
  async #pollQueue(status: Status): Promise<void> {
    const key = `${status.track?.startedAt} ${status.rotation.builtAt} ${status.state}`;
    if (key === this.#queueFor && Date.now() - this.#queueAt < 15_000) return;
    const { queue } = await fetchJSON<{ queue: Queued[] | null }>('/api/upnext');
    this.queue = queue ?? [];
    this.#queueFor = key;
    this.#queueAt = Date.now();
  }
}
