import { audienceWords } from '../i18n/audience';
import { isolate } from '../text/bidi';
import { count, type Language } from '../text/format';
import type { Problem } from '../station/control';

/** What a refusal means and what to do about it: our sentence first, then the station's own words. */
export function explain(problem: Problem, language: Language): string {
  const words = audienceWords[language];
  const kind = problem.status >= 500 ? 500 : problem.status;
  const ours = words.problem[kind] ?? words.problem[422]!;
  const wait = problem.waitMs > 0 ? words.retryIn(seconds(problem.waitMs, language)) : '';
  const theirs = problem.status === 0 || problem.status === 429 || problem.status >= 500 ? '' : problem.detail;
  return [ours, wait, theirs && `(${isolate(theirs, language === 'ar' ? 'rtl' : 'ltr')})`].filter(Boolean).join(' ');
}

/** Whole seconds with their unit: 5 sec. */
export function seconds(ms: number, language: Language): string {
  const n = Math.max(1, Math.ceil(ms / 1000));
  if (n < 60) return `${count(n, language)} ${language === 'ar' ? 'ث' : 's'}`;
  return `${count(Math.ceil(n / 60), language)} ${language === 'ar' ? 'د' : 'min'}`;
}
