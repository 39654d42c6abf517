/** What the station answers of listeners' requests. Times are epoch milliseconds; names and titles are written by others. */

export type Standing = 'waiting' | 'planned' | 'aired' | 'refused' | 'expired' | 'cancelled';

/** A request as everybody may see it. */
export interface Shown {
  id: number;
  file: string;
  title: string;
  artist: string;
  name: string;
  at: number;
  status: Standing;
  /** 0 while it is unknown. */
  expectedAt: number;
  /** 0 before. */
  airedAt: number;
}

/** The same for one listener. */
export interface Asked extends Shown {
  mine: boolean;
  /** Of one's own. */
  note?: string;
  /** Of the studio, with a refusal of one's own. */
  word?: string;
}

/** Payload of the event requests. */
export interface Told {
  open: boolean;
  requests: Shown[] | null;
}

export interface Limits {
  everyMs: number;
  perDay: number;
  queue: number;
  /** From when this listener may ask again; 0 for now. */
  nextAt: number;
}

export interface Look {
  enabled: boolean;
  open: boolean;
  requests: Asked[] | null;
  limits: Limits;
}

/** Whether a song may be asked for, or the rule that stands against it. */
export interface Verdict {
  allowed: boolean;
  code?: string;
  en?: string;
  ar?: string;
  /** From when it may be, or when it comes; missing while that is unknown. */
  at?: number;
}

export interface Track {
  file: string;
  title: string;
  artist: string;
  category: string;
  duration: number;
  request: Verdict;
}

export interface Page {
  tracks: Track[] | null;
  total: number;
  offset: number;
}
