import { studioWords } from '../../i18n/studio';
import { tongue } from '../../i18n/tongue.svelte';
import { Problem } from '../../station/control';
import { plain } from '../../text/bidi';
import type { Changed, Config, Past } from '../config';
import { NoKey, type Door } from '../door.svelte';
import { sayRefused } from '../problem';
import type { Toasts } from '../toasts.svelte';
import { lostBetween } from './day';
import { builtInDayparts } from './knobs';
import { at, difference, merged, same, size, type Json } from './merge';
import { whatWords } from './past';

const draftKey = 'athir.studio-draft';
const refreshMs = 15_000;
/** How long a toast offers to undo. */
const offeredMs = 20_000;

type Patch = Record<string, Json>;

/**
 * The configuration in force, and the operator's draft over it. The draft is a
 * merge patch: it is kept on the device until it is applied or discarded, and
 * lies over whatever the station says meanwhile.
 */
export class Programme {
  phase = $state<'new' | 'loading' | 'ready' | 'locked' | 'missing' | 'failed'>('new');
  /** In force at the station. */
  config = $state.raw<Config | null>(null);
  saved = $state(true);
  /** The station saves each change as it is made. */
  keeps = $state(true);
  /** Why what is in force could not be saved; empty as a rule. */
  unsaved = $state('');
  /** The newest changes, the newest first; null where nobody may see them. */
  past = $state.raw<readonly Past[] | null>(null);
  moods = $state.raw<string[]>([]);
  /** Names of the station's playlists, which clocks may ask for; null while nobody knows them. */
  lists = $state.raw<readonly string[] | null>(null);
  busy = $state(false);
  /** Refused values by their path: CLOCKS[0].hour[1].at. */
  wrong = $state.raw<ReadonlyMap<string, string>>(new Map());
  /** The last change made here that was not undone; 0: none. */
  last = $state(0);

  #patch = $state.raw<Patch>(read());
  /** Grows with every order: a look that was begun before one shows what was. */
  #turn = 0;
  readonly #door: Door;
  readonly #toasts: Toasts;

  /** The configuration as the operator has it now. */
  readonly mine = $derived(this.config && whole(merged(this.config, this.#patch)));
  /** What the draft's dayparts take away from those in force. */
  readonly lost = $derived(this.config && this.mine ? lostBetween(this.config.DAYPARTS ?? builtInDayparts, this.mine.DAYPARTS ?? builtInDayparts) : []);
  readonly changes = $derived(this.config && this.mine ? size(difference(this.config, this.mine)) : 0);

  constructor(door: Door, toasts: Toasts) {
    this.#door = door;
    this.#toasts = toasts;
  }

  /** Loads and keeps up with the station until the returned function is called. */
  follow(): () => void {
    void this.load();
    const timer = setInterval(() => void this.#refresh(), refreshMs);
    return () => clearInterval(timer);
  }

  async load(): Promise<void> {
    if (this.phase === 'loading') return;
    if (!this.config) this.phase = 'loading';
    try {
      this.#take(await this.#door.order<Changed>('GET', '/api/station/config'));
      this.phase = 'ready';
      void this.#name();
      void this.#look();
      this.moods = (await this.#door.quietly<{ moods: string[] }>('GET', '/api/station/mood')).moods;
    } catch (failure) {
      if (this.config) return;
      const status = failure instanceof Problem ? failure.status : 0;
      this.phase = failure instanceof NoKey ? 'locked' : status === 404 ? 'missing' : 'failed';
    }
  }

  /** Changes the draft; the change is given a copy to work on. */
  edit(change: (mine: Config) => void): void {
    const { config, mine } = this;
    if (!config || !mine) return;
    const next = structuredClone(mine);
    change(next);
    this.#draft(difference(config, next) as Patch);
    const kept = [...this.wrong].filter(([path]) => same(at(mine, path), at(next, path)) && lengths(mine, path) === lengths(next, path));
    if (kept.length < this.wrong.size) this.wrong = new Map(kept);
  }

  discard(): void {
    this.#draft({});
    this.wrong = new Map();
  }

  async apply(): Promise<void> {
    const { config, mine } = this;
    if (!config || !mine) return;
    await this.#change(async () => {
      const done = await this.#door.order<Changed>('PUT', '/api/station/config', difference(config, mine));
      this.#draft({});
      return done;
    });
  }

  /** Puts a mood over the operator's own mix; an empty name takes it off. */
  async mood(name: string): Promise<void> {
    const words = studioWords[tongue.language].programme.mood;
    await this.#change(
      () => this.#door.order<Changed>('PUT', '/api/station/mood', { mood: name }),
      name ? words.on(words.names[name] ?? name) : words.off,
    );
  }

  /** Takes a change back: what was changed again since stays, and is told. */
  async undo(id: number): Promise<void> {
    let left: string[] = [];
    const order = async (): Promise<Changed> => {
      const done = await this.#door.order<Changed>('POST', '/api/station/config/undo', { id });
      left = done.left ?? [];
      return done;
    };
    const back = await this.#change(order, this.#words.undone, false);
    if (back && this.last === id) this.last = 0;
    if (left.length > 0) this.#toasts.say('note', this.#words.stays(whatWords(left, undefined, studioWords[tongue.language].programme, tongue.words.category)));
  }

  async save(): Promise<void> {
    await this.#attempt(async () => {
      this.saved = (await this.#door.order<{ saved: boolean }>('POST', '/api/station/config/save')).saved;
      if (this.saved) this.unsaved = '';
      this.#toasts.say('good', this.#words.saved);
    });
  }

  async reset(): Promise<void> {
    this.discard();
    await this.#change(() => this.#door.order<Changed>('POST', '/api/station/config/reset'), this.#words.defaultsDone);
  }

  get #words() {
    return studioWords[tongue.language].programme.change;
  }

  /** A station without playlists has none to name. */
  async #name(): Promise<void> {
    const answer = await this.#door.quietly<{ playlists: { name: string }[] }>('GET', '/api/station/playlists').catch(() => null);
    if (answer) this.lists = answer.playlists.map(({ name }) => name);
  }

  async #refresh(): Promise<void> {
    if (this.phase !== 'ready' || this.busy || document.visibilityState === 'hidden') return;
    const turn = this.#turn;
    const answer = await this.#door.quietly<Changed>('GET', '/api/station/config').catch(() => null);
    if (!answer || turn !== this.#turn) return;
    this.#take(answer);
    await this.#look();
  }

  /** Looks who changed what. */
  async #look(): Promise<void> {
    const turn = this.#turn;
    const answer = await this.#door.quietly<{ changes: Past[] }>('GET', '/api/station/config/history').catch(() => null);
    if (turn === this.#turn && (answer || !this.past)) this.past = answer?.changes ?? null;
  }

  /** Makes a change of what is in force; true when the station took it. */
  async #change(order: () => Promise<Changed>, said?: string, undoable = true): Promise<boolean> {
    return this.#attempt(async () => {
      const done = await order();
      this.wrong = new Map();
      this.#take(done);
      const id = undoable ? (done.change ?? 0) : 0;
      if (id) this.last = id;
      this.#toasts.closeOffers();
      const text = said ?? (done.rebuilt ? this.#words.appliedRebuilt : this.#words.applied);
      this.#toasts.say('good', text, id ? { action: { label: this.#words.undo, run: () => void this.undo(id) }, staysMs: offeredMs } : {});
      void this.#look();
    });
  }

  async #attempt(work: () => Promise<void>): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    this.#turn++;
    try {
      await work();
      return true;
    } catch (failure) {
      this.#refused(failure);
      return false;
    } finally {
      this.busy = false;
    }
  }

  #refused(failure: unknown): void {
    if (failure instanceof Problem && failure.status === 409) {
      this.#toasts.say('bad', this.#words.cannotUndo, { detail: plain(failure.detail) });
      void this.#look();
      return;
    }
    if (failure instanceof Problem) {
      this.wrong = new Map(failure.fields.map(({ location, message }) => [location.replace(/^body\.?/, ''), message]));
      if (failure.fields.length > 0) return; // each is said beside its field, and all of them in the bar
    }
    sayRefused(this.#toasts, failure);
  }

  #take({ config, saved, keepsEdits, unsaved }: Changed): void {
    if (!this.config || !same(this.config, config)) this.config = whole(config);
    [this.saved, this.keeps, this.unsaved] = [saved, keepsEdits ?? false, unsaved ?? ''];
  }

  #draft(patch: Patch): void {
    this.#patch = patch;
    try {
      if (size(patch) > 0) localStorage.setItem(draftKey, JSON.stringify(patch));
      else localStorage.removeItem(draftKey);
    } catch {
      // private windows may keep nothing
    }
  }
}

function read(): Patch {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(draftKey) ?? '{}');
    return typeof kept === 'object' && kept !== null && !Array.isArray(kept) ? (kept as Patch) : {};
  } catch {
    return {};
  }
}

/** Names the lists that are off: a merge patch leaves alone what it does not name. */
function whole(config: Config): Config {
  return { ...config, DAYPARTS: config.DAYPARTS ?? null, CLOCKS: config.CLOCKS ?? null };
}

/** Lengths of the lists on the way to a path: an error does not move to the entry that took its place. */
function lengths(document: unknown, path: string): string {
  const lists = [...path.matchAll(/\[/g)].map((m) => at(document, path.slice(0, m.index)));
  return lists.map((list) => (Array.isArray(list) ? list.length : -1)).join();
}
