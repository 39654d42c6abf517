import { weekdays, type Daypart, type Weekday } from '../../config';
import { dayMinutes, minutesOf, stretches } from '../../programme/day';
import type { Window } from './answers';

/** The hours of a week in which a playlist may play, as they are drawn: days as rows, from the first of the week. */

export interface Stretch {
  /** Minutes of the day. */
  from: number;
  to: number;
}

const weekMinutes = 7 * dayMinutes;

export const isWholeDay = ({ start, end }: Pick<Window, 'start' | 'end'>): boolean => start === end;

export const isOverMidnight = ({ start, end }: Pick<Window, 'start' | 'end'>): boolean => start !== end && minutesOf(end) < minutesOf(start) && minutesOf(end) > 0;

/** How the hours of a window are said. */
export type Span = 'day' | 'hours' | 'daypart';

export const spanOf = (window: Window): Span => (window.daypart ? 'daypart' : isWholeDay(window) ? 'day' : 'hours');

/** The window with its hours said another way. */
export function spanned(window: Window, span: Span, daypart: string): Window {
  const { daypart: _, ...rest } = window;
  if (span === 'hours') return { ...rest, ...(isWholeDay(window) ? { start: '20:00', end: '22:00' } : {}) };
  return { ...rest, start: '00:00', end: '00:00', ...(span === 'daypart' ? { daypart } : {}) };
}

/** The minutes of the day of a daypart, as the first that covers each minute has it. */
function partMinutes(name: string, dayparts: readonly Daypart[]): boolean[] {
  const out = Array.from({ length: dayMinutes }, () => false);
  const taken = Array.from({ length: dayMinutes }, () => false);
  for (const daypart of dayparts) {
    for (const { from, to } of stretches(daypart.start, daypart.end)) {
      for (let at = from; at < to; at++) {
        if (taken[at]) continue;
        taken[at] = true;
        out[at] = daypart.name === name;
      }
    }
  }
  return out;
}

/** Minutes of the week, from midnight of the first of the weekdays, in which a window is open. */
function minutesIn(window: Window, dayparts: readonly Daypart[], week: boolean[]): void {
  const [start, end] = [minutesOf(window.start), minutesOf(window.end)];
  if (Number.isNaN(start) || Number.isNaN(end)) return;
  const length = (end - start + dayMinutes) % dayMinutes || dayMinutes;
  const inPart = window.daypart ? partMinutes(window.daypart, dayparts) : null;
  weekdays.forEach((day, row) => {
    if (window.days && window.days.length > 0 && !window.days.includes(day)) return;
    for (let i = 0; i < length; i++) {
      const at = (row * dayMinutes + start + i) % weekMinutes;
      if (!inPart || inPart[at % dayMinutes]) week[at] = true;
    }
  });
}

/** What the windows cover of each day of the week; none is always. */
export function weekOf(windows: readonly Window[], dayparts: readonly Daypart[]): Record<Weekday, Stretch[]> {
  const week = Array.from({ length: weekMinutes }, () => windows.length === 0);
  for (const window of windows) minutesIn(window, dayparts, week);
  return Object.fromEntries(weekdays.map((day, row) => [day, runs(week.slice(row * dayMinutes, (row + 1) * dayMinutes))])) as Record<Weekday, Stretch[]>;
}

function runs(day: readonly boolean[]): Stretch[] {
  const out: Stretch[] = [];
  day.forEach((on, at) => {
    const last = out.at(-1);
    if (!on) return;
    if (last?.to === at) last.to = at + 1;
    else out.push({ from: at, to: at + 1 });
  });
  return out;
}

/** Minutes of the week that are covered. */
export const minutesCovered = (week: Record<Weekday, readonly Stretch[]>): number => Object.values(week).flat().reduce((sum, { from, to }) => sum + to - from, 0);

/** Takes a day in, or out; all and none are every day. */
export function toggledDay(window: Window, day: Weekday): Window {
  const { days = [], ...rest } = window;
  const next = weekdays.filter((other) => (other === day ? !days.includes(day) : days.includes(other)));
  return next.length === 0 || next.length === weekdays.length ? rest : { ...rest, days: next };
}

/** The window without what says nothing. */
export function tidyWindow({ days, daypart, start, end, from, until }: Window): Window {
  return { ...(days && days.length > 0 ? { days } : {}), ...(daypart ? { daypart } : {}), start, end, ...(from ? { from } : {}), ...(until ? { until } : {}) };
}
