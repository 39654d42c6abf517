import type { Played } from '../station/api';

/** One thing that was on the air; without a file, as a live show, it has no id. */
export interface Aired extends Played {
  album?: string;
}

/** Of GET /api/history. */
export interface Part {
  tracks: Aired[];
  /** Where the next part begins, in the direction that was asked for; 0: there is none. */
  next: number;
  /** How far back the station looks. */
  from: number;
}

/** Of GET /api/tracks/{id}. */
export interface TrackPage {
  track: Aired & { id: string };
  airings: number[];
  nextAt?: number;
  requestable: boolean;
}
