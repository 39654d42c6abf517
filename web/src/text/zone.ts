/** Days of the station's own clock. */

/** One clock of each zone that was asked for: making one takes longer than a thousand readings of it. */
const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(timezone: string): Intl.DateTimeFormat {
  let clock = clocks.get(timezone);
  if (!clock) {
    clock = new Intl.DateTimeFormat('en-GB', {
      timeZone: timezone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric',
    });
    clocks.set(timezone, clock);
  }
  return clock;
}

/** How far the zone's clock is ahead of UTC at a moment, ms. */
function ahead(moment: number, timezone: string): number {
  const parts = clockOf(timezone).formatToParts(moment);
  const n = (type: string) => Number(parts.find((part) => part.type === type)?.value);
  return Date.UTC(n('year'), n('month') - 1, n('day'), n('hour'), n('minute'), n('second')) - Math.floor(moment / 1000) * 1000;
}

/** The day of a moment as 2026-11-21. */
export function dayIn(moment: number, timezone: string): string {
  return new Date(moment + ahead(moment, timezone)).toISOString().slice(0, 10);
}

/** The moment a day begins: its first, where a change of the clock skips midnight. */
export function beginOf(day: string, timezone: string): number {
  const wall = Date.parse(`${day}T00:00:00Z`);
  const guess = wall - ahead(wall, timezone);
  const begin = wall - ahead(guess, timezone);
  return dayIn(begin, timezone) < day ? begin + 3_600_000 : begin;
}

/** The day so many days later. */
export function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
}
