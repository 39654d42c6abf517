import { studioWords } from '../../i18n/studio';
import { tongue } from '../../i18n/tongue.svelte';
import { Problem } from '../../station/control';
import { NoKey, type Door } from '../door.svelte';
import { sayRefused } from '../problem';
import type { Toasts } from '../toasts.svelte';
import { edited, kinds, nothing, placeOf, rowsOf, sameAs, sizeOf, staying, type Edit, type Kind, type Lists, type Row } from './wanted';

const draftKey = 'athir.wanted-draft';

type Edits = Readonly<Record<string, Edit>>;
type Answer = { saved: boolean; keepsEdits?: boolean } & Partial<Record<Kind, Record<string, string[] | null> | null>>;

/**
 * The lists of singers and trend queries, and the operator's draft over them.
 * The draft holds what was changed, never a whole list: it is kept on the
 * device until it is applied or discarded, and laid over the lists as the
 * station has them at that moment.
 */
export class Wanted {
  phase = $state<'loading' | 'ready' | 'locked' | 'missing' | 'failed'>('loading');
  busy = $state(false);
  /** A change made here is in force, and a restart would lose it. */
  unsaved = $state(false);
  /** The station saves each change as it is made: that it is not saved is then the disk's doing. */
  keeps = $state(false);
  /** What is typed and not added yet. */
  typed = $state<Record<Kind, string>>({ singers: '', queries: '' });
  category = $state('arabic_hits');

  #lists = $state.raw<Record<Kind, Lists>>({ singers: {}, queries: {} });
  #edits = $state.raw<Readonly<Record<Kind, Edits>>>(read());
  /** What the station refused, by place(). */
  #wrong = $state.raw<ReadonlyMap<string, string>>(new Map());
  readonly #door: Door;
  readonly #toasts: Toasts;

  readonly changes = $derived.by(() => {
    const sizes = kinds.flatMap((kind) => Object.entries(this.#edits[kind]).map(([category, edit]) => sizeOf(this.#lists[kind][category] ?? [], edit)));
    return sizes.reduce((sum, n) => sum + n, 0) + kinds.filter((kind) => this.typed[kind].trim()).length;
  });

  constructor(door: Door, toasts: Toasts) {
    this.#door = door;
    this.#toasts = toasts;
  }

  /** Asks for the lists; for the key as well only where told to. */
  async load(asking = false): Promise<void> {
    if (this.phase !== 'ready') this.phase = 'loading';
    try {
      await Promise.all(kinds.map((kind) => this.#ask(kind, asking)));
      this.phase = 'ready';
    } catch (failure) {
      const status = failure instanceof Problem ? failure.status : 0;
      const locked = failure instanceof NoKey || status === 401 || status === 429;
      this.phase = locked ? 'locked' : status === 404 ? 'missing' : 'failed';
    }
  }

  /** The categories that hold anything. */
  get held(): string[] {
    return [...new Set(kinds.flatMap((kind) => Object.keys(this.#lists[kind])))];
  }

  rows(kind: Kind, category = this.category): Row[] {
    return rowsOf(this.#lists[kind][category] ?? [], this.#edits[kind][category] ?? nothing);
  }

  /** How many singers and queries a category has, as the operator has it now. */
  size(category: string): number {
    return kinds.reduce((sum, kind) => sum + staying(this.rows(kind, category)).length, 0);
  }

  touched(category: string): boolean {
    return kinds.some((kind) => sizeOf(this.#lists[kind][category] ?? [], this.#edits[kind][category] ?? nothing) > 0);
  }

  /** What the station says is wrong with a row, or with a list as a whole. */
  wrong(kind: Kind, row?: Row): string | undefined {
    return this.#wrong.get(place(kind, this.category, row?.key));
  }

  /** Whether anything of a category was refused. */
  refused(category: string): boolean {
    return [...this.#wrong.keys()].some((at) => kinds.some((kind) => at.startsWith(place(kind, category))));
  }

  /** Turns to a category; what was typed into the one before is not lost. */
  look(category: string): void {
    for (const kind of kinds) this.add(kind);
    this.category = category;
  }

  /** Adds what is typed, many lines as many; returns the row that is there already. */
  add(kind: Kind, text = this.typed[kind]): Row | undefined {
    this.typed[kind] = '';
    let there: Row | undefined;
    for (const line of text.split('\n').map((one) => one.trim()).filter(Boolean)) {
      const same = sameAs(this.rows(kind), line);
      there ??= same;
      const edit = this.#edits[kind][this.category] ?? nothing;
      if (!same) this.#draft(kind, this.category, { ...edit, added: [...edit.added, line] });
    }
    return there;
  }

  /** Changes a row; null takes it away, its own text brings it back. */
  change(kind: Kind, row: Row, text: string | null): void {
    this.#draft(kind, this.category, edited(this.#edits[kind][this.category] ?? nothing, row, text));
    const list = place(kind, this.category);
    const moves = row.was === null && text === null; // those after it: what was said of them holds no more
    this.#wrong = new Map([...this.#wrong].filter(([at]) => (moves ? !at.startsWith(list) : at !== list && at !== place(kind, this.category, row.key))));
  }

  discard(): void {
    this.#edits = { singers: {}, queries: {} };
    this.typed = { singers: '', queries: '' };
    this.#wrong = new Map();
    this.#keep();
  }

  /** Puts the draft in force: each list that is changed, as the station has it now, with the change in it. */
  async apply(): Promise<void> {
    for (const kind of kinds) this.add(kind);
    await this.#attempt(async () => {
      const wrong = new Map<string, string>();
      for (const kind of kinds) {
        if (Object.keys(this.#edits[kind]).length > 0) await this.#ask(kind, true);
        for (const category of Object.keys(this.#edits[kind])) await this.#put(kind, category, wrong);
      }
      this.#wrong = wrong;
      if (wrong.size === 0) this.#toasts.say('good', this.#words.applied);
    });
  }

  /** Keeps what is in force over a restart. */
  async save(): Promise<void> {
    await this.#attempt(async () => {
      this.unsaved = !(await this.#door.order<{ saved: boolean }>('POST', '/api/station/config/save')).saved;
      this.#toasts.say('good', this.#words.saved);
    });
  }

  get #words() {
    return studioWords[tongue.language].programme.change;
  }

  async #put(kind: Kind, category: string, wrong: Map<string, string>): Promise<void> {
    const sent = staying(this.rows(kind, category));
    const texts = sent.map(({ text }) => text);
    try {
      const answer =
        kind === 'singers'
          ? await this.#door.order<Answer>('POST', '/api/station/singers', { category, replace: texts })
          : await this.#door.order<Answer>('PUT', '/api/station/queries', { category, queries: texts });
      this.#take(kind, answer);
      [this.unsaved, this.keeps] = [!answer.saved, answer.keepsEdits ?? false];
      this.#draft(kind, category, nothing);
    } catch (failure) {
      const faults = failure instanceof Problem ? failure.fields.flatMap(({ location, message }) => [[placeOf(location), message] as const]) : [];
      if (faults.length === 0 || faults.some(([at]) => at === undefined)) throw failure;
      for (const [at, message] of faults) wrong.set(place(kind, category, sent[at ?? -1]?.key), message);
    }
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    try {
      await work();
    } catch (failure) {
      sayRefused(this.#toasts, failure);
    } finally {
      this.busy = false;
    }
  }

  async #ask(kind: Kind, asking: boolean): Promise<void> {
    const path = `/api/station/${kind}`;
    this.#take(kind, await (asking ? this.#door.order<Answer>('GET', path) : this.#door.quietly<Answer>('GET', path)));
  }

  #take(kind: Kind, answer: Answer): void {
    const lists = Object.entries(answer[kind] ?? {}).map(([category, list]) => [category, list ?? []] as const);
    this.#lists = { ...this.#lists, [kind]: Object.fromEntries(lists) };
  }

  #draft(kind: Kind, category: string, edit: Edit): void {
    const { [category]: _, ...others } = this.#edits[kind];
    const empty = edit.added.length === 0 && Object.keys(edit.changed).length === 0;
    this.#edits = { ...this.#edits, [kind]: empty ? others : { ...others, [category]: edit } };
    this.#keep();
  }

  #keep(): void {
    try {
      if (kinds.some((kind) => Object.keys(this.#edits[kind]).length > 0)) localStorage.setItem(draftKey, JSON.stringify(this.#edits));
      else localStorage.removeItem(draftKey);
    } catch {
      // private windows may keep nothing
    }
  }
}

/** Where something is wrong: in a list of a category, or in one row of it. */
const place = (kind: Kind, category: string, key = '') => `${kind} ${category} ${key}`;

function read(): Record<Kind, Edits> {
  try {
    const kept = JSON.parse(localStorage.getItem(draftKey) ?? '{}') as Partial<Record<Kind, Edits>>;
    return { singers: sound(kept.singers), queries: sound(kept.queries) };
  } catch {
    return { singers: {}, queries: {} };
  }
}

/** A draft of an older page may be of another shape. */
function sound(edits: unknown): Edits {
  const isEdit = (edit: Partial<Edit> | null) => typeof edit?.changed === 'object' && edit.changed !== null && Array.isArray(edit.added);
  return Object.fromEntries(Object.entries((edits ?? {}) as Edits).filter(([, edit]) => isEdit(edit)));
}
