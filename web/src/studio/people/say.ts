import { peopleWords } from '../../i18n/people';
import { studioWords } from '../../i18n/studio';
import { Problem } from '../../station/control';
import { isolate, plain } from '../../text/bidi';
import { locale, type Language } from '../../text/format';
import { agentOf } from './agent';
import { NoKey } from '../door.svelte';
import { problemWords } from '../problem';

/** A day as it is written. */
export function dayWords(moment: number, language: Language): string {
  return new Intl.DateTimeFormat(locale[language], { dateStyle: 'medium' }).format(moment);
}

/** A day that is counted from 1970. */
export function dateOfDay(day: number, language: Language): string {
  return new Intl.DateTimeFormat(locale[language], { dateStyle: 'medium', timeZone: 'UTC' }).format(day * 86_400_000);
}

/** Chrome on Linux; the beginning of what it calls itself where that says neither. */
export function agentWords(agent: string, language: Language): string {
  const { browser, system } = agentOf(agent);
  const words = peopleWords[language].session;
  const page = language === 'ar' ? 'rtl' : 'ltr';
  if (browser && system) return words.on(isolate(browser, page), isolate(system, page));
  return browser || system || plain(agent).slice(0, 40) || words.unknown;
}

/** Why a form was refused, in one sentence; empty where nobody was at the door, which has said so itself. */
export function refusalWords(failure: unknown, language: Language, known: Record<string, string> = {}): string {
  if (failure instanceof NoKey) return '';
  if (!(failure instanceof Problem)) throw failure;
  const own = failure.fields.map(({ location }) => known[location]).find(Boolean);
  const plainly = own ?? failure.reason?.[language] ?? known[String(failure.status)];
  if (plainly) return plainly;
  const [said, { detail }] = problemWords(failure, studioWords[language].control, language);
  return detail ? `${said} ${detail}` : said;
}
