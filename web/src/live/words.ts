/** What the station's event transport says and takes. Times are epoch milliseconds; all of it is written by others. */

import type { Told } from '../requests/answers';
import type { SocialEvent } from '../social/post';
import type { AirState, NowPlaying, Played, Status } from '../station/api';

/** A change of what is on: true from programTime on, which the ear reaches later. */
export interface StatusEvent {
  channel: string;
  nowPlaying: NowPlaying;
  track?: Played | null;
  /** The last ten tracks, newest first; missing where there are none. */
  history?: Played[] | null;
  state: AirState;
  programTime: number;
  /** These are missing where the station is of a version before. */
  station?: Status['station'];
  onAir?: boolean;
  reason?: string;
  hls?: Status['hls'];
  /** While the library is taken in for the first time. */
  library?: { ready: number; unready: number };
}

export interface Comment {
  /** c and a number that grows. */
  id: string;
  name: string;
  text: string;
  at: number;
  staff?: boolean;
}

export type MessageType = 'text' | 'voice' | 'image' | 'admin';

export interface Message {
  /** m and a number that grows. */
  id: string;
  user: string;
  text: string;
  room: string;
  type: MessageType;
  url?: string;
  mime?: string;
  durationMs?: number;
  width?: number;
  height?: number;
  at: number;
  staff?: boolean;
  reactions?: Counts | null;
}

export type Counts = Record<string, number>;

export const vibes = ['chill', 'romantic', 'tarab', 'party', 'energy', 'focus'] as const;
export type Vibe = (typeof vibes)[number];

export interface Stats {
  /** Counted by the server that source names; breakdown counts everyone. */
  listeners: number;
  breakdown: { hls: number; stream: number; icecast: number; total: number };
  bandwidth: number;
  source: string;
  at: number;
  /** The station's clock as it was sent; missing where the station is of a version before. */
  serverTime?: number;
  history: { at: number; listeners: number; bandwidth: number }[];
}

/** A room's rules: seconds between two messages of one writer, closed or open, links allowed or not. */
export interface RoomState {
  room?: string;
  slow: number;
  closed: boolean;
  links: boolean;
}

/** What entering a room answers. */
export interface Joined {
  room: string;
  history: Message[] | null;
  state: RoomState;
  members: number;
  /** One's name as the station understood it. */
  name: string;
  /** What the newcomer alone is told. */
  welcome?: Message;
}

/** Whether the sending server reaches the station, and since when. */
export interface Hearing {
  up: boolean;
  since: number;
}

export interface Events {
  status: StatusEvent;
  new_comment: Comment;
  interaction: { type: string; vibe: string; counts: Counts };
  message: Message;
  stream_error: { message: string };
  stats_update: Stats;
  timeline_update: unknown;
  reactions: { counts: Counts; changed: Counts };
  votes: { votes: Counts };
  /** Who is connected, and how many are in each chat room. */
  presence: { clients: number; rooms: Counts };
  message_reaction: { msgId: string; room: string; emoji: string; count: number; counts: Counts };
  message_deleted: { id: string; room?: string };
  chat_state: RoomState;
  /** From the dead-air guard; the one sent on joining may be old. */
  alert: { kind: string; state: 'raised' | 'cleared'; text: string; at: number };
  /** Listeners' posts that wait, after each change that only moderators see. */
  social_queue: { pending: number; processing: number };
  /** A listener's post changed for everybody; post is what everybody may see of it. */
  social_post: SocialEvent;
  /** The queue of listeners' requests, after each change. */
  requests: Told;
  /** Sent by a server that lost the station for ten seconds, and again when it is back. */
  link: Hearing;
}

/** Requests and their acknowledgements; a write carries an id of the client's choice. */
export interface Asks {
  join_channel: [takes: string, gives: { channel: string }];
  leave_channel: [takes: string, gives: { channel: string }];
  send_comment: [takes: { name: string; text: string; id: string }, gives: { comment: Comment }];
  join: [takes: { name: string; room: string }, gives: Joined];
  sendMessage: [takes: { room: string; user: string; type: 'text' | 'voice' | 'image'; text: string; data?: string; id: string }, gives: { message: Message }];
  start_stream: [takes: { type: string }, gives: object];
  audio_data: [takes: ArrayBuffer, gives: { bytes: number }];
  stop_stream: [takes: object, gives: object];
  reaction: [takes: { msgId: string; emoji: string; user: string; on: boolean }, gives: { counts: Counts }];
}
