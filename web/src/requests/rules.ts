import { requestsWords } from '../i18n/requests';
import type { Problem } from '../station/control';
import { inDigits, locale, timeOfDay, type Language } from '../text/format';
import type { Asked, Limits, Shown, Verdict } from './answers';
import { isOpen } from './order';

/** The rules that stand against any request or against a listener, whichever song it is. */
export const against = ['closed', 'full', 'interval', 'day', 'network'] as const;
/** The rules that stand against one song. */
export const aboutSong = ['asked', 'coming', 'aired', 'artist_asked', 'artist_aired', 'daypart', 'limits'] as const;
export type Code = (typeof against)[number] | (typeof aboutSong)[number];

const ofAll: readonly string[] = against;
/** What these name is when the song comes, not from when it may be asked for. */
const comes: readonly string[] = ['asked', 'coming'];

/** Whether a verdict is about the listener or the station rather than this song. */
export const isOfAll = ({ code = '' }: Verdict): boolean => ofAll.includes(code);

/** Whether a song may be asked for as far as is known: what stood against it may have passed while it was looked at. */
export function mayAsk({ allowed, code = '', at = 0 }: Verdict, now: number): boolean {
  return allowed || (at > 0 && at <= now && !comes.includes(code));
}

/** A moment as it is said in a sentence: its time, with its day where that is another. */
export function whenOf(at: number, now: number, language: Language): string {
  const time = timeOfDay(at, language);
  if (at - now < 12 * 3_600_000) return time;
  const day = new Date(at).toDateString();
  if (day === new Date(now).toDateString()) return time;
  if (day === new Date(now + 86_400_000).toDateString()) return requestsWords[language].tomorrow(time);
  // A weekday says which day for a week; a track may rest for longer.
  const said: Intl.DateTimeFormatOptions = at - now < 6 * 86_400_000 ? { weekday: 'long' } : { day: 'numeric', month: 'long' };
  return `${new Intl.DateTimeFormat(locale[language], said).format(at)} ${time}`;
}

/** A rule in the page's language and digits; one of a later station in its own words. */
export function sayRule(rule: Verdict, now: number, language: Language): string {
  const { code = '', at = 0 } = rule;
  const say = (requestsWords[language].rules as Partial<Record<string, (at: string) => string>>)[code];
  return say ? say(at > now ? whenOf(at, now, language) : '') : inDigits(rule[language] ?? rule.en ?? code, language);
}

/** The rule that a refusal names; null where it is about something else. */
export function ruleOf(problem: Problem): Verdict | null {
  const { status, reason } = problem;
  return status === 409 && reason ? { allowed: false, at: 0, ...reason } : null;
}

/** What stands against any request of this listener, as far as the queue tells. */
export function gateOf(open: boolean, requests: readonly Shown[], limits: Limits, now: number): Verdict | null {
  if (!open) return { allowed: false, code: 'closed' };
  const waiting = requests.filter(isOpen);
  if (limits.queue > 0 && waiting.length >= limits.queue) {
    const known = waiting.map(({ expectedAt }) => expectedAt).filter((at) => at > now);
    return { allowed: false, code: 'full', ...(known.length > 0 ? { at: Math.min(...known) } : {}) };
  }
  // A wait longer than the one between two requests is that of the day.
  if (limits.nextAt > now) return { allowed: false, code: limits.nextAt - now > limits.everyMs ? 'day' : 'interval', at: limits.nextAt };
  return null;
}

/**
 * What everybody is told, with what is known of one's own. Lost says that one of
 * them left the queue: what became of it only its asker is told.
 */
export function merged(known: readonly Asked[], told: readonly Shown[]): { requests: Asked[]; lost: boolean } {
  const own = new Map(known.filter(({ mine }) => mine).map((request) => [request.id, request]));
  const requests = told.map((shown): Asked => ({ mine: false, ...own.get(shown.id), ...shown }));
  const here = new Set(told.map(({ id }) => id));
  const left = [...own.values()].filter(({ id }) => !here.has(id));
  return { requests: [...requests, ...left], lost: left.some(isOpen) };
}
