import { fetchJSON } from '../station/api';
import type { Episode, EpisodePage, Part, Show } from './answers';
import { sound, type Of } from './sound.svelte';

export type Phase = 'looking' | 'found' | 'missing' | 'failed';

const part = 30;
const most = 100;
/** Bounds the parts of a show that is listed from its beginning. */
const mostParts = 20;
/** While a search is typed, only what one comes to rest at is asked for. */
const settleMs = 300;
/** A tab that was away for longer asks again when it comes back. */
const staleMs = 10 * 60_000;

const base = '/api/podcasts';
const phaseOf = (failure: unknown): 'missing' | 'failed' => (failure instanceof Error && failure.message.endsWith(': 404') ? 'missing' : 'failed');

/** The episodes of one show, as they are listed or searched. */
export class Listing {
  show = $state.raw<Show | null>(null);
  list = $state.raw<Episode[]>([]);
  phase = $state<Phase>('looking');
  /** What is listed is still that of the question before. */
  busy = $state(false);
  query = $state('');
  /** There is more, and it is asked for by hand or by scrolling. */
  more = $state(false);
  extending = $state(false);
  /** More was asked for in vain. */
  short = $state(false);

  readonly #slug: string;
  #next = 0;
  #turn = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = false;

  constructor(slug: string) {
    this.#slug = slug;
  }

  /** Shows what is searched; settle where it is being typed. What was found before stays. */
  look(query: string, settle = false): void {
    if (this.#asked && query === this.query && this.phase === 'found') return;
    clearTimeout(this.#timer);
    if (this.phase === 'missing' || this.phase === 'failed') this.phase = 'looking';
    this.query = query;
    this.#asked = this.busy = true;
    if (settle) this.#timer = setTimeout(() => void this.#ask(), settleMs);
    else void this.#ask();
  }

  again(): void {
    if (this.phase === 'found') return void this.extend();
    this.phase = 'looking';
    void this.#ask();
  }

  /** Looks once more, and says nothing where that fails. */
  refresh(): void {
    if (this.phase === 'found' && !this.extending) void this.#ask(true);
  }

  async extend(): Promise<void> {
    if (!this.more || this.extending || this.phase !== 'found') return;
    const turn = this.#turn;
    [this.extending, this.short] = [true, false];
    try {
      const got = await this.#part(this.#next, part);
      if (turn !== this.#turn) return;
      this.list = joined(this.list, got.episodes);
      [this.#next, this.more] = [got.next, got.next > 0];
    } catch {
      if (turn === this.#turn) this.short = true;
    } finally {
      if (turn === this.#turn) this.extending = false;
    }
  }

  async #ask(quietly = false): Promise<void> {
    const turn = ++this.#turn;
    if (!quietly && this.list.length === 0) this.phase = 'looking';
    this.extending = false;
    try {
      const [show, first] = await Promise.all([this.show && !quietly ? this.show : fetchJSON<Show>(`${base}/${this.#slug}`), this.#part(0, part)]);
      const whole = show.serial ? await this.#all(first) : first;
      if (turn !== this.#turn) return;
      // What was scrolled to stays; what has gone from the part that was asked for anew goes.
      const grown = quietly && !show.serial && first.next > 0 && this.list.length > first.episodes.length;
      [this.show, this.list, this.short] = [show, grown ? joined(first.episodes, this.list.filter(({ publishedAt }) => publishedAt < first.next)) : whole.episodes, false];
      if (!grown) [this.#next, this.more] = [whole.next, whole.next > 0];
      this.phase = 'found';
    } catch (failure) {
      if (turn === this.#turn && !(quietly && phaseOf(failure) === 'failed')) this.phase = phaseOf(failure);
    } finally {
      if (turn === this.#turn) this.busy = false;
    }
  }

  /** A serial begins with its first episode: all are asked for, in few and large parts. */
  async #all(first: Part): Promise<Part> {
    let list = first.episodes;
    let { next } = first;
    for (let i = 0; next > 0 && i < mostParts; i++) {
      const got = await this.#part(next, most);
      list = joined(list, got.episodes);
      next = got.next;
    }
    return { episodes: [...list].reverse(), next: 0 };
  }

  #part(before: number, limit: number): Promise<Part> {
    const said = new URLSearchParams({ limit: String(limit), ...(before ? { before: String(before) } : {}), ...(this.query ? { q: this.query } : {}) });
    return fetchJSON<Part>(`${base}/${this.#slug}/episodes?${said}`);
  }
}

function joined(one: readonly Episode[], other: readonly Episode[]): Episode[] {
  const known = new Set(one.map(({ id }) => id));
  return [...one, ...other.filter(({ id }) => !known.has(id))];
}

/** All that was asked of the station, kept while one goes from page to page. */
class Shelf {
  shows = $state.raw<Show[]>([]);
  phase = $state<Phase>('looking');
  /** Whole pages of episodes, by show and id. */
  pages = $state.raw<Readonly<Record<string, EpisodePage>>>({});
  /** Grows when what is shown is to be asked for again. */
  turns = $state(0);

  readonly #listings = new Map<string, Listing>();
  #lookedAt = Date.now();

  listing(slug: string): Listing {
    let found = this.#listings.get(slug);
    if (!found) this.#listings.set(slug, (found = new Listing(slug)));
    return found;
  }

  async look(): Promise<void> {
    try {
      this.shows = (await fetchJSON<{ shows: Show[] }>(base)).shows;
      this.phase = 'found';
    } catch {
      if (this.phase !== 'found') this.phase = 'failed';
    }
  }

  again(): void {
    this.phase = 'looking';
    void this.look();
  }

  page(show: string, id: string): EpisodePage | undefined {
    return this.pages[`${show}/${id}`];
  }

  /** What is known of an episode by a list that it stood in. */
  row(show: string, id: string): Episode | undefined {
    return this.#listings.get(show)?.list.find((one) => one.id === id);
  }

  /** Asks for one episode whole. Rejects as fetchJSON does. */
  async whole(show: string, id: string): Promise<EpisodePage> {
    const got = await fetchJSON<EpisodePage>(`${base}/${show}/episodes/${id}`);
    this.pages = { ...this.pages, [`${show}/${id}`]: got };
    if (sound.is(got.episode)) sound.complete(got.episode, nextOf(got));
    return got;
  }

  /** Plays an episode, and asks for what lists do not tell of it. */
  play(episode: Episode, show: Of, from?: number): void {
    const known = this.page(episode.show, episode.id);
    sound.play(known?.episode ?? episode, show, from);
    if (known) sound.complete(known.episode, nextOf(known));
    else this.whole(episode.show, episode.id).catch(() => undefined); // it is heard without its chapters
  }

  /** Follows the tab: one that comes back after long asks again. */
  follow(): () => void {
    const look = (): void => {
      if (document.visibilityState !== 'visible' || Date.now() - this.#lookedAt < staleMs) return;
      this.#lookedAt = Date.now();
      this.turns++;
    };
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }
}

/** What is heard after an episode: the next of a serial, else the one that was there before. */
export function nextOf({ show, newer, older }: EpisodePage): Episode | null {
  return (show.serial ? newer : older) ?? null;
}

export { phaseOf };
export const shelf = new Shelf();
