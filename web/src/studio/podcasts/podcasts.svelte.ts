import { podcastingWords } from '../../i18n/podcasting';
import { tongue } from '../../i18n/tongue.svelte';
import { Problem } from '../../station/control';
import { isolate } from '../../text/bidi';
import { NoKey, type Door } from '../door.svelte';
import { sayRefused } from '../problem';
import type { Toasts } from '../toasts.svelte';
import type { Own, OwnShow, ShowsAnswer } from './answers';
import { Episodes } from './episodes.svelte';
import { ShowDesk } from './show.svelte';

export const at = '/api/station/podcasts';
export const addressOf = (slug: string): string => `${at}/${encodeURIComponent(slug)}`;
export const everyMs = 3000;

export type Phase = 'loading' | 'ready' | 'locked' | 'absent' | 'failed';

/** What a look that failed leaves to be shown; what stands there already stays. */
export function phaseOf(failure: unknown, was: Phase): Phase {
  if (failure instanceof NoKey) return was;
  if (!(failure instanceof Problem)) throw failure;
  if (failure.status === 401) return 'locked';
  if (was === 'ready') return 'ready';
  return failure.status === 404 || failure.status === 501 ? 'absent' : 'failed';
}

export const named = (title: string): string => isolate(title, tongue.direction);

/**
 * The station's shows. Whatever is typed into one is kept while another
 * section of the studio is looked at.
 */
export class Podcasts {
  phase = $state<Phase>('loading');
  list = $state.raw<readonly OwnShow[]>([]);
  categories = $state.raw<readonly string[]>([]);
  /** Of all episodes, and the most that they may take. */
  bytes = $state(0);
  mostBytes = $state(0);
  busy = $state.raw<ReadonlySet<string>>(new Set());

  readonly door: Door;
  readonly toasts: Toasts;
  readonly #desks = new Map<string, ShowDesk>();
  readonly #episodes = new Map<string, Episodes>();
  #turn = 0;

  constructor(door: Door, toasts: Toasts) {
    this.door = door;
    this.toasts = toasts;
  }

  get mayChange(): boolean {
    return this.door.may('programme');
  }

  get shown(): OwnShow[] {
    return this.list.filter(({ removedAt }) => removedAt === 0);
  }

  get removed(): OwnShow[] {
    return this.list.filter(({ removedAt }) => removedAt > 0);
  }

  /** Something was typed and not saved. */
  get changed(): boolean {
    return this.list.some(({ own }) => this.#desks.get(own.slug)?.changed || this.#episodes.get(own.slug)?.drafted);
  }

  of(slug: string): OwnShow | undefined {
    return this.list.find(({ own }) => own.slug === slug);
  }

  /** The desk of a show, with its draft. */
  deskOf(show: OwnShow): ShowDesk {
    const kept = this.#desks.get(show.own.slug);
    if (kept) return kept;
    const desk = new ShowDesk(this, show);
    this.#desks.set(show.own.slug, desk);
    return desk;
  }

  episodesOf(slug: string): Episodes {
    const kept = this.#episodes.get(slug);
    if (kept) return kept;
    const episodes = new Episodes(this, slug);
    this.#episodes.set(slug, episodes);
    return episodes;
  }

  /** Looks now, and again while episodes are being made and the page is seen, until the returned function is called. */
  follow(): () => void {
    return following(() => this.load(), () => this.list.some(({ states }) => (states.making ?? 0) > 0));
  }

  /** insist: asks for the login that it takes. */
  async load(insist = false): Promise<void> {
    const turn = ++this.#turn;
    try {
      const answer = await (insist ? this.door.order<ShowsAnswer>('GET', at) : this.door.quietly<ShowsAnswer>('GET', at, undefined, { timeoutMs: 8000 }));
      if (turn !== this.#turn) return;
      [this.list, this.categories, this.bytes, this.mostBytes, this.phase] = [answer.shows, answer.categories, answer.bytes, answer.mostBytes, 'ready'];
      for (const show of answer.shows) this.#desks.get(show.own.slug)?.hear(show);
    } catch (failure) {
      if (turn === this.#turn) this.phase = phaseOf(failure, this.phase);
    }
  }

  /** Takes what the station says of one show. */
  take(show: OwnShow): void {
    this.#turn++; // a look that is under way shows what was
    this.list = [...this.list.filter(({ own }) => own.slug !== show.own.slug), show].sort((a, b) => a.own.title.localeCompare(b.own.title));
  }

  /** Makes a show. Rejects with a Problem where values are refused (422) or the address is taken (409). */
  async create(own: Own): Promise<OwnShow> {
    const show = await this.door.order<OwnShow>('POST', at, { own });
    this.take(show);
    this.toasts.say('good', this.#words.done.made(named(own.title)));
    return show;
  }

  async remove(show: OwnShow): Promise<boolean> {
    const { slug, title } = show.own;
    const done = await this.run(slug, async () => {
      await this.door.order('DELETE', addressOf(slug));
      this.#desks.get(slug)?.discard();
      this.#episodes.get(slug)?.forget();
      await this.load();
      this.toasts.closeOffers();
      this.toasts.say('good', this.#words.done.removed(named(title)), { action: { label: this.#words.undo, run: () => void this.restore(show) }, staysMs: 20_000 });
    });
    return done !== null;
  }

  async restore(show: OwnShow): Promise<void> {
    const { slug, title } = show.own;
    await this.run(slug, async () => {
      await this.door.order('POST', `${addressOf(slug)}/restore`);
      await Promise.all([this.load(), this.episodesOf(slug).load()]);
      this.toasts.closeOffers();
      this.toasts.say('good', this.#words.done.restored(named(title)));
    });
  }

  /** One order at a time about one thing; null where it was refused, which is told. */
  async run<T>(about: string, work: () => Promise<T>): Promise<T | null> {
    if (this.busy.has(about)) return null;
    this.busy = new Set([...this.busy, about]);
    try {
      return await work();
    } catch (failure) {
      sayRefused(this.toasts, failure);
      return null;
    } finally {
      this.busy = new Set([...this.busy].filter((other) => other !== about));
    }
  }

  get #words() {
    return podcastingWords[tongue.language];
  }
}

/** Looks once, and again each few seconds while it is wanted and the page is seen. */
export function following(load: () => Promise<void>, wanted: () => boolean): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let over = false;
  const seen = (): boolean => document.visibilityState === 'visible';
  const look = async (): Promise<void> => {
    if (seen() && wanted()) await load();
    if (!over) timer = setTimeout(() => void look(), everyMs);
  };
  const back = (): void => void (seen() && load());
  document.addEventListener('visibilitychange', back);
  void load();
  timer = setTimeout(() => void look(), everyMs);
  return () => {
    over = true;
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', back);
  };
}
