import { ar } from '../../i18n/ar';
import { en } from '../../i18n/en';
import { plain } from '../../text/bidi';
import { clock, count, inDigits, type Language } from '../../text/format';
import type { Deed, Field, Limits, Note } from './answers';
import { tenths } from './say';

export interface FieldChange {
  field: Field;
  before: string;
  after: string;
}

/** What a deed on one track changed, field by field, in words; none where the station does not say it. */
export function changesOf(deed: Deed, language: Language): FieldChange[] {
  if (deed.tracks !== 1 || (!deed.before && !deed.after)) return [];
  return (deed.fields as Field[]).map((field) => ({ field, before: wordsOf(field, deed.before, language), after: wordsOf(field, deed.after, language) }));
}

function wordsOf(field: Field, note: Note | undefined, language: Language): string {
  const value = note?.[field];
  if (value === undefined || value === '') return '';
  if (field === 'category') return (language === 'ar' ? ar : en).category[String(value)] ?? String(value);
  if (field === 'limits') return limitWords(value as Limits, language);
  if (Array.isArray(value)) return plain(value.join(language === 'ar' ? '، ' : ', '));
  if (typeof value === 'number') return field === 'crossMs' ? count(value / 1000, language) : tenths(value, language);
  return field === 'cover' ? '✓' : plain(String(value));
}

/** Limits as figures that read the same in both languages. */
function limitWords(limits: Limits, language: Language): string {
  const days = limits.from || limits.until ? [`${limits.from ?? '…'} – ${limits.until ?? '…'}`] : [];
  const hours = (limits.hours ?? []).map(([from, to]) => `${from}:00–${to}:00`);
  const often = limits.perDay ? [`${count(limits.perDay, language)}×`] : [];
  const rest = limits.restMinutes ? [clock(limits.restMinutes * 60_000, language)] : [];
  return [...days, ...hours, ...often, ...rest].map((part) => `\u2066${inDigits(part, language)}\u2069`).join(' · ');
}
