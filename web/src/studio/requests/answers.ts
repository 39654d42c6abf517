import type { Shown } from '../../requests/answers';

/** What the station tells the studio of requests. Times are epoch milliseconds. */

export interface StudioRequest extends Shown {
  note: string;
  /** Of the studio, with a refusal. */
  word: string;
  /** 0 while it is open. */
  closedAt: number;
}

export interface Deed {
  at: number;
  who: string;
  action: string;
  /** Id; 0 for none. */
  request: number;
  word: string;
}

export interface Desk {
  open: boolean;
  requests: StudioRequest[];
  closed: StudioRequest[];
  audit: Deed[];
}
