import { libraryWords } from '../../i18n/library';
import { tongue } from '../../i18n/tongue.svelte';
import { Problem } from '../../station/control';
import { plain } from '../../text/bidi';
import type { Door } from '../door.svelte';
import { sayRefused } from '../problem';
import type { Toasts } from '../toasts.svelte';
import type { Archived, Change, Changed, Deed, Restored, Undone } from './answers';
import { patchOf } from './faults';
import { at, spoken, type Library } from './library.svelte';
import type { Query } from './query';
import { inParts, nothing } from './selection';

type Target = { query: Query } | { paths: string[] };

/** Changes of the library: each says what came of it and offers to take it back. */
export class Deeds {
  busy = $state(false);
  /** How far a change of many has come; empty where none is under way. */
  progress = $state.raw<{ done: number; of: number } | null>(null);
  /** Grows with each change that was made here: lists of deeds look again. */
  made = $state(0);

  readonly #door: Door;
  readonly #toasts: Toasts;
  readonly #library: Library;

  constructor(door: Door, toasts: Toasts, library: Library) {
    this.#door = door;
    this.#toasts = toasts;
    this.#library = library;
  }

  get #words() {
    return libraryWords[tongue.language].done;
  }

  /**
   * Changes fields of tracks, and answers with the ids of the deeds; null where it was refused.
   * Rejects with a Problem where values are refused (422), so that a form can name them; tells the rest.
   */
  async change(targets: readonly Target[], set: Change): Promise<readonly number[] | null> {
    let changed = 0;
    const refused: NonNullable<Changed['refused']> = [];
    const made: number[] = [];
    const done = await this.#run(async (back) => {
      back.deeds = made;
      for (const target of targets) {
        const answer = await this.#door.order<Changed>('PATCH', at, { ...target, set: patchOf(set) }, { timeoutMs: 120_000 });
        takenBack(back, answer.deed);
        changed += answer.changed;
        refused.push(...answer.refused);
      }
      return () => {
        const first = refused[0];
        if (first) this.#toasts.say('bad', tongue.counted(refused.length, this.#words.refused), { detail: `${plain(first.path)}: ${spoken(first)}` });
        return changed > 0 || !first ? tongue.counted(changed, this.#words.changed) : '';
      };
    }, true);
    return done ? made : null;
  }

  /** Gives tracks a picture: it is sent once, and the others are told its name. */
  async cover(paths: readonly string[], picture: Blob): Promise<boolean> {
    const [first, ...others] = paths;
    if (first === undefined) return false;
    return this.#run(async (back) => {
      const answer = await this.#door.order<{ deed?: Deed; cover: string }>('PUT', `${at}/cover?${new URLSearchParams({ path: first })}`, picture, { timeoutMs: 120_000 });
      takenBack(back, answer.deed);
      for (const part of inParts(others)) {
        takenBack(back, (await this.#door.order<Changed>('PATCH', at, { paths: part, set: { cover: answer.cover } }, { timeoutMs: 120_000 })).deed);
      }
      return () => tongue.counted(paths.length, this.#words.covered);
    }, true);
  }

  async removeCover(path: string): Promise<boolean> {
    return this.#run(async (back) => {
      takenBack(back, (await this.#door.order<Changed>('DELETE', `${at}/cover?${new URLSearchParams({ path })}`)).deed);
      return () => this.#words.coverRemoved;
    });
  }

  async archive(paths: readonly string[]): Promise<boolean> {
    const gone: string[] = [];
    let kept = 0;
    const left: NonNullable<Archived['left']> = [];
    return this.#run(async (back) => {
      back.paths = gone;
      back.way = 'restore';
      for (const part of inParts(paths)) {
        const answer = await this.#door.order<Archived>('POST', `${at}/archive`, { paths: part }, { timeoutMs: 120_000 });
        gone.push(...answer.archived);
        kept += answer.kept?.length ?? 0;
        left.push(...answer.left);
        this.progress = { done: gone.length + kept + left.length, of: paths.length };
      }
      this.#library.selection = nothing;
      return () => {
        const [first] = left;
        if (first) this.#toasts.say('bad', tongue.counted(left.length, this.#words.left), { detail: `${plain(first.path)}: ${plain(first.reason)}` });
        const said = gone.length > 0 || (kept === 0 && !first) ? [tongue.counted(gone.length, this.#words.archived)] : [];
        if (kept > 0) said.push(tongue.counted(kept, this.#words.kept));
        return said.join(' ');
      };
    });
  }

  async restore(paths: readonly string[]): Promise<boolean> {
    let restored = 0;
    const [missing, inTheWay]: [string[], string[]] = [[], []];
    return this.#run(async (back) => {
      back.way = 'archive';
      for (const part of inParts(paths)) {
        const answer = await this.#door.order<Restored>('POST', `${at}/restore`, { paths: part }, { timeoutMs: 120_000 });
        restored += answer.restored;
        missing.push(...answer.missing);
        inTheWay.push(...answer.inTheWay);
        const stayed = new Set([...missing, ...inTheWay]);
        back.paths = [...back.paths, ...part.filter((path) => !stayed.has(path))];
      }
      return () => {
        if (missing.length > 0) this.#toasts.say('bad', tongue.counted(missing.length, this.#words.missing), { detail: plain(missing[0] ?? '') });
        if (inTheWay.length > 0) this.#toasts.say('bad', tongue.counted(inTheWay.length, this.#words.inTheWay), { detail: plain(inTheWay[0] ?? '') });
        return restored > 0 || missing.length + inTheWay.length === 0 ? tongue.counted(restored, this.#words.restored) : '';
      };
    });
  }

  /** Takes deeds back, the newest first. */
  async undo(ids: readonly number[]): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    let changed = 0;
    const kept: string[] = [];
    try {
      for (const id of [...ids].reverse()) {
        const answer = await this.#door.order<Undone>('POST', `${at}/deeds/${id}/undo`, {}, { timeoutMs: 120_000 });
        changed += answer.changed;
        kept.push(...(answer.kept ?? []));
      }
      this.#toasts.say('good', tongue.counted(changed, this.#words.undone));
      if (kept.length > 0) this.#toasts.say('note', tongue.counted(kept.length, this.#words.undoKept), { detail: plain(kept[0] ?? '') });
      return true;
    } catch (failure) {
      sayRefused(this.#toasts, failure);
      return false;
    } finally {
      this.busy = false;
      this.made++;
      void this.#library.refresh();
    }
  }

  /** What came of it is told with the way back, and where it broke off too: what was done until then can be taken back. */
  async #run(work: (back: Back) => Promise<() => string>, named = false): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    const back: Back = { deeds: [], paths: [], way: 'archive' };
    try {
      const said = (await work(back))();
      if (said) this.#tell(said, back);
      return true;
    } catch (failure) {
      if (isAny(back)) this.#tell(this.#words.partly, back);
      if (named && failure instanceof Problem && failure.status === 422) throw failure; // a form shows it at its field
      sayRefused(this.#toasts, failure);
      return false;
    } finally {
      [this.busy, this.progress] = [false, null];
      if (isAny(back)) {
        this.made++;
        void this.#library.refresh();
      }
    }
  }

  #tell(text: string, back: Back): void {
    const run = (): void => void (back.deeds.length > 0 ? this.undo(back.deeds) : this[back.way](back.paths));
    this.#toasts.say('good', text, isAny(back) ? { action: { label: libraryWords[tongue.language].undo, run }, staysMs: 20_000 } : {});
  }
}

/** How what was done is taken back: deeds by their ids; what was archived is restored, and the other way round. */
interface Back {
  deeds: number[];
  paths: string[];
  way: 'archive' | 'restore';
}

const isAny = (back: Back): boolean => back.deeds.length + back.paths.length > 0;

function takenBack(back: Back, deed: Deed | undefined): void {
  if (deed && deed.tracks > 0) back.deeds.push(deed.id);
}
