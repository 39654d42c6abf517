/** Numbers, times and sizes in the page's language. */

export type Language = 'ar' | 'en';

export const locale = { ar: 'ar-EG-u-nu-arab', en: 'en-GB' } as const;

const digits = { ar: '٠١٢٣٤٥٦٧٨٩', en: '0123456789' } as const;

/** The digits of a text in those of the language. */
export function inDigits(text: string, language: Language): string {
  return language === 'en' ? text : text.replace(/\d/g, (d) => digits.ar.charAt(Number(d)));
}

/** A text that was typed, with its Arabic and Persian digits as Latin ones. */
export function latinDigits(text: string): string {
  return text.replace(/[٠-٩]/g, (digit) => String(digit.charCodeAt(0) - 0x660)).replace(/[۰-۹]/g, (digit) => String(digit.charCodeAt(0) - 0x6f0));
}

/** 1234567 as 1,234,567 or ١٬٢٣٤٬٥٦٧. */
export function count(n: number, language: Language): string {
  return new Intl.NumberFormat(locale[language]).format(n);
}

/** To a tenth at most: 12.3, ١٢٫٣. */
export function rounded(n: number, language: Language): string {
  return count(Math.round(n * 10) / 10, language);
}

/** +7, −2, 0; it keeps its order on a page of either direction. */
export function signedCount(n: number, language: Language): string {
  return `\u2066${new Intl.NumberFormat(locale[language], { signDisplay: 'exceptZero' }).format(n)}\u2069`;
}

/** A length of time as m:ss or h:mm:ss; negative and unknown lengths read as 0:00. */
export function clock(ms: number, language: Language): string {
  const total = Number.isFinite(ms) ? Math.max(0, Math.floor(ms / 1000)) : 0;
  const [h, m, s] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
  const two = (n: number) => String(n).padStart(2, '0');
  return inDigits(h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`, language);
}

/** A moment as the wall clock of the station's zone, hours and minutes. */
export function timeOfDay(moment: number, language: Language, timezone?: string): string {
  return wallClock(moment, language, {}, timezone);
}

/** The same with seconds. */
export function timeOfDayExact(moment: number, language: Language, timezone?: string): string {
  return wallClock(moment, language, { second: '2-digit' }, timezone);
}

function wallClock(moment: number, language: Language, more: Intl.DateTimeFormatOptions, timezone?: string): string {
  const options: Intl.DateTimeFormatOptions = { hour: 'numeric', minute: '2-digit', hour12: language === 'ar', ...more };
  try {
    return new Intl.DateTimeFormat(locale[language], { ...options, ...(timezone ? { timeZone: timezone } : {}) }).format(moment);
  } catch {
    return new Intl.DateTimeFormat(locale[language], options).format(moment); // the zone's name is unknown here
  }
}
