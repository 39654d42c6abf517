/** The station's configuration as its API writes it. */

export interface Knobs {
  BUFFER_MAX: number;
  REFRESH_FRACTION: number;
  MUSIC_FRESH_MS: number;
  COOLDOWN_PERIOD: number;
  ELEMENT_COOLDOWN: number;
  SIG_JINGLE_MIN_SLOTS: number;
  SIG_JINGLE_MAX_SLOTS: number;
  MUSIC_MIN_MS: number;
  ARTIST_GAP_MS: number;
  TITLE_GAP_MS: number;
  ALBUM_GAP_MS: number;
  MIN_REST_MS: number;
  MAX_PLAYS_DAY: number;
  SAME_HOUR: boolean;
  POST_EVERY: number;
  REQUEST_EVERY: number;
}

export interface Daypart {
  name?: string;
  /** HH:MM in the station's zone. */
  start: string;
  end: string;
  /** The one category music may come from. */
  hard?: string;
  /** Multipliers of the mix; absent is 1. */
  weights?: Record<string, number>;
}

export const weekdays = ['sat', 'sun', 'mon', 'tue', 'wed', 'thu', 'fri'] as const;
export type Weekday = (typeof weekdays)[number];

export interface Position {
  /** One of the ten, music, break or playlist. */
  category: string;
  /** Of a playlist: its name. */
  list?: string;
  count?: number;
  /** MM:SS after the hour: a timed event. */
  at?: string;
  /** Seconds. */
  tolerance?: number;
}

export interface Clock {
  name: string;
  days?: Weekday[];
  daypart?: string;
  start: string;
  end: string;
  hour: Position[];
}

export interface Config {
  ROTATION: Knobs;
  GENRE_SPLIT: Record<string, number>;
  MASHUP_CHANCE: number;
  STOCHASTIC_SFX_CHANCE: number;
  AD_EVERY: number;
  /** null is the built-in ones. */
  DAYPARTS: Daypart[] | null;
  CLOCKS: Clock[] | null;
  MOOD: string;
  SINGERS: Record<string, string[]>;
  QUERIES: Record<string, string[]>;
}

/** Answers of the routes that change it. */
export interface Changed {
  config: Config;
  /** Whether a restart would bring it. */
  saved: boolean;
  /** Whether the station saves each change as it is made. */
  keepsEdits?: boolean;
  /** Why what is in force could not be saved. */
  unsaved?: string;
  rebuilt?: boolean;
  /** By which this change is undone; missing where nothing was changed. */
  change?: number;
  /** Of an undo: settings that were changed again since, and stay. */
  left?: string[];
}

/** A change that was made, of the newest 50. */
export interface Past {
  id: number;
  at: number;
  by: string;
  /** Dotted names of settings. */
  what: string[];
  /** That it put in force; empty where it took one off. */
  mood?: string;
  undoes?: number;
  undone?: number;
}
