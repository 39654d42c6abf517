import { plain } from '../../text/bidi';
import type { Language } from '../../text/format';

/** Why an episode could not be made, in the page's language where the station has words for it. */
export const problemOf = ({ problem, problemAr }: { problem: string; problemAr: string }, language: Language): string => plain((language === 'ar' && problemAr) || problem);

/** A language by its name in the page's. */
export function languageName(code: string, language: Language): string {
  try {
    return new Intl.DisplayNames(language === 'ar' ? 'ar-EG' : 'en-GB', { type: 'language' }).of(code) ?? code;
  } catch {
    return code; // it is still being typed
  }
}

/** Those that are offered; any other can be typed. */
export const languages = ['ar', 'en', 'fr', 'es', 'de', 'it', 'tr', 'fa', 'ur', 'ku', 'am', 'sw'] as const;

const fold = (text: string): string => text.normalize('NFKD').replace(/[\u0300-\u036f\u064b-\u0652]/g, '').toLocaleLowerCase();

/** Whether a text holds what is searched for, accents and vowel signs aside. */
export const holds = (text: string, q: string): boolean => fold(text).includes(fold(q.trim()));
