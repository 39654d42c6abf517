/** What the station says of its podcasts, as its operators get it; times are epoch milliseconds. */

import type { Chapter, Episode } from '../../podcasts/answers';

export type { Chapter };

export const kinds = ['live', 'bulletins', 'posts', 'library'] as const;
export type Kind = (typeof kinds)[number];

/** What an operator writes of a show (internal/podcast.Own). */
export interface Own {
  slug: string;
  on: boolean;
  title: string;
  description: string;
  language: string;
  /** Empty: the station's name. */
  author: string;
  email: string;
  copyright: string;
  /** One to three of Apple's: Music, or News > Daily News. */
  categories: readonly string[];
  explicit: boolean;
  serial: boolean;
  locked: boolean;
  from: {
    kind: Kind;
    /** Of live: ids; empty: all. */
    streams: readonly string[];
    /** Of posts; empty: song and mashup. */
    types: readonly string[];
    /** Seconds. */
    shortest: number;
  };
  held: boolean;
  /** 0 is no bound. */
  keep: Keep;
}

export interface Keep {
  episodes: number;
  days: number;
  megabytes: number;
}

export interface OwnShow {
  own: Own;
  version: number;
  guid: string;
  cover: string;
  ownCover: boolean;
  feed: string;
  page: string;
  episodes: number;
  latest: number;
  bytes: number;
  createdAt: number;
  /** 0: it is there. */
  removedAt: number;
  states: Partial<Record<State, number>>;
}

export const states = ['making', 'failed', 'held', 'published', 'hidden', 'removed'] as const;
export type State = (typeof states)[number];

export interface OwnEpisode extends Episode {
  state: State;
  problem: string;
  /** Empty: there are no words for it. */
  problemAr: string;
  source: { kind: Kind; key: string };
  downloads: number;
  /** On average as it was live; below 0: nobody counted. */
  listeners: number;
  pinned: boolean;
  removedAt: number;
  /** Address with a ticket: it plays for some hours. */
  listen: string;
}

export interface Edit {
  title?: string;
  summary?: string;
  creator?: string;
  chapters?: readonly Chapter[];
  explicit?: boolean;
  pinned?: boolean;
  /** published or hidden. */
  state?: State;
}

/** What an episode could be made of. */
export interface Offer {
  key: string;
  title: string;
  creator: string;
  beganAt: number;
  durationMs: number;
}

export interface ShowsAnswer {
  shows: OwnShow[];
  /** Apple's, those of a second level as "A > B". */
  categories: string[];
  bytes: number;
  mostBytes: number;
  kinds: string[];
}

/** What is removed comes back within these days. */
export const daysToRestore = 7;
/** The most of each text, in characters, as the station has it (internal/podcast/own.go). */
export const most = { title: 200, description: 4000, slug: 64, author: 200, email: 254, copyright: 200, categories: 3, episodeTitle: 200, summary: 4000, creator: 200, chapters: 500, chapterTitle: 200 } as const;
