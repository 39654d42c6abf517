import { audienceWords } from '../i18n/audience';
import { isolate } from '../text/bidi';
import { momentOf } from '../text/measure';
import { count, type Language } from '../text/format';
import type { Problem } from '../station/control';

/** Refusals that have words of their own here, by what the station says of them; a test reads the station's source. */
export const known = {
  staffName: /reserved for the station/,
  badWord: /a word that is not allowed/,
  links: /contains a link/,
  closed: /is closed/,
  banned: /may not take part/,
  muted: /may not write/,
  empty: /must not be empty/,
  long: /at most \d+ characters|1 to \d+ visible characters/,
  crowded: /at your address have already voted/,
  pushOff: /notifications are switched off/,
} as const;

/**
 * What a refusal means and what to do about it: in the page's language where
 * it is a known one, else what its status means and the station's own words.
 */
export function explain(problem: Problem, language: Language): string {
  const words = audienceWords[language];
  const said = [problem.detail, ...problem.fields.map(({ message }) => message)].join('; ');
  const name = (Object.keys(known) as (keyof typeof known)[]).find((key) => known[key].test(said));
  if (name) return words.refusals[name] + dateIn(said, language);
  const ours = words.problem[problem.status >= 500 ? 500 : problem.status] ?? words.problem[422]!;
  const wait = problem.waitMs > 0 ? words.retryIn(seconds(problem.waitMs, language)) : '';
  const quiet = problem.status === 0 || problem.status === 429 || problem.status >= 500;
  const theirs = quiet ? '' : problem.fields.map(({ message }) => message).join('; ') || problem.detail;
  return [ours, wait, theirs && `(${isolate(theirs, language === 'ar' ? 'rtl' : 'ltr')})`].filter(Boolean).join(' ');
}

/** Until when a refusal holds, where it says so. */
function dateIn(said: string, language: Language): string {
  const until = /until (\d{4}-\d\d-\d\dT[\d:]+Z)/.exec(said)?.[1];
  return until ? ` ${audienceWords[language].until(momentOf(Date.parse(until), language))}` : '';
}

/** Whole seconds with their unit: 5 sec. */
export function seconds(ms: number, language: Language): string {
  const n = Math.max(1, Math.ceil(ms / 1000));
  if (n < 60) return `${count(n, language)} ${language === 'ar' ? 'ث' : 's'}`;
  return `${count(Math.ceil(n / 60), language)} ${language === 'ar' ? 'د' : 'min'}`;
}
