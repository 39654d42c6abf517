/** The shapes of the station's HTTP API that the pages read. Times are epoch milliseconds. */

export type Category =
  | 'arabic_hits'
  | 'english'
  | 'mashups'
  | 'ads'
  | 'jingles'
  | 'sweepers'
  | 'sfx'
  | 'shorts'
  | 'news'
  | 'social';

export const categories: readonly Category[] = [
  'arabic_hits',
  'english',
  'mashups',
  'social',
  'shorts',
  'news',
  'ads',
  'jingles',
  'sweepers',
  'sfx',
];

export interface Item {
  /** In addresses, /track/{id}; missing where the station is of a version before. */
  id?: string;
  title: string;
  artist: string;
  file: string;
  category: string;
  type: string;
  durationMs: number;
  license?: string;
  /** Id of its picture, of /api/library/covers/{id}. */
  cover?: string;
  /** Whether /api/tracks/{id}/lyrics has words. */
  lyrics?: boolean;
}

/** A listener's post that is on the air. */
export interface AirPost {
  id: number;
  /** The name that its submitter gave. */
  by: string;
  page: string;
}

export interface Played extends Item {
  startedAt: number;
  /** Where it is a listener's post. */
  post?: AirPost;
}

export interface NowPlaying {
  title: string;
  artist: string;
  file: string;
  post?: AirPost | null;
}

export interface Queued extends Item {
  expectedAt: number;
  votes?: number;
}

export interface Passed {
  rule: string;
  count: number;
  /** File of one of them. */
  example?: string;
}

/** How an entry came to be chosen. */
export interface Why {
  reason: string;
  wanted: string;
  considered: number;
  passedOver: Passed[] | null;
}

export interface Planned extends Item {
  position: number;
  onAir: boolean;
  aired: boolean;
  /** Why it could not be aired, of an entry that was passed over. */
  failed?: string;
  /** A bulletin belongs before it and is still to be made. */
  afterNews?: boolean;
  expectedAt?: number;
  /** When a timed event of a clock should start. */
  due?: number;
  /** Name of the clock that laid it out. */
  clock?: string;
  /** The playlist that it is of, and its name. */
  list?: number;
  listName?: string;
  /** A listener put it on the air, by a post or by a request. */
  guest?: 'post' | 'request';
  /** An operator put it there, and no rebuild takes it away. */
  hand?: boolean;
  held?: boolean;
  /** Rules that were relaxed for it. */
  relaxed?: string[];
  votes?: number;
  why?: Why;
}

export type ProcessState = 'waiting' | 'running' | 'starting' | 'backoff' | 'stopped' | 'failed';

export interface Process {
  name: string;
  state: ProcessState;
  pid?: number;
  restarts: number;
  since: number;
  lastExit?: string;
  /** How it works while it runs: well, full, starved, wedged. */
  condition?: string;
  /** The condition in words. */
  why?: string;
  /** Why it is not restarted although it does not respond. */
  spared?: string;
}

/** One fault of the output that the dead-air guard found. */
export interface Alarm {
  id?: number;
  kind: string;
  cause?: string;
  began: number;
  raised: number;
  heard?: number;
  cleared?: number;
  steps: string[] | null;
}

/** The dead-air guard as it stands. */
export interface Guard {
  state: string;
  /** What is wrong; empty while nothing is. */
  kind: string;
  since: number;
  /** Level of the last second of the output, dBFS. */
  level: number;
  /** The last step taken in the present alarm. */
  step?: string;
  lastAlarm?: Alarm | null;
}

export type AirState = 'music' | 'live' | 'emergency' | 'starting' | 'off';

/** Where the library cannot give what the configuration asks for. */
export interface PlanNote {
  kind: 'artist-share' | 'short-window' | 'empty-window';
  artist?: string;
  /** Of the music, 0 to 1. */
  share?: number;
  gapMs?: number;
  /** HH:MM */
  start?: string;
  end?: string;
  category?: string;
  songs: number;
  lengthMs?: number;
}

export interface Status {
  station: { name: string; language: string; timezone: string };
  onAir: boolean;
  state: AirState;
  /** Missing where the station is of a version before renditions. */
  hls?: { renditions: readonly number[] };
  reason?: string;
  nowPlaying?: NowPlaying | null;
  track?: Played | null;
  history?: Played[] | null;
  listeners: { total: number; hls: number; stream: number };
  source: string;
  bandwidth: { bitsPerSecond: number };
  rotation: { length: number; consumed: number; builtAt: number; daypart: string; reason: string; notes?: PlanNote[] };
  library: {
    tracks: number;
    quarantined: number;
    scanning: boolean;
    ready?: number;
    unready?: number;
    byCategory: Record<string, number> | null;
  };
  guard?: Guard;
  backup?: Backup;
  processes?: Process[] | null;
  serverTime: number;
}

/** The newest backup, with the station key. Times are epoch milliseconds, 0 for none. */
export interface Backup {
  made: number;
  file: string;
  bytes: number;
  verified: boolean;
  error: string;
  /** The copy that follows the station, where it has one. */
  continuous?: { to: string; until: number; bytes: number; waiting: number; error: string };
}

export interface Schedule {
  rotation: Planned[] | null;
  length: number;
  consumed: number;
}

export interface LibraryItem {
  file: string;
  title: string;
  artist: string;
  album: string;
  category: string;
  durationMs: number;
  license: string;
  size: number;
}

export interface Library {
  tracks: number;
  categories: Record<string, { tracks: number; durationMs: number }> | null;
  quarantined: { path: string; reason: string; since: number }[] | null;
  /** Progress of loudness mastering. */
  mastering?: { waiting: number; silent: number; leftMs: number; inWork: string; problem: string };
  /** Files that air below their loudness. */
  quieter?: { path: string; lufs: number; by: number }[];
  scanning: boolean;
  scannedAt: number;
  items: LibraryItem[] | null;
  total: number;
  offset: number;
  limit: number;
}

/** Fetches JSON from the page's own origin; rejects on any status but 2xx, and after timeoutMs. */
export async function fetchJSON<T>(path: string, timeoutMs = 8000): Promise<T> {
  const answer = await fetch(path, {
    headers: { accept: 'application/json' },
    cache: 'no-store',
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return (await answer.json()) as T;
}
