import { beginOf, dayAfter, dayIn } from '../text/zone';
import { locale, type Language } from '../text/format';
import type { Aired } from './answers';

/** What began within one hour of the station's clock. */
export interface Hour {
  key: string;
  /** The hour, or less where the list begins later. */
  at: number;
  rows: Aired[];
}
export interface Day {
  day: string;
  hours: Hour[];
}

/** What identifies an airing on this page. */
export const keyOf = ({ startedAt, file, title }: Aired): string => `${startedAt} ${file || title}`;

/** The list by days and hours of the zone, in its own order. */
export function byHour(list: readonly Aired[], timezone: string): Day[] {
  const days: Day[] = [];
  for (const row of list) {
    const day = dayIn(row.startedAt, timezone);
    const hour = Math.floor((row.startedAt - beginOf(day, timezone)) / 3_600_000);
    let last = days.at(-1);
    if (last?.day !== day) days.push((last = { day, hours: [] }));
    const key = `${day} ${hour}`;
    const now = last.hours.at(-1);
    if (now?.key === key) now.rows.push(row);
    else last.hours.push({ key, at: beginOf(day, timezone) + hour * 3_600_000, rows: [row] });
  }
  return days;
}

/** Parts of one list put together, the newest first, each airing once. */
export function joined(...parts: readonly (readonly Aired[])[]): Aired[] {
  const all = new Map(parts.flat().map((row) => [keyOf(row), row]));
  return [...all.values()].sort((a, b) => b.startedAt - a.startedAt);
}

/** A moment of the station's clock: the day, and hours and minutes as a time field has them. */
export function momentOf(day: string, time: string, timezone: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return beginOf(day, timezone) + (hours * 60 + minutes) * 60_000;
}

/** The days that are looked back on, today first. */
export const lastDays = (now: number, timezone: string): string[] => Array.from({ length: 8 }, (_, i) => dayAfter(dayIn(now, timezone), -i));

/** A day in words; today and yesterday have their own. */
export function sayDay(day: string, now: number, timezone: string, language: Language, words: { today: string; yesterday: string }): string {
  const today = dayIn(now, timezone);
  if (day === today) return words.today;
  if (day === dayAfter(today, -1)) return words.yesterday;
  const far = Date.parse(today) - Date.parse(day) > 6 * 86_400_000;
  return new Intl.DateTimeFormat(locale[language], { timeZone: 'UTC', weekday: 'long', day: 'numeric', month: 'long', ...(far ? { year: 'numeric' } : {}) }).format(Date.parse(day));
}
