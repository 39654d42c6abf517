import type { Weekday } from '../../config';
import type { Track } from '../answers';
import type { Query } from '../query';

/** What the station says of its playlists; times are epoch milliseconds, paths are below the media folder. */

export const kinds = ['hand', 'smart', 'remote'] as const;
export type Kind = (typeof kinds)[number];

export const orders = ['sequence', 'turns', 'shuffle'] as const;
export type Order = (typeof orders)[number];

export const plays = ['only', 'share', 'songs', 'hourly', 'once', 'clock'] as const;
export type Plays = (typeof plays)[number];

/** When a playlist may play; a condition that is missing always holds. */
export interface Window {
  /** By the day on which the window begins. */
  days?: Weekday[];
  daypart?: string;
  /** HH:MM. An end at or before the start lies on the next day; the same is the whole day. */
  start: string;
  end: string;
  /** Days: 2026-12-01, by the day on which the window begins. */
  from?: string;
  until?: string;
}

/** What the operator says of a playlist. */
export interface Settings {
  name: string;
  note: string;
  kind: Kind;
  query?: Query;
  address?: string;
  everyMinutes?: number;
  order: Order;
  plays: Plays;
  /** Of the places for music, 0 to 100. */
  share: number;
  everySongs: number;
  minute: number;
  when: Window[];
  on: boolean;
}

export interface Playlist extends Settings {
  id: number;
  version: number;
  /** Entries, those that can air now, and those whose file is not in the library. */
  tracks: number;
  ready: number;
  missing: number;
  durationMs: number;
  open: boolean;
  /** When it next opens; 0: never, or nobody knows. */
  nextAt: number;
  /** 0: never. */
  airedAt: number;
  changedAt: number;
  by: string;
  fetchedAt?: number;
  /** Why the last fetch failed; missing where it did not. */
  problem?: { en: string; ar: string };
  /** Entries of a remote playlist that nothing in the library fits. */
  unmatched?: { title: string; address: string }[];
}

/** As the station writes it. */
export type Said = Omit<Playlist, 'note' | 'share' | 'everySongs' | 'minute'> & Partial<Pick<Playlist, 'note' | 'share' | 'everySongs' | 'minute'>>;

export interface Item {
  /** From 0. */
  place: number;
  path: string;
  missing: boolean;
  /** Missing with its file. */
  track?: Track;
}

export interface ItemPage {
  version: number;
  total: number;
  items: Item[];
}

export const deedKinds = ['make', 'set', 'items', 'delete', 'undo'] as const;

export interface ListDeed {
  id: number;
  at: number;
  by: string;
  kind: (typeof deedKinds)[number];
  list: number;
  name: string;
  /** Entries that it reached. */
  tracks: number;
  /** The deed that it took back, and the one that took it back. */
  undoes?: number;
  undone?: number;
}

export interface Done {
  playlist: Said;
  deed?: ListDeed;
}

export interface ItemsDone extends Done {
  added?: number;
  refused?: { path: string; en: string; ar: string }[];
}

/** What is in a playlist file, and what of it is in the library. */
export interface FileFound {
  entries: number;
  /** The first thousand of each. */
  found: { title: string; path: string }[];
  missing: { title: string; address: string }[];
  /** All that are in the library. */
  matched?: number;
  /** What the playlist is called, or would be. */
  name?: string;
  playlist?: Said;
  deed?: ListDeed;
}

export const sortings = ['title', 'artist', 'album', 'duration', 'path', 'shuffle'] as const;
export type Sorting = (typeof sortings)[number];
