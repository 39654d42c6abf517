import { fetchJSON } from '../station/api';
import { isMusic } from '../station/ear';
import type { Aired, Part } from './answers';
import { joined } from './days';

const part = 50;
/** How many stand on either side of a moment that was asked for. */
const beside = 12;
const settleMs = 250;

/** What was on the air: from now on back, around a moment, or what was searched. A newer question gives an older one up. */
export class Past {
  list = $state.raw<readonly Aired[]>([]);
  phase = $state<'looking' | 'found' | 'failed'>('looking');
  /** More is on its way. */
  extending = $state<'' | 'older' | 'newer'>('');
  /** What was asked for last could not be fetched. */
  short = $state(false);
  /** There is more in that direction. */
  older = $state(false);
  newer = $state(false);
  query = $state('');
  /** The moment that was asked for; 0: now. */
  at = $state(0);

  #before = 0;
  /** The direction that could not be fetched. */
  #failed: 'older' | 'newer' = 'older';
  #turn = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Shows a search as it is typed, a moment, or with neither what is newest. */
  show(query: string, at: number, settle = false): void {
    clearTimeout(this.#timer);
    this.#turn++;
    [this.query, this.at, this.phase, this.extending, this.short] = [query, at, 'looking', '', false];
    if (settle) this.#timer = setTimeout(() => void this.#look(), settleMs);
    else void this.#look();
  }

  again(): void {
    if (this.phase === 'failed') this.show(this.query, this.at);
    else void this.#extend(this.#failed);
  }

  more(): Promise<void> {
    return this.older ? this.#extend('older') : Promise.resolve();
  }

  later(): Promise<void> {
    return this.newer ? this.#extend('newer') : Promise.resolve();
  }

  /** Takes what is on the air now, where the list goes on up to now. */
  air(track: Aired | null | undefined): void {
    if (!track?.startedAt || this.phase !== 'found' || this.newer || this.query) return;
    if (!isMusic(track) && track.category !== 'news' && track.category !== 'ads') return;
    const first = this.list[0];
    if (first && first.startedAt >= track.startedAt) return;
    this.list = [track, ...this.list];
  }

  /** The place of what was on the air at the moment that was asked for. */
  get meant(): Aired | null {
    return this.at > 0 ? (this.list.find(({ startedAt }) => startedAt <= this.at) ?? this.list.at(-1) ?? null) : null;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#turn++;
  }

  async #look(): Promise<void> {
    const turn = ++this.#turn;
    const { query, at } = this;
    try {
      const [back, on] = await Promise.all([ask({ q: query, before: at ? at + 1 : 0, limit: at ? beside : part }), at ? ask({ q: query, after: at, limit: beside }) : null]);
      if (turn !== this.#turn) return;
      this.list = joined(on?.tracks ?? [], back.tracks);
      this.#before = back.next;
      [this.older, this.newer, this.phase] = [back.next > 0, (on?.next ?? 0) > 0, 'found'];
    } catch {
      if (turn === this.#turn) this.phase = 'failed';
    }
  }

  async #extend(way: 'older' | 'newer'): Promise<void> {
    if (this.extending || this.phase !== 'found') return;
    const turn = this.#turn;
    [this.extending, this.short] = [way, false];
    try {
      const where = way === 'older' ? { before: this.#before } : { after: this.list[0]?.startedAt ?? 0 };
      const got = await ask({ q: this.query, limit: part, ...where });
      if (turn !== this.#turn) return;
      this.list = joined(this.list, got.tracks);
      if (way === 'older') [this.#before, this.older] = [got.next, got.next > 0];
      else this.newer = got.next > 0;
    } catch {
      if (turn === this.#turn) [this.#failed, this.short] = [way, true];
    } finally {
      if (turn === this.#turn) this.extending = '';
    }
  }
}

function ask(what: Record<string, string | number>): Promise<Part> {
  const said = new URLSearchParams(Object.entries(what).filter(([, value]) => value).map(([name, value]) => [name, String(value)]));
  return fetchJSON<Part>(`/api/history${said.size > 0 ? `?${said}` : ''}`);
}
