import { broadcastWords } from '../../i18n/broadcast';
import { inDigits, type Language } from '../../text/format';
import type { Slot } from './answers';

/** A weekly time in words: Thursday 20:00–22:00. */
export function slotWords({ day, from, to }: Slot, language: Language): string {
  return `${broadcastWords[language].people.days[day]} \u2066${inDigits(from, language)}–${inDigits(to, language)}\u2069`;
}
