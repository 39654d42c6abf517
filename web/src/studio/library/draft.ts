import type { Change, Detail, Field, Limits, Note } from './answers';

/** Fields that a file, or its folder, says too. */
export const ofFile = ['title', 'artist', 'album', 'genre', 'isrc', 'label', 'composer', 'category'] as const;

/** What stands behind a note's field where the operator says nothing. */
export function ownOf(detail: Detail, field: Field): Note[Field] {
  return (ofFile as readonly Field[]).includes(field) ? detail.file[field as (typeof ofFile)[number]] : undefined;
}

/** What a field says with the draft over the note over the file. */
export function saidOf<F extends Field>(detail: Detail, draft: Change, field: F): Note[F] {
  const drafted = draft[field];
  if (drafted !== undefined && drafted !== null) return drafted as Note[F];
  const noted = detail.note?.[field];
  return (drafted === undefined && noted !== undefined ? noted : ownOf(detail, field)) as Note[F];
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
const isEmpty = (value: unknown): boolean => value === '' || value === undefined || value === null || (Array.isArray(value) && value.length === 0) || (typeof value === 'object' && Object.keys(value as object).length === 0);

/**
 * Puts a value into the draft, which holds only what saving would change: a
 * value that is the note's already is none, and one that is the file's takes
 * the note's away.
 */
export function drafted<F extends Field>(detail: Detail, draft: Change, field: F, value: Note[F] | null): Change {
  const { [field]: _, ...rest } = draft as Record<string, unknown>;
  const noted = detail.note?.[field];
  const back = value === null || same(value, ownOf(detail, field)) || (isEmpty(value) && isEmpty(ownOf(detail, field)));
  if (back) return (noted === undefined ? rest : { ...rest, [field]: null }) as Change;
  return (same(value, noted) ? rest : { ...rest, [field]: value }) as Change;
}

export const isTouched = (draft: Change): boolean => Object.keys(draft).length > 0;

/** Whether the operator says something else than the file does. */
export function differs(detail: Detail, draft: Change, field: Field): boolean {
  return !same(saidOf(detail, draft, field), ownOf(detail, field));
}

/** Limits without what says nothing; null where nothing is limited. */
export function limitsOf(limits: Limits): Limits | null {
  const out = Object.fromEntries(Object.entries(limits).filter(([, value]) => !isEmpty(value))) as Limits;
  return isEmpty(out) ? null : out;
}
