/** The shapes of /api/podcasts. Times are epoch milliseconds, addresses paths of the station. */

export interface Show {
  slug: string;
  title: string;
  description: string;
  /** Of its episodes, as ar or en. */
  language: string;
  author: string;
  categories: string[];
  explicit: boolean;
  /** To be heard in order, the oldest first. */
  serial: boolean;
  copyright: string;
  kind: string;
  cover: string;
  feed: string;
  page: string;
  episodes: number;
  /** 0: there is none yet. */
  latest: number;
  /** It is on the air now. */
  live: boolean;
}

export interface Chapter {
  startMs: number;
  title: string;
  artist: string;
}

export interface Episode {
  id: string;
  show: string;
  number: number;
  title: string;
  summary: string;
  artist: string;
  creator: string;
  publishedAt: number;
  beganAt: number;
  durationMs: number;
  bytes: number;
  audio: string;
  page: string;
  cover: string;
  explicit: boolean;
  /** Of lists: empty. */
  chapters: readonly Chapter[];
  /** What is said, word by word; of lists: empty. */
  text: string;
}

/** Of GET /api/podcasts/{show}/episodes. */
export interface Part {
  episodes: Episode[];
  /** `before` of the next part; 0: there is none. */
  next: number;
}

/** Of GET /api/podcasts/{show}/episodes/{id}. */
export interface EpisodePage {
  show: Show;
  episode: Episode;
  newer?: Episode;
  older?: Episode;
}
