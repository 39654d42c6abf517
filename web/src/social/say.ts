import { explain } from '../live/explain';
import type { Problem } from '../station/control';
import { locale, type Language } from '../text/format';
import type { Reason } from './post';

/** A length in words: 45 seconds, 10 minutes, 0.2 seconds. */
export function lengthOf(seconds: number, language: Language): string {
  const minutes = seconds >= 60 && seconds % 60 === 0;
  const unit = minutes ? 'minute' : 'second';
  return new Intl.NumberFormat(locale[language], { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 1 }).format(minutes ? seconds / 60 : seconds).replace(/ثوان$/, 'ثوانٍ'); // CLDR leaves the tanwin out
}

/** A figure to two places. */
export function figure(n: number, language: Language): string {
  return new Intl.NumberFormat(locale[language], { maximumFractionDigits: 2 }).format(n);
}

/** Why something was refused: the station's words of the page's language where it has them. */
export function refusalOf(problem: Problem, language: Language): string {
  return digits(problem.reason?.[language] ?? '', language) || explain(problem, language);
}

/** A post's reason in the page's language. */
export function reasonOf(reason: Reason, language: Language): string {
  return digits(reason[language], language) || reason.en || reason.code;
}

/** The station's words with the digits of the page; titles in quotes and Latin words keep their own. */
function digits(text: string, language: Language): string {
  if (language !== 'ar') return text;
  return text.replace(/«[^»]*»|[a-z][a-z0-9.]*|[0-9]/gi, (part) => (/^[0-9]$/.test(part) ? '٠١٢٣٤٥٦٧٨٩'.charAt(Number(part)) : part));
}
