/** What the station says of its library; times are epoch milliseconds, paths are below the media folder. */

import type { Song } from '../byhand/answers';

export const shownStates = ['airs', 'waiting', 'refused', 'archived-soon', 'edited', 'cut', 'limited', 'never'] as const;
export type ShownState = (typeof shownStates)[number];

export const sorts = ['artist', 'title', 'album', 'category', 'duration', 'added', 'aired', 'plays', 'path'] as const;
export type Sort = (typeof sorts)[number];

export interface Track {
  path: string;
  title: string;
  artist: string;
  album: string;
  genre: string;
  category: string;
  durationMs: number;
  addedAt: number;
  /** 0: never. */
  airedAt: number;
  /** Within 72 hours. */
  plays: number;
  license: string;
  size: number;
  state: 'airs' | 'waiting' | 'refused' | 'archived-soon';
  /** Why it does not air; empty where it does. */
  reason: string;
  edited: boolean;
  cut: boolean;
  limited: boolean;
  /** A hash, or empty. */
  cover: string;
}

/** A track as it is put on the air. */
export const songOf = ({ path, title, artist, category, durationMs }: Pick<Track, 'path' | 'title' | 'artist' | 'category' | 'durationMs'>): Song => ({ file: path, title, artist, category, durationMs });

export interface Facet {
  value: string;
  count: number;
}

export const facetNames = ['category', 'state', 'genre', 'artist', 'album'] as const;
export type FacetName = (typeof facetNames)[number];
export type Facets = Record<FacetName, Facet[]>;

export interface Page {
  generation: number;
  total: number;
  offset: number;
  /** Of the whole library, whatever is asked for. */
  all: number;
  /** Of all that match. */
  durationMs: number;
  tracks: Track[];
  facets?: Partial<Facets>;
}

export interface Limits {
  /** Days: 2026-12-01. */
  from?: string;
  until?: string;
  /** Hours of the day, from and to; [22, 2] is over midnight. */
  hours?: [number, number][];
  perDay?: number;
  restMinutes?: number;
}

/** What the operator says of a track; what is absent is as the file says. */
export interface Note {
  title?: string;
  artist?: string;
  album?: string;
  genre?: string;
  /** Of the recording, without hyphens. */
  isrc?: string;
  label?: string;
  composer?: string;
  titleLatin?: string;
  artistLatin?: string;
  aliases?: string[];
  category?: string;
  cueInMs?: number;
  cueOutMs?: number;
  crossMs?: number;
  limits?: Limits;
  cover?: string;
}

export type Field = keyof Note;
/** Fields to change; null is back to what the file says. */
export type Change = { [F in Field]?: Exclude<Note[F], undefined> | null };

export const deedKinds = ['edit', 'cover', 'archive', 'restore', 'replace', 'undo'] as const;

export interface Deed {
  id: number;
  at: number;
  by: string;
  kind: (typeof deedKinds)[number];
  tracks: number;
  /** Of one track. */
  path: string;
  fields: string[];
  /** What was said of that track, and is now; missing: nothing. */
  before?: Note;
  after?: Note;
  /** The deed that took it back. */
  undone?: number;
}

interface Spoken {
  en: string;
  ar: string;
}

export interface Airing {
  at: number;
  /** -1: nobody counted. */
  listeners: number;
  left: number;
}

/** How a track stands for the next place on the air. */
export interface Standing {
  at: number;
  /** Rules that it would break there, the most important first. */
  broken: string[];
  /** That it has had in its deck, and the fewest that others have had. */
  turns: number;
  fewest: number;
  /** Tracks of its deck that come first, and all of it. */
  before: number;
  size: number;
  /** Share of its category in the music now, 0 to 1. */
  weight: number;
}

export interface Detail {
  track: Track;
  /** Missing: nothing is said of it. */
  note?: Note;
  file: { title: string; artist: string; album: string; genre: string; category: string; license: string; isrc: string; label: string; composer: string; modifiedAt: number };
  /** Missing where nothing airs of it yet. */
  sound?: { lufs: number; truePeak: number; airs: 'copy' | 'file'; durationMs: number };
  airings: Airing[];
  /** Missing where it cannot air now. */
  standing?: Standing;
  deeds: Deed[];
}

export interface Changed {
  /** Missing where nothing was to be changed. */
  deed?: Deed;
  changed: number;
  refused: ({ path: string } & Spoken)[];
}

export interface Archived {
  archived: string[];
  /** On the air or about to be: archived afterwards. */
  kept: string[];
  left: { path: string; reason: string }[];
}

export interface Restored {
  restored: number;
  missing: string[];
  /** Another file has their place. */
  inTheWay: string[];
}

export interface Undone {
  deed?: Deed;
  changed: number;
  /** Changed again since, and left as they are. */
  kept?: string[];
}

export interface ArchivedFile {
  path: string;
  category: string;
  reason: string;
  /** Of a reason that the studio has words for; missing: it has none. */
  code?: string;
  at: number;
  size: number;
}

export interface QuarantinedFile {
  path: string;
  reason: string;
  since: number;
}

export interface Alike {
  path: string;
  title: string;
  artist: string;
  category: string;
  durationMs: number;
  size: number;
  same: 'recording' | 'name';
  /** 0 to 1. */
  difference: number;
}

/** What reading quarantined files again found. */
export interface Reread {
  /** They can air, some once their copies are made. */
  registered: string[];
  refused: { path: string; reason: string }[];
  /** No such file any more. */
  gone: string[];
}

/** A file that was sent, before and after the library takes it. */
export interface Arrival {
  id: string;
  batch: string;
  name: string;
  folder: string;
  size: number;
  at: number;
  by: string;
  state: 'waiting' | 'looking' | 'asks' | 'taking' | 'taken' | 'refused' | 'undoing' | 'undone';
  category: string;
  guessed: boolean;
  why: Spoken;
  title: string;
  artist: string;
  album: string;
  durationMs: number;
  alike: Alike[];
  asks: ('category' | 'duplicate')[];
  /** Track whose file it takes the place of. */
  replace: string;
  /** Once it is taken; where it was, once undone. */
  path: string;
  /** Why it is refused, or not placed yet. */
  reason?: { code: string } & Spoken;
  /** 0 until it can air. */
  airsAt: number;
}
