/** What the live routes answer (docs/live-control.md). Times are epoch milliseconds. */

export type Mode = 'replace' | 'over';

export interface Stream {
  id: string;
  url: string;
  title: string;
  creator: string;
  listeners: number;
  votes: number;
  ingest: string;
  addedAt: number;
  /** 0: never yet. */
  lastLiveAt: number;
}

export interface Entry extends Stream {
  /** It may be put on the air now: somebody sends it, or the station fetches it. */
  available: boolean;
  /** It is left out of the ranking; until 0: until the order is taken back. */
  blacklisted?: { failures: number; until: number; byOrder: boolean };
}

export interface Active extends Stream {
  mode: Mode;
  since: number;
  /** It is heard. */
  onAir: boolean;
  /** Name of the account that sends it; empty: none. */
  publisher: string;
}

export type SourceState = 'connecting' | 'ready' | 'waiting' | 'on air' | 'grace' | 'gone';

export interface Source {
  id: string;
  url: string;
  title: string;
  creator: string;
  state: SourceState;
  since: number;
  /** The highest sample of the last half second; -120 for none. */
  peakDbfs: number;
  lufs: number;
  gainDb: number;
  silentMs: number;
  bufferedMs: number;
  why?: string;
}

export interface Session {
  id: string;
  publisher: string;
  name: string;
  title: string;
  state: string;
  /** It feeds the pipe; others wait. */
  holds: boolean;
  since: number;
  muted: boolean;
  rttMs: number;
  jitterMs: number;
  lossPct: number;
  frames: number;
  concealed: number;
  peakDbfs: number;
  relayed: boolean;
}

/** An encoder that is connected. */
export interface Encoder {
  session: string;
  /** Id of what it sends. */
  stream: string;
  protocol: 'source' | 'rtmp';
  publisher: string;
  name: string;
  since: number;
  /** Until when it does not take the air by itself; 0: it is not held. */
  heldUntil: number;
}

export interface Entrances {
  /** Empty: the settings do not say where presenters find it. */
  goLive: string;
  whip: number;
  /** Port whip speaks https. */
  secure: boolean;
  source: number;
  rtmp: number;
}

export interface LiveState {
  registry: Entry[];
  active?: Active;
  /** Live audio is heard. */
  onAir: boolean;
  show?: { title: string; until: number; bed?: string };
  wrapUpAt: number;
}

export interface LiveStatus extends LiveState {
  next: string;
  sources: Source[];
  sessions: Session[];
  encoders: Encoder[];
  ended?: { id: string; at: number; why: string; failed: boolean; next?: string };
  recording?: { name: string; since: number; bytes: number; problem?: string };
  harbor: boolean;
  desk: boolean;
  phones: boolean;
  listeners: number;
  entrances: Entrances;
  now: number;
}

export const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

export interface Slot {
  day: (typeof days)[number];
  from: string;
  to: string;
}

/** What an operator sets of an account. */
export interface PublisherOrder {
  name: string;
  show: string;
  /** 0: no limit. */
  from: number;
  until: number;
  slots: Slot[];
  grace: number;
  auto: boolean;
}

export interface Publisher extends PublisherOrder {
  id: string;
  revoked: boolean;
  createdAt: number;
  lastLiveAt: number;
  /** In the answer that made it, and in no other. */
  secret?: string;
}

export interface Recording {
  name: string;
  stream: string;
  title: string;
  creator: string;
  startedAt: number;
  durationMs: number;
  bytes: number;
  running: boolean;
  problem: string;
  /** Most 0: only the average was kept. */
  listeners?: { average: number; most: number };
}
