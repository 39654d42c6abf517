/** What the station answers of its listeners. Times are epoch milliseconds. */

import type { Message, RoomState } from '../../live/words';

export type By = 'minute' | 'hour' | 'day';

export interface Point {
  at: number;
  listeners: { average: number; min: number; max: number };
  tuneIns: number;
  tuneOuts: number;
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

/** One track over a span of time. */
export interface TrackFigures {
  file: string;
  title: string;
  artist: string;
  category: string;
  plays: number;
  seconds: number;
  /** Plays during which somebody counted. */
  counted: number;
  listenerHours: number;
  /** Listeners when it began, on average. */
  startAverage: number;
  tuneIns: number;
  tuneOuts: number;
  /** Who were there or came, over those of its plays that ended and were counted. */
  reached: number;
  /** 0 to 1, of those: who had not left by its end. Missing where nobody was counted. */
  kept?: number;
}

export interface TrackList {
  from: number;
  to: number;
  tracks: TrackFigures[];
  total: number;
}

export interface Part {
  listenerHours: number;
  /** 0 to 1. */
  share: number;
}

/** By what and from where people listen: sums alone. */
export interface Crowd {
  timezone: string;
  devices: (Part & { name: string })[];
  countries: (Part & { code: string })[];
  ways: (Part & { name: string })[];
  geo: { on: boolean; file?: string; builtAt?: number; problem?: string };
  /** Since when devices and countries are counted; missing where they have not been yet. */
  since?: number;
}

export const lacks = ['isrc', 'album', 'label', 'artist'] as const;
export type Lack = (typeof lacks)[number];

export interface RoyaltyRow {
  title: string;
  artist: string;
  album: string;
  isrc: string;
  label: string;
  plays: number;
  seconds: number;
  listenerHours: number;
  performances: number;
}

/** What aired in a month, as rights organisations ask for it. */
export interface Royalties {
  month: string;
  timezone: string;
  plays: number;
  listenerHours: number;
  /** On the air while nobody counted. */
  uncountedSeconds: number;
  missing: Record<Lack, number>;
  rows: RoyaltyRow[];
}

export interface Purge {
  of: string;
  minutes: number;
  address: boolean;
}
