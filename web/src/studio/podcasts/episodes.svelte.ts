import { podcastingWords } from '../../i18n/podcasting';
import { tongue } from '../../i18n/tongue.svelte';
import { Problem } from '../../station/control';
import type { Chapter, Edit, Offer, OwnEpisode } from './answers';
import type { Row } from './chapters';
import { addressOf, following, named, phaseOf, type Phase, type Podcasts } from './podcasts.svelte';

const longMs = 60_000;

/** What was typed into an episode and not saved; what is absent is as the station has it. */
export interface EpisodeDraft extends Omit<Edit, 'chapters'> {
  rows?: readonly Row[];
}

/** The episodes of one show. */
export class Episodes {
  phase = $state<Phase>('loading');
  list = $state.raw<readonly OwnEpisode[]>([]);
  drafts = $state.raw<ReadonlyMap<string, EpisodeDraft>>(new Map());
  /** Whole ones, with their chapters and texts, as they were last looked at. */
  #whole = $state.raw<ReadonlyMap<string, OwnEpisode>>(new Map());
  #turn = 0;

  readonly #podcasts: Podcasts;
  readonly #slug: string;

  constructor(podcasts: Podcasts, slug: string) {
    this.#podcasts = podcasts;
    this.#slug = slug;
  }

  get shown(): OwnEpisode[] {
    return this.list.filter(({ state }) => state !== 'removed');
  }

  get removed(): OwnEpisode[] {
    return this.list.filter(({ state }) => state === 'removed');
  }

  get drafted(): boolean {
    return this.drafts.size > 0;
  }

  of(id: string): OwnEpisode | undefined {
    return this.list.find((one) => one.id === id);
  }

  wholeOf(id: string): OwnEpisode | undefined {
    const [now, whole] = [this.of(id), this.#whole.get(id)];
    return now && whole && { ...now, chapters: whole.chapters, text: whole.text, summary: whole.summary };
  }

  keepDraft(id: string, draft: EpisodeDraft | null): void {
    const drafts = new Map(this.drafts);
    if (draft && Object.keys(draft).length > 0) drafts.set(id, draft);
    else drafts.delete(id);
    this.drafts = drafts;
  }

  forget(): void {
    this.drafts = new Map();
  }

  follow(): () => void {
    return following(() => this.load(), () => this.list.some(({ state }) => state === 'making'));
  }

  async load(insist = false): Promise<void> {
    const turn = ++this.#turn;
    const { door } = this.#podcasts;
    const making = this.list.filter(({ state }) => state === 'making').length;
    try {
      const path = `${addressOf(this.#slug)}/episodes`;
      const { episodes } = await (insist ? door.order<{ episodes: OwnEpisode[] }>('GET', path) : door.quietly<{ episodes: OwnEpisode[] }>('GET', path, undefined, { timeoutMs: 15_000 }));
      if (turn !== this.#turn) return;
      [this.list, this.phase] = [episodes, 'ready'];
      if (making !== episodes.filter(({ state }) => state === 'making').length) void this.#podcasts.load(); // its counts and sizes
    } catch (failure) {
      if (turn === this.#turn) this.phase = phaseOf(failure, this.phase);
    }
  }

  /** Asks for all of one. Rejects with a Problem. */
  async look(id: string): Promise<void> {
    const whole = await this.#podcasts.door.quietly<OwnEpisode>('GET', this.#at(id));
    this.#take(whole);
  }

  /** Rejects with a Problem where a value is refused (422). */
  async save(episode: OwnEpisode, edit: Edit, said: string): Promise<boolean> {
    const before = backOf(this.wholeOf(episode.id) ?? episode, edit);
    let refused: Problem | null = null;
    const done = await this.#podcasts.run(episode.id, async () => {
      try {
        this.#take(await this.#edit(episode.id, edit));
      } catch (failure) {
        if (!(failure instanceof Problem && failure.status === 422)) throw failure;
        refused = failure;
        return false;
      }
      this.#tell(said, async () => this.#take(await this.#edit(episode.id, before)));
      return true;
    });
    if (refused) throw refused as Problem;
    void this.#podcasts.load();
    return done ?? false;
  }

  async turn(episode: OwnEpisode, state: 'published' | 'hidden'): Promise<void> {
    const { done } = this.#words;
    await this.save(episode, { state }, done[state](named(episode.title))).catch((failure: unknown) => this.#podcasts.run(`${episode.id} said`, () => Promise.reject(failure as Error)));
  }

  async retry(episode: OwnEpisode): Promise<void> {
    await this.#order(episode, 'POST', `${this.#at(episode.id)}/retry`, () => this.#podcasts.toasts.say('good', this.#words.done.retried(named(episode.title))));
  }

  async remove(episode: OwnEpisode): Promise<boolean> {
    return this.#order(episode, 'DELETE', this.#at(episode.id), () => {
      this.keepDraft(episode.id, null);
      this.#tell(this.#words.done.removed(named(episode.title)), () => this.#podcasts.door.order('POST', `${this.#at(episode.id)}/restore`));
    });
  }

  async restore(episode: OwnEpisode): Promise<void> {
    await this.#order(episode, 'POST', `${this.#at(episode.id)}/restore`, () => this.#podcasts.toasts.say('good', this.#words.done.restored(named(episode.title))));
  }

  /** What could become an episode. Rejects with a Problem. */
  async offers(): Promise<readonly Offer[]> {
    return (await this.#podcasts.door.order<{ offers: Offer[] }>('GET', `${addressOf(this.#slug)}/offers`, undefined, { timeoutMs: longMs })).offers;
  }

  /** Makes an episode; a file of the library may be added to a show of any kind. */
  async add(key: string, title: string, library: boolean): Promise<boolean> {
    const show = this.#podcasts.of(this.#slug);
    const kind = library && show?.own.from.kind !== 'library' ? { kind: 'library' } : {};
    const made = await this.#podcasts.run(`add ${key}`, async () => {
      const episode = await this.#podcasts.door.order<OwnEpisode>('POST', `${addressOf(this.#slug)}/episodes`, { key, ...kind }, { timeoutMs: longMs });
      this.#turn++;
      this.list = [episode, ...this.list.filter(({ id }) => id !== episode.id)];
      this.#tell(this.#words.done.added(named(episode.title || title)), () => this.#podcasts.door.order('DELETE', this.#at(episode.id)));
      return true;
    });
    await Promise.all([this.load(), this.#podcasts.load()]);
    return made ?? false;
  }

  async #order(episode: OwnEpisode, method: 'POST' | 'DELETE', path: string, done: () => void): Promise<boolean> {
    const made = await this.#podcasts.run(episode.id, async () => {
      await this.#podcasts.door.order(method, path);
      done();
      return true;
    });
    await Promise.all([this.load(), this.#podcasts.load()]);
    return made ?? false;
  }

  #edit(id: string, edit: Edit): Promise<OwnEpisode> {
    return this.#podcasts.door.order<OwnEpisode>('PUT', this.#at(id), edit);
  }

  /** Says what was done, with the way back. */
  #tell(text: string, undo: () => Promise<unknown>): void {
    const { toasts } = this.#podcasts;
    const run = async (): Promise<void> => {
      const done = await this.#podcasts.run('undo', async () => (await undo(), true));
      if (done) toasts.say('good', this.#words.done.undone);
      await Promise.all([this.load(), this.#podcasts.load()]);
    };
    toasts.closeOffers();
    toasts.say('good', text, { action: { label: this.#words.undo, run: () => void run() }, staysMs: 20_000 });
  }

  #take(episode: OwnEpisode): void {
    this.#turn++; // a look that is under way shows what was
    this.#whole = new Map(this.#whole).set(episode.id, episode);
    this.list = this.list.map((other) => (other.id === episode.id ? episode : other));
  }

  #at(id: string): string {
    return `${addressOf(this.#slug)}/episodes/${id}`;
  }

  get #words() {
    return podcastingWords[tongue.language];
  }
}

/** What takes an edit back; what waited and was published is hidden then, as nothing waits twice. */
function backOf(was: OwnEpisode, edit: Edit): Edit {
  const before = { ...was, state: was.state === 'held' ? 'hidden' : was.state };
  return Object.fromEntries((Object.keys(edit) as (keyof Edit)[]).map((field) => [field, before[field]])) as Edit;
}

export const sameChapters = (a: readonly Chapter[], b: readonly Chapter[]): boolean => JSON.stringify(a.map(({ startMs, title, artist }) => [startMs, title, artist])) === JSON.stringify(b.map(({ startMs, title, artist }) => [startMs, title, artist]));
