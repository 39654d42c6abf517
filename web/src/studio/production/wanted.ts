/** What the station's sources are asked for: by category the singers, and the trend queries. */

import type { ProductionWords } from '../../i18n/production.en';
import { plain } from '../../text/bidi';
import { folded } from '../audience/words';

export const kinds = ['singers', 'queries'] as const;
export type Kind = (typeof kinds)[number];
export type Lists = Readonly<Record<string, readonly string[]>>;

/** Categories that sources fill. */
export const sought = ['arabic_hits', 'english', 'mashups', 'shorts', 'ads', 'jingles', 'sfx'] as const;

/** What the operator changed of one list; it lies over whatever the station says meanwhile. */
export interface Edit {
  /** By the text that the station has: the text in its place, or null where it is taken away. */
  readonly changed: Readonly<Record<string, string | null>>;
  readonly added: readonly string[];
}

export const nothing: Edit = { changed: {}, added: [] };

export interface Row {
  readonly key: string;
  readonly text: string;
  /** As the station has it; null for what is added. */
  readonly was: string | null;
  /** Taken away, until that is applied or undone. */
  readonly gone: boolean;
}

/** The list as the operator has it now, what is taken away still in its place. */
export function rowsOf(list: readonly string[], { changed, added }: Edit): Row[] {
  const known = list.map((was): Row => {
    const to = Object.hasOwn(changed, was) ? changed[was] : was;
    return { key: `=${was}`, text: to ?? was, was, gone: to === null };
  });
  return [...known, ...added.map((text, i): Row => ({ key: `+${i}`, text, was: null, gone: false }))];
}

/** The rows that are sent, in the order of the entries that they become. */
export const staying = (rows: readonly Row[]): Row[] => rows.filter(({ gone }) => !gone);

/** How many entries an edit changes; of what the station no longer has, none. */
export function sizeOf(list: readonly string[], edit: Edit): number {
  return rowsOf(list, edit).filter(({ text, was, gone }) => gone || text !== was).length;
}

/** The edit with a row's text changed, or the row taken away (null). */
export function edited(edit: Edit, row: Row, text: string | null): Edit {
  if (row.was === null) {
    const at = Number(row.key.slice(1));
    return { ...edit, added: text === null ? edit.added.toSpliced(at, 1) : edit.added.with(at, text) };
  }
  const { [row.was]: _, ...others } = edit.changed;
  return { ...edit, changed: text === row.was ? others : { ...others, [row.was]: text } };
}

/** The row that says the same but for case, marks and spaces. */
export function sameAs(rows: readonly Row[], text: string): Row | undefined {
  const mine = folded(text.trim());
  return staying(rows).find((row) => folded(row.text.trim()) === mine);
}

/** Which entry of what was sent is refused; -1 is the list as a whole, undefined is something else. */
export function placeOf(location: string): number | undefined {
  const [found, index] = /^body\.(?:replace|queries)(?:\[(\d+)\])?$/.exec(location) ?? [];
  return found === undefined ? undefined : Number(index ?? -1);
}

/** What is wrong with an entry in the page's language; what it does not know in the station's own words. */
export function faultOf(message: string, faults: ProductionWords['wanted']['faults'], digits: (text: string) => string): string {
  const most = digits(/\d+/.exec(message)?.[0] ?? '');
  if (/must not be empty/.test(message)) return faults.empty;
  if (/at most \d+ characters/.test(message)) return faults.long(most);
  if (/control characters/.test(message)) return faults.hidden;
  return /at most \d+ entries/.test(message) ? faults.many(most) : plain(message);
}
