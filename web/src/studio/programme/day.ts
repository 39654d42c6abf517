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
