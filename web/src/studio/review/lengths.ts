import { clock, inDigits, locale, type Language } from '../../text/format';

/** A length: to a tenth of a second below ten, as m:ss from a minute on. */
export function lengthWords(ms: number, language: Language): string {
  if (ms >= 60_000) return clock(ms, language);
  const digits = ms < 10_000 ? 1 : 0;
  return new Intl.NumberFormat(locale[language], { style: 'unit', unit: 'second', unitDisplay: 'short', maximumFractionDigits: digits }).format(ms / 1000);
}

/** Seconds as the deck shows them, with tenths where the sound is short. */
export function deckClock(seconds: number, of: number, language: Language): string {
  if (of >= 20) return clock(seconds * 1000, language);
  return inDigits(seconds.toFixed(1), language);
}
