import { libraryWords } from '../../i18n/library';
import { tongue } from '../../i18n/tongue.svelte';
import { Problem } from '../../station/control';
import { NoKey, type Door } from '../door.svelte';
import { sayRefused } from '../problem';
import type { Toasts } from '../toasts.svelte';
import type { Change, Facets, Page, Track } from './answers';
import { Pages, type Span } from './pages';
import { paramsOf, queryIn, sameQuery, tidy, type Query, type View } from './query';
import { everything, inParts, nothing, retotalled, type Selection } from './selection';

export const at = '/api/station/library';
const draftsUnder = 'athir.library-drafts';
const pageSize = 100;
const patienceMs = 30_000;
/** What flies past while somebody scrolls is not asked for. */
const settleMs = 70;
/** The most that a change of all that match may reach, as the station has it. */
export const mostAtOnce = 20_000;

export type Phase = 'loading' | 'ready' | 'locked' | 'denied' | 'failed';

export const phaseOf = (failure: unknown): Phase => {
  const status = failure instanceof Problem ? failure.status : 0;
  return failure instanceof NoKey || status === 401 ? 'locked' : status === 403 ? 'denied' : 'failed';
};

/** The tracks of the library as they are searched and sorted; rows come as they are looked at. */
export class Library {
  query = $state.raw<Query>({});
  phase = $state<Phase>('loading');
  /** An answer to the present query is under way. */
  asking = $state(false);
  /** Rows in sight could not be had. */
  holes = $state(false);
  total = $state(0);
  all = $state(0);
  durationMs = $state(0);
  facets = $state.raw<Partial<Facets>>({});
  selection = $state.raw<Selection>(nothing);
  views = $state.raw<readonly View[]>([]);
  /** What was typed into tracks and not saved, by path: it outlives the drawer, and a reload. */
  drafts = $state.raw<ReadonlyMap<string, Change>>(keptDrafts());
  /** Where the list stands, so that coming back finds it there. */
  scrollTop = 0;
  active = $state(0);
  /** Grows with each answer: rows are read again. */
  version = $state(0);

  readonly #door: Door;
  readonly #toasts: Toasts;
  readonly #pages = new Pages<Track>(pageSize);
  #span: Span = { from: 0, to: 0 };
  #turn = 0;
  #settle: ReturnType<typeof setTimeout> | undefined;
  readonly #flying = new Map<number, AbortController>();
  /** Of the range that is being selected. */
  #ranging = new AbortController();

  constructor(door: Door, toasts: Toasts) {
    this.#door = door;
    this.#toasts = toasts;
  }

  /** Begins, and looks again for what has changed, until the returned function is called. */
  follow(): () => void {
    void this.ask(this.query);
    void this.#loadViews();
    const often = setInterval(() => document.visibilityState === 'visible' && this.phase === 'ready' && void this.#look(), 20_000);
    return () => {
      clearInterval(often);
      clearTimeout(this.#settle);
      for (const controller of [...this.#flying.values(), this.#ranging]) controller.abort();
    };
  }

  /** Asks for the first time with the operator at hand: where a login is missing, it is asked for. */
  async enter(): Promise<void> {
    this.phase = 'loading';
    await this.#first(true);
    void this.#loadViews();
  }

  row(i: number): Track | undefined {
    void this.version;
    return this.#pages.row(i);
  }

  trackAt(path: string): Track | undefined {
    for (let i = this.#span.from; i < this.#span.to; i++) if (this.#pages.row(i)?.path === path) return this.#pages.row(i);
    return undefined;
  }

  async ask(query: Query): Promise<void> {
    const fresh = !sameQuery(query, this.query);
    this.query = query;
    if (fresh) {
      if (this.selection.all) this.selection = nothing; // all that matched is something else now
      [this.scrollTop, this.active] = [0, 0];
    }
    await this.#first(false);
  }

  /** Tells which rows are in sight. */
  see(span: Span): void {
    this.#span = span;
    clearTimeout(this.#settle);
    this.#settle = setTimeout(() => this.#fill(), settleMs);
  }

  /** Something was changed: what is in sight is asked for again, where it is. */
  async refresh(): Promise<void> {
    this.#pages.age();
    await this.#look();
  }

  selectAll(): void {
    this.selection = everything(this.total);
  }

  keepDraft(path: string, draft: Change | null): void {
    const drafts = new Map(this.drafts);
    if (draft) drafts.set(path, draft);
    else drafts.delete(path);
    this.drafts = drafts;
    try {
      if (drafts.size > 0) sessionStorage.setItem(draftsUnder, JSON.stringify([...drafts]));
      else sessionStorage.removeItem(draftsUnder);
    } catch {
      // private windows may keep nothing
    }
  }

  /** The paths of rows, those that were never in sight too; null where they could not be had, which is told, or where another range was asked for since. */
  async pathsBetween(a: number, b: number): Promise<string[] | null> {
    this.#ranging.abort();
    const ranging = (this.#ranging = new AbortController());
    const turn = this.#turn;
    const span = { from: Math.min(a, b), to: Math.max(a, b) + 1 };
    const out: string[] = [];
    if (this.#pages.lacks(span).length === 0) {
      for (let i = span.from; i < span.to; i++) out.push(this.#pages.row(i)?.path ?? '');
      return out.filter(Boolean);
    }
    try {
      // Apart from the pages: those are given up as others come in sight, and forgotten where they are many.
      for (let offset = span.from; offset < span.to; offset += 200) {
        const page = await this.#door.quietly<Page>('GET', `${at}?${this.#params(offset, Math.min(200, span.to - offset))}`, undefined, { timeoutMs: patienceMs, signal: ranging.signal });
        if (turn !== this.#turn) return null;
        out.push(...page.tracks.map(({ path }) => path));
      }
      return out;
    } catch (failure) {
      if (!(failure instanceof Problem)) throw failure;
      if (!ranging.signal.aborted) this.#toasts.say('bad', libraryWords[tongue.language].holes, { detail: failure.detail });
      return null;
    }
  }

  /** The selected paths, of all that match too. Rejects with a Problem. */
  async selectedPaths(told: (n: number) => void = () => undefined): Promise<string[]> {
    const { selection } = this;
    if (!selection.all) return [...selection.paths];
    const out: string[] = [];
    for (let offset = 0; offset < this.total; offset += 200) {
      const page = await this.#door.order<Page>('GET', `${at}?${this.#params(offset, 200)}`, undefined, { timeoutMs: patienceMs });
      out.push(...page.tracks.map(({ path }) => path).filter((path) => !selection.except.has(path)));
      told(out.length);
      if (page.tracks.length === 0) break;
    }
    return out;
  }

  /** What a change reaches: a query where it is all that match, else paths in parts. */
  async targets(): Promise<({ query: Query } | { paths: string[] })[]> {
    const { selection } = this;
    if (selection.all && selection.except.size === 0) return [{ query: tidy(this.query) }];
    return inParts(await this.selectedPaths()).map((paths) => ({ paths }));
  }

  /** Fetches all that match as a file. */
  async export(format: 'csv' | 'm3u' | 'jspf'): Promise<void> {
    try {
      const params = paramsOf(this.query);
      params.set('format', format);
      const file = await this.#door.order<Blob>('GET', `${at}/export?${params}`, undefined, { read: (answer) => answer.blob(), timeoutMs: 120_000, headers: { accept: '*/*' } });
      const link = document.createElement('a');
      link.href = URL.createObjectURL(file);
      link.download = `athir-library.${format}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    } catch (failure) {
      sayRefused(this.#toasts, failure);
    }
  }

  /** Keeps the saved views; false where that was refused, which is told. */
  async saveViews(views: readonly View[]): Promise<boolean> {
    try {
      const answer = await this.#door.order<{ views: View[] }>('PUT', `${at}/views`, { views });
      this.views = answer.views;
      return true;
    } catch (failure) {
      sayRefused(this.#toasts, failure);
      return false;
    }
  }

  async #loadViews(): Promise<void> {
    const answer = await this.#door.quietly<{ views: View[] }>('GET', `${at}/views`).catch(() => null);
    if (answer) this.views = answer.views.map(({ name, query }) => ({ name, query: queryIn(query) }));
  }

  /** The first answer to a query; what was known of another one is forgotten with it. */
  async #first(insist: boolean): Promise<void> {
    const turn = ++this.#turn;
    for (const controller of this.#flying.values()) controller.abort();
    this.#flying.clear();
    this.asking = true;
    try {
      const params = this.#params(0, pageSize);
      params.set('facets', 'true');
      const how = { timeoutMs: patienceMs };
      const path = `${at}?${params}`;
      const page = await (insist ? this.#door.order<Page>('GET', path, undefined, how) : this.#door.quietly<Page>('GET', path, undefined, how));
      if (turn !== this.#turn) return;
      this.#pages.forget();
      this.#take(page, 0);
      this.phase = 'ready';
      if (this.#span.to > pageSize) this.#fill();
    } catch (failure) {
      if (turn !== this.#turn) return;
      if (this.phase !== 'ready' || phaseOf(failure) !== 'failed') this.phase = phaseOf(failure);
      else this.holes = true;
    } finally {
      if (turn === this.#turn) this.asking = false;
    }
  }

  /** The counts and the rows in sight once more, with nothing moved. */
  async #look(): Promise<void> {
    const turn = this.#turn;
    const offset = Math.floor(this.#span.from / pageSize) * pageSize;
    try {
      const params = this.#params(offset, pageSize);
      params.set('facets', 'true');
      const page = await this.#door.quietly<Page>('GET', `${at}?${params}`, undefined, { timeoutMs: patienceMs });
      if (turn !== this.#turn) return;
      this.#take(page, offset);
      this.#fill();
    } catch {
      // the next look, or the row that is missing, tells
    }
  }

  #fill(): void {
    const lacks = this.#pages.lacks(this.#span);
    for (const [offset, controller] of this.#flying) if (!lacks.includes(offset)) controller.abort();
    for (const offset of lacks) {
      if (!this.#flying.has(offset)) this.#page(offset).then(() => (this.holes = false), (failure) => failure instanceof Problem && failure.status !== 0 && (this.holes = true));
    }
  }

  async #page(offset: number): Promise<void> {
    const turn = this.#turn;
    const controller = new AbortController();
    this.#flying.set(offset, controller);
    try {
      const page = await this.#door.quietly<Page>('GET', `${at}?${this.#params(offset, pageSize)}`, undefined, { timeoutMs: patienceMs, signal: controller.signal });
      if (turn === this.#turn) this.#take(page, offset);
    } catch (failure) {
      // Given up because nobody looks there any more: no fault. No answer: said, where it is in sight.
      if (turn === this.#turn && !controller.signal.aborted) this.holes = true;
      throw failure;
    } finally {
      if (this.#flying.get(offset) === controller) this.#flying.delete(offset);
    }
  }

  #take(page: Page, offset: number): void {
    const changed = this.#pages.take(offset, page.tracks, page.total, page.generation);
    [this.total, this.all, this.durationMs] = [page.total, page.all, page.durationMs];
    if (page.facets) this.facets = page.facets;
    this.selection = retotalled(this.selection, page.total);
    if (this.active >= page.total) this.active = Math.max(0, page.total - 1);
    this.version++;
    if (changed) this.#fill();
  }

  #params(offset: number, limit: number): URLSearchParams {
    const params = paramsOf(this.query);
    params.set('offset', String(offset));
    params.set('limit', String(limit));
    return params;
  }
}

function keptDrafts(): Map<string, Change> {
  try {
    return new Map(JSON.parse(sessionStorage.getItem(draftsUnder) ?? '[]') as [string, Change][]);
  } catch {
    return new Map();
  }
}

/** The words of the page's language out of what is said in both. */
export const spoken = (said: { en: string; ar: string }): string => said[tongue.language];
