/** Times of the day as minutes after midnight, for the 24-hour band. */

export const dayMinutes = 1440;

/** Minutes of HH:MM; NaN where it is none. */
export function minutesOf(text: string): number {
  const found = /^(\d\d?):(\d\d)$/.exec(text);
  const minutes = found ? Number(found[1]) * 60 + Number(found[2]) : Number.NaN;
  return minutes <= dayMinutes && Number(found?.[2]) < 60 ? minutes : Number.NaN;
}

/** HH:MM of minutes, around midnight either way. */
export function textOf(minutes: number): string {
  const m = ((Math.round(minutes) % dayMinutes) + dayMinutes) % dayMinutes;
  return `${String(Math.floor(m / 60)).padStart(2, '0')}:${String(m % 60).padStart(2, '0')}`;
}

/** The stretches of one day that a window covers: two where it runs over midnight. */
export function stretches(start: string, end: string): { from: number; to: number }[] {
  const [from, to] = [minutesOf(start), minutesOf(end)];
  if (Number.isNaN(from) || Number.isNaN(to)) return [];
  if (from < to) return [{ from, to }];
  return [{ from, to: dayMinutes }, { from: 0, to }].filter((s) => s.to > s.from);
}

/** Where on a band of the page's direction a pointer stands, in quarters of an hour. */
export function minutesAt(x: number, box: { left: number; width: number }, direction: 'rtl' | 'ltr'): number {
  const part = Math.min(1, Math.max(0, (x - box.left) / box.width));
  return Math.round(((direction === 'rtl' ? 1 - part : part) * dayMinutes) / 15) * 15;
}

/** The windows with one of their bounds moved; a neighbour that touches it there moves along. */
export function moved<W extends { start: string; end: string }>(windows: readonly W[], index: number, edge: 'start' | 'end', minutes: number): W[] {
  const was = windows[index]?.[edge];
  const is = textOf(minutes);
  const other = edge === 'start' ? 'end' : 'start';
  return windows.map((w, i) => (i === index ? { ...w, [edge]: is } : w[other] === was ? { ...w, [other]: is } : w));
}

interface Window {
  name?: string;
  start: string;
  end: string;
  hard?: string;
}

/** A stretch of the day in which something that a window did no longer holds. */
export interface Lost {
  name?: string | undefined;
  start: string;
  end: string;
  hard?: string | undefined;
  /** Position of the window in the list that held. */
  index: number;
}

/** The first window that covers a minute of the day; -1 where none does. */
function covering(windows: readonly Window[], at: number): number {
  return windows.findIndex(({ start, end }) => {
    const [from, to] = [minutesOf(start), minutesOf(end)];
    return from < to ? from <= at && at < to : at >= from || at < to;
  });
}

/**
 * What a list of windows takes away from the one in force, as rotation.LostBetween
 * says it: windows of one category that fall, and windows that none covers any more.
 */
export function lostBetween(was: readonly Window[], is: readonly Window[]): Lost[] {
  const out: { window: Window; index: number; from: number; to: number }[] = [];
  for (let at = 0; at < dayMinutes; at++) {
    const index = covering(was, at);
    const before = was[index];
    const after = is[covering(is, at)];
    if (!before || (after && (!before.hard || after.hard === before.hard))) continue;
    const open = out.at(-1);
    if (open && open.index === index && open.to === at) open.to = at + 1;
    else out.push({ window: before, index, from: at, to: at + 1 });
  }
  const [first, last] = [out[0], out.at(-1)];
  if (first && last && first !== last && first.index === last.index && first.from === 0 && last.to === dayMinutes) {
    last.to = first.to; // one stretch over midnight
    out.shift();
  }
  return out.map(({ window, index, from, to }) => ({ name: window.name, hard: window.hard, index, start: textOf(from), end: textOf(to) }));
}
