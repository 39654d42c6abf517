import type { Language } from '../../text/format';
import { locale } from '../../text/format';
import { beginOf, dayAfter, dayIn } from '../../text/zone';
import type { By } from './answers';

/** Spans of time of the listeners’ figures. Moments are epoch milliseconds. */
export interface Span {
  from: number;
  to: number;
}

export const minute = 60_000;
export const hour = 3_600_000;
export const day = 86_400_000;

/** Spans that end now; a chosen day is one of its own. */
export const lasts = { hour, day, week: 7 * day, month: 30 * day, year: 365 * day } as const;
export type Last = keyof typeof lasts;
export const lastNames = Object.keys(lasts) as Last[];

/** What is looked at: a span that ends now, or a day of the station’s clock (2026-11-21). */
export type Range = { last: Last } | { day: string };

export function spanOf(range: Range, now: number, timezone: string): Span {
  if ('last' in range) return { from: now - lasts[range.last], to: now };
  const from = beginOf(range.day, timezone);
  return { from, to: Math.min(now, beginOf(dayAfter(range.day, 1), timezone)) };
}

/** How long each is kept. */
const kept: Record<By, number> = { minute: day, hour: 60 * day, day: 730 * day };
export const stepOf: Record<By, number> = { minute, hour, day };
/** Where nothing was counted for longer, a curve is broken. */
export const gapOf = (by: By): number => 2.5 * stepOf[by];

/** The finest points that are kept of a span and are not too many to draw. */
export function byOf({ from, to }: Span, now: number): By {
  const keeps = (by: By) => from >= now - kept[by] - 2 * minute; // the clocks of station and page differ
  if (keeps('minute') && to - from <= 1.5 * day) return 'minute';
  return keeps('hour') && to - from <= 45 * day ? 'hour' : 'day';
}

/** The shortest that is looked at: some points of what is kept there. */
function leastOf(from: number, now: number): number {
  if (from >= now - kept.minute) return 10 * minute;
  return from >= now - kept.hour ? 6 * hour : 7 * day;
}

/** A span of that length about a moment, which stays where it was; within what is kept and what has been. */
export function zoomed(span: Span, factor: number, about: number, now: number): Span {
  const most = kept.day;
  const length = Math.min(most, Math.max(leastOf(span.from, now), (span.to - span.from) * factor));
  const share = (about - span.from) / Math.max(1, span.to - span.from);
  return within({ from: about - share * length, to: about + (1 - share) * length }, now);
}

export function panned(span: Span, ms: number, now: number): Span {
  return within({ from: span.from + ms, to: span.to + ms }, now);
}

function within({ from, to }: Span, now: number): Span {
  const length = to - from;
  if (to > now) return { from: now - length, to: now };
  const first = now - kept.day;
  return from < first ? { from: first, to: first + length } : { from, to };
}

export interface Tick {
  at: number;
  text: string;
  /** A day begins here. */
  day: boolean;
}

const steps = [minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day, 2 * day, 7 * day, 14 * day, 30 * day, 61 * day, 122 * day];

/** Moments to write beneath a curve, at most so many: full hours and days of the station’s clock, also where it is put forward or back. */
export function ticksOf({ from, to }: Span, most: number, language: Language, timezone: string): Tick[] {
  const step = steps.find((ms) => (to - from) / ms <= Math.max(1, most)) ?? (steps.at(-1) as number);
  const ticks: Tick[] = [];
  const days = Math.max(1, Math.round(step / day));
  // Of whole days, those of a count that does not depend on where the span begins: what is dragged keeps its marks.
  const number = (name: string) => Math.round(Date.parse(`${name}T00:00:00Z`) / day);
  const today = dayIn(from, timezone);
  let name = dayAfter(today, (days - (number(today) % days)) % days);
  for (let begin = beginOf(name, timezone), end = 0; begin <= to; begin = end) {
    name = dayAfter(name, days);
    end = beginOf(name, timezone);
    for (let at = begin; at < Math.min(end, to + 1); at += Math.min(step, day)) {
      if (at >= from && (step < day || at === begin)) ticks.push({ at, text: at === begin ? dateText(at, language, timezone, step) : timeText(at, language, timezone), day: at === begin });
      if (step >= day) break;
    }
  }
  return ticks;
}

function written(at: number, language: Language, timezone: string, options: Intl.DateTimeFormatOptions): string {
  try {
    return new Intl.DateTimeFormat(locale[language], { ...options, timeZone: timezone }).format(at);
  } catch {
    return new Intl.DateTimeFormat(locale[language], options).format(at); // the zone’s name is unknown here
  }
}

const dateText = (at: number, language: Language, timezone: string, step: number) => written(at, language, timezone, step >= 30 * day ? { month: 'short', year: '2-digit' } : { day: 'numeric', month: 'short' });
const timeText = (at: number, language: Language, timezone: string) => written(at, language, timezone, { hour: 'numeric', minute: '2-digit', hour12: language === 'ar' });

/** A moment as precise as what was counted there: a minute, an hour, or a day. */
export function momentText(at: number, by: By, language: Language, timezone: string): string {
  const date: Intl.DateTimeFormatOptions = { weekday: 'short', day: 'numeric', month: 'short' };
  return written(at, language, timezone, by === 'day' ? { ...date, year: 'numeric' } : { ...date, hour: 'numeric', minute: '2-digit', hour12: language === 'ar' });
}

/** A month as 2026-11. */
export const monthIn = (at: number, timezone: string): string => dayIn(at, timezone).slice(0, 7);

export function monthAfter(month: string, months: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number - 1 + months, 1)).toISOString().slice(0, 7);
}

export function monthText(month: string, language: Language): string {
  return new Intl.DateTimeFormat(locale[language], { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(Date.parse(`${month}-15T00:00:00Z`));
}
