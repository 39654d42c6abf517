import type { Planned } from '../station/api';

/** A stretch of the queue under one heading: what is past, then hour by hour. */
export interface Stretch {
  key: string;
  /** Epoch ms of the first entry of an hour; null for what is past or has no time. */
  from: number | null;
  aired: boolean;
  /** The clock that lays this hour out, where it is the same for all timed entries. */
  clock: string;
  entries: Planned[];
}

/** Hour of the day in the station's zone, as a key that also parts two days. */
export function hourKey(moment: number, timezone: string): string {
  const options: Intl.DateTimeFormatOptions = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', hourCycle: 'h23' };
  const parts = (zone?: string) =>
    new Intl.DateTimeFormat('en-GB', zone ? { ...options, timeZone: zone } : options).format(moment);
  try {
    return parts(timezone);
  } catch {
    return parts(); // the zone's name is unknown here
  }
}

/** Whether an entry is behind the air, heard or passed over. */
export const isPast = (entry: Planned): boolean => entry.aired || Boolean(entry.failed);

/** Parts the queue by the hour in which each entry is expected. onAirAt is when the entry on the air began. */
export function byHour(entries: readonly Planned[], onAirAt: number, timezone: string): Stretch[] {
  const out: Stretch[] = [];
  for (const entry of entries) {
    const at = entry.onAir ? onAirAt : (entry.expectedAt ?? 0);
    const last = out.at(-1);
    const key = isPast(entry) ? 'aired' : at > 0 ? hourKey(at, timezone) : last && !last.aired ? last.key : 'later';
    if (last?.key === key) last.entries.push(entry);
    else out.push({ key, from: !isPast(entry) && at > 0 ? at : null, aired: isPast(entry), clock: '', entries: [entry] });
  }
  for (const stretch of out) {
    const names = new Set(stretch.entries.map((e) => e.clock ?? ''));
    if (!stretch.aired && names.size === 1) stretch.clock = [...names][0] ?? '';
  }
  return out;
}
