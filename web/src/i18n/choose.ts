import type { Language } from '../text/format';

/** The page's language: what was kept from last time, else the first the browser asks for that we speak, else Arabic. */
export function chooseLanguage(kept: string | null, wanted: readonly string[]): Language {
  for (const tag of [kept ?? '', ...wanted]) {
    const primary = tag.toLowerCase().split('-')[0];
    if (primary === 'ar' || primary === 'en') return primary;
  }
  return 'ar';
}

export type Forms = Record<'zero' | 'one' | 'two' | 'few' | 'many' | 'other', string>;

/** The form of a counted noun that the language's grammar asks for; # stands for the written number. */
export function plural(n: number, forms: Forms, language: Language, written: string): string {
  const rule = n === 0 ? 'zero' : new Intl.PluralRules(language).select(n);
  return forms[rule].replace('#', written);
}
