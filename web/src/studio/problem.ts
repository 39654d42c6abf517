import type { ControlWords } from '../i18n/control.en';
import type { Problem } from '../station/control';
import { plain } from '../text/bidi';
import type { Language } from '../text/format';
import { hours } from '../text/measure';

/** A refusal for a toast: what it means, and the station's own words behind it. */
export function problemWords(problem: Problem, words: ControlWords, language: Language): [string, { detail: string }] {
  const detail = plain([problem.detail, ...problem.fields.map((f) => `${f.location}: ${f.message}`)].filter(Boolean).join(' · '));
  if (problem.status === 429) return [words.tooMany(hours(problem.waitMs || 1000, language)), { detail: '' }];
  const said = words.refused[String(problem.status)] ?? (problem.status >= 500 ? words.refused['500'] : words.refused.other);
  return [said ?? '', { detail }];
}
