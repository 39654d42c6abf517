/** What the station answers of its listeners. Times are epoch milliseconds. */

import type { Message, RoomState } from '../../live/words';

export type By = 'minute' | 'hour' | 'day';

export interface Point {
  at: number;
  listeners: { average: number; min: number; max: number };
}

export interface Found extends Message {
  state: 'shown' | 'hidden' | 'deleted';
  device?: string;
}

export interface Sanction {
  id: number;
  kind: 'mute' | 'shadow' | 'ban';
  name: string;
  reason: string;
  at: number;
  until: number;
}

export interface Word {
  word: string;
  action: 'block' | 'star';
  stem?: boolean;
}

export interface Deed {
  id: number;
  at: number;
  who: string;
  action: string;
  target: string;
}

export interface KeptRoom extends RoomState {
  room: string;
  name: string;
}

export interface Hook {
  id: string;
  url: string;
  events: string[];
  enabled: boolean;
  note?: string;
  failingSince?: number;
  waiting: number;
  secret?: string;
}

export interface HookEvent {
  name: string;
  doc: string;
}

export interface Delivery {
  id: string;
  event: string;
  at: number;
  state: 'waiting' | 'delivered' | 'failed' | 'dropped';
  attempts: { attempt: number; at: number; status: number; durationMs: number; error?: string }[];
}

export interface Sentence {
  of: string;
  kind: 'mute' | 'ban';
  minutes: number;
  reason: string;
  shadow: boolean;
  address: boolean;
}

/** One thing that was on the air, and who listened; without listeners where nobody counted. */
export interface Airing {
  startedAt: number;
  endedAt?: number;
  seconds: number;
  title: string;
  artist: string;
  file: string;
  category: string;
  type: string;
  kind: 'rotation' | 'live' | 'emergency';
  listeners?: { start: number; average: number; end: number };
  tuneIns: number;
  tuneOuts: number;
  listenerHours: number;
}

export interface Purge {
  of: string;
  minutes: number;
  address: boolean;
}
