import type { Language } from '../text/format';

/**
 * The page's language: what was kept from last time, else the first the browser asks for, of those that are
 * offered; else the first of these. A station that says what its listeners may choose has its own first
 * language before the browser's: pass no wanted ones then.
 */
export function chooseLanguage(kept: string | null, wanted: readonly string[], offered: readonly Language[] = ['ar', 'en']): Language {
  for (const tag of [kept ?? '', ...wanted]) {
    const primary = tag.toLowerCase().split('-')[0];
    const found = offered.find((language) => language === primary);
    if (found) return found;
  }
  return offered[0] ?? 'ar';
}

export type Forms = Record<'zero' | 'one' | 'two' | 'few' | 'many' | 'other', string>;

/** The form of a counted noun that the language's grammar asks for; # stands for the written number. */
export function plural(n: number, forms: Forms, language: Language, written: string): string {
  const rule = n === 0 ? 'zero' : new Intl.PluralRules(language).select(n);
  return forms[rule].replace('#', written);
}
