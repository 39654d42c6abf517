import type { Planned } from '../station/api';
import type { Coming } from './byhand/answers';

/** A row of the rotation: an entry as it was planned, with what was done to it by hand. */
export interface Row extends Planned {
  /** Among what is to come, from 0; -1 for what is on the air or behind it. */
  place: number;
  /** No rebuild takes it away. */
  locked: boolean;
  hand: boolean;
  /** The playout engine has it open: it airs where it is. */
  opened: boolean;
  key: string;
}

/** A stretch of the queue under one heading: what is past, then hour by hour. */
export interface Stretch<T extends Planned = Row> {
  key: string;
  /** Epoch ms of the first entry of an hour; null for what is past or has no time. */
  from: number | null;
  aired: boolean;
  /** The clock that lays this hour out, where it is the same for all timed entries. */
  clock: string;
  entries: T[];
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
export function byHour<T extends Planned>(entries: readonly T[], onAirAt: number, timezone: string): Stretch<T>[] {
  const out: Stretch<T>[] = [];
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

/** What is to come, by the queue where it is known, else as it was planned. What the plan has on the air or behind it by now is no longer in it. */
export function comingOf(planned: readonly Planned[], queue: readonly Coming[] | null): Coming[] {
  if (!queue) return planned.filter((entry) => !entry.onAir && !isPast(entry)).map(({ relaxed, held, ...entry }) => ({ ...entry, locked: held ?? false, relaxed: (relaxed ?? []).map((rule) => ({ rule })) }));
  const gone = new Set(planned.filter((entry) => entry.onAir || isPast(entry)).map(named));
  const first = queue[0];
  const plan = planned.findIndex((entry) => first && named(entry) === named(first));
  // What the queue has on the air already and the plan not yet: it is where it airs.
  const told = new Set(queue.map(named));
  const between = planned.slice(0, Math.max(0, plan)).filter((entry) => !gone.has(named(entry)) && !told.has(named(entry)));
  return [...comingOf(between, null).map((entry) => ({ ...entry, opened: true })), ...queue.filter((entry) => !gone.has(named(entry)))];
}

/** The rows of the rotation: what the plan says of the past, and what is to come in the order that is shown. */
export function rowsOf(planned: readonly Planned[], coming: readonly Coming[]): Row[] {
  const known = new Map(planned.map((entry) => [named(entry), entry]));
  const seen = new Map<string, number>();
  // A row is the same one when positions are counted anew: by its file, of several of one file by their order.
  const key = (file: string): string => {
    const nth = seen.get(file) ?? 0;
    seen.set(file, nth + 1);
    return `${file} ${nth}`;
  };
  const past = planned.filter((entry) => entry.onAir || isPast(entry));
  return [
    ...past.map((entry): Row => ({ ...entry, place: -1, locked: false, hand: false, opened: false, key: entry.onAir ? key(entry.file) : String(entry.position) })),
    ...coming.map(({ relaxed, ...entry }, place): Row => {
      const plan = known.get(named(entry));
      const rules = relaxed?.map(({ rule }) => rule) ?? plan?.relaxed ?? [];
      return { onAir: false, aired: false, ...plan, ...entry, relaxed: rules, place, locked: entry.locked ?? false, hand: entry.hand ?? false, opened: entry.opened ?? false, key: key(entry.file) };
    }),
  ];
}

/** A position with its file: an entry of another rotation is another one. */
const named = ({ position, file }: { position: number; file: string }): string => `${position} ${file}`;
