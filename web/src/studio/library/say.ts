import { clock, count, inDigits, type Language } from '../../text/format';

/** A place in a sound to a tenth, 3:24.5; it keeps its order on a page of either direction. */
export const tenths = (ms: number, language: Language): string => `\u2066${clock(ms, language)}${language === 'ar' ? '٫' : '.'}${inDigits(String(Math.floor((ms % 1000) / 100)), language)}\u2069`;

/** An hour of the day, 07. */
export const hourOf = (hour: number, language: Language): string => `${hour < 10 ? count(0, language) : ''}${count(hour, language)}`;

/** From an hour to the next. */
export const hourSpan = (hour: number, language: Language): string => `\u2066${hourOf(hour, language)}–${hourOf((hour + 1) % 24, language)}\u2069`;
