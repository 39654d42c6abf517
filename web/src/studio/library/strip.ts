/** The hours of the day in which a track may air, as 24 that are on or off. */

export type Strip = readonly boolean[];

export const allDay: Strip = Array.from({ length: 24 }, () => true);

export const isAllDay = (strip: Strip): boolean => strip.every((on) => on);

/** Ranges as the station writes them; from and to the same is the whole day. */
export function stripOf(hours: readonly (readonly [number, number])[] | undefined): Strip {
  if (!hours || hours.length === 0) return allDay;
  const strip = Array.from({ length: 24 }, () => false);
  for (const [from, to] of hours) {
    const many = (to - from + 24) % 24 || 24;
    for (let i = 0; i < many; i++) strip[(from + i) % 24] = true;
  }
  return strip;
}

/** The fewest ranges; undefined where it may air all day, and where no hour is on: nothing is limited then. */
export function hoursOf(strip: Strip): [number, number][] | undefined {
  if (isAllDay(strip) || !strip.some((on) => on)) return undefined;
  const out: [number, number][] = [];
  for (let from = 0; from < 24; from++) {
    if (!strip[from] || strip[(from + 23) % 24]) continue;
    let to = from;
    while (strip[to % 24]) to++;
    out.push([from, to % 24]);
  }
  return out;
}

export const painted = (strip: Strip, hour: number, on: boolean): Strip => strip.map((was, i) => (i === hour ? on : was));

/** The hour that a key leads to; time runs as the page is read, in rows of so many. */
export function hourAfter(key: string, hour: number, perRow: number, direction: 'rtl' | 'ltr' = 'ltr'): number | null {
  const on = direction === 'rtl' ? -1 : 1;
  const to: Record<string, number> = { ArrowRight: hour + on, ArrowLeft: hour - on, ArrowDown: hour + perRow, ArrowUp: hour - perRow, Home: 0, End: 23 };
  const next = to[key];
  if (next === undefined) return null;
  return next < 0 || next > 23 ? (key === 'ArrowDown' || key === 'ArrowUp' ? hour : (next + 24) % 24) : next;
}
