import { folded } from './words';
import type { Lack, RoyaltyRow, TrackFigures } from './answers';

/** Of fewer listeners a percentage says nothing. */
export const fewestListeners = 5;

export const columns = ['title', 'plays', 'hours', 'start', 'came', 'left', 'kept'] as const;
export type Column = (typeof columns)[number];

/** What the station itself sorts by, where it has more than it sends. */
export const sortsOf: Record<Column, string> = { title: 'title', plays: 'plays', hours: 'hours', start: 'hours', came: 'hours', left: 'left', kept: 'kept' };

/** The share that stayed; null where too few were counted to say, or nobody was. */
export const keptOf = (track: TrackFigures): number | null => (track.kept === undefined || track.reached < fewestListeners ? null : track.kept);

const values: Record<Exclude<Column, 'title'>, (track: TrackFigures) => number> = {
  plays: ({ plays }) => plays, hours: ({ listenerHours }) => listenerHours, start: ({ startAverage }) => startAverage, came: ({ tuneIns }) => tuneIns, left: ({ tuneOuts }) => tuneOuts,
  kept: (track) => keptOf(track) ?? -1,
};

/** Sorted by a column; in either order those of which nothing can be said are last. */
export function sorted(tracks: readonly TrackFigures[], column: Column, down: boolean): TrackFigures[] {
  const turn = down ? -1 : 1;
  if (column === 'title') return [...tracks].sort((a, b) => turn * (a.title || a.file).localeCompare(b.title || b.file));
  const value = values[column];
  return [...tracks].sort((a, b) => {
    if (column === 'kept' && (value(a) < 0 || value(b) < 0)) return value(b) - value(a);
    return turn * (value(a) - value(b)) || b.listenerHours - a.listenerHours;
  });
}

export function soughtIn<T extends object>(rows: readonly T[], text: string, words: (row: T) => string): readonly T[] {
  const sought = folded(text.trim());
  return sought ? rows.filter((row) => folded(words(row)).includes(sought)) : rows;
}

export const lackingIn = (rows: readonly RoyaltyRow[], lack: Lack | null): readonly RoyaltyRow[] => (lack ? rows.filter((row) => !row[lack].trim()) : rows);
