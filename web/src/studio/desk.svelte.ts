import { fetchJSON, type Library, type Schedule } from '../station/api';
import type { Station } from '../station/station.svelte';

const pageSize = 50;
const libraryEveryMs = 30_000;

/** What the studio asks beside the status: the rotation when it changed, and one page of the library. */
export class Desk {
  schedule = $state.raw<Schedule | null>(null);
  library = $state.raw<Library | null>(null);
  query = $state('');
  category = $state('');
  offset = $state(0);

  readonly #station: Station;
  #asked = 0;

  constructor(station: Station) {
    this.#station = station;
  }

  /** Follows the station and the operator's search; call it while a component starts. */
  follow(): void {
    const mark = $derived.by(() => {
      const status = this.#station.status;
      return status && `${status.rotation.builtAt} ${status.rotation.consumed} ${status.track?.startedAt}`;
    });
    $effect(() => {
      if (mark) void this.#askSchedule();
    });
    $effect(() => {
      const path = this.#libraryPath();
      const soon = setTimeout(() => void this.#askLibrary(path), this.library ? 200 : 0);
      const often = setInterval(() => void this.#askLibrary(path), libraryEveryMs);
      return () => {
        clearTimeout(soon);
        clearInterval(often);
      };
    });
  }

  search(query: string): void {
    this.query = query;
    this.offset = 0;
  }

  choose(category: string): void {
    this.category = category;
    this.offset = 0;
  }

  turn(pages: number): void {
    this.offset = Math.max(0, this.offset + pages * pageSize);
  }

  #libraryPath(): string {
    const query = new URLSearchParams({ offset: String(this.offset), limit: String(pageSize) });
    if (this.category) query.set('category', this.category);
    if (this.query.trim()) query.set('q', this.query.trim());
    return `/api/library?${query}`;
  }

  async #askSchedule(): Promise<void> {
    // An outage shows through the status; what is on the desk stays until an answer comes.
    this.schedule = await fetchJSON<Schedule>('/api/schedule').catch(() => this.schedule);
  }

  async #askLibrary(path: string): Promise<void> {
    const ticket = ++this.#asked;
    const library = await fetchJSON<Library>(path).catch(() => null);
    if (library && ticket === this.#asked) this.library = library; // a slow answer never replaces a later one
  }
}
