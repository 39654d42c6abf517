/** What the station's production routes answer. Times are epoch milliseconds, 0 for never. */

export type JobState = 'queued' | 'running' | 'done' | 'failed' | 'cancelled' | 'interrupted';

export interface Job {
  id: string;
  kind: string;
  lane: string;
  state: JobState;
  queuedAt: number;
  startedAt: number;
  endedAt: number;
  /** total 0: not known yet. */
  progress: { step: string; detail: string; done: number; total: number };
  /** The list of jobs leaves out log and result. */
  log?: { at: number; text: string }[] | null;
  result?: unknown;
  error?: string;
}

export interface Segment {
  kind: string;
  text: string;
  voice: string;
  /** Why it was left out; empty when it is there. */
  problem: string;
}

export interface BulletinStatus {
  latest: string;
  latestAt: number;
  headlines: string[] | null;
  headlinesProblem: string;
  sentence: string;
  making: boolean;
  segments: Segment[] | null;
  triedAt: number;
  error: string;
  /** 0: none by itself. */
  everyHours: number;
}

export interface BulletinMade {
  file: string;
  at: number;
  durationMs: number;
  lufs: number;
  dbtp: number;
  segments: Segment[] | null;
  archived: number;
  problem: string;
}

export interface Sentence {
  kind: string;
  text: string;
}

/** What a bulletin would say. */
export interface BulletinScript {
  at: number;
  text: string;
  sentences: Sentence[];
  /** Said where there is time left, in this order. */
  spares: Sentence[];
  missing: Segment[];
  /** Headlines after the third. */
  waiting: number;
}

/** A bulletin that was spoken for the operator alone. */
export interface BulletinRehearsed {
  /** Empty where there is no sound. */
  id: string;
  at: number;
  /** Until then it is kept. */
  until: number;
  durationMs: number;
  text: string;
  sentences: Sentence[];
  missing: Segment[];
  /** Why there is none. */
  reason?: { code: string; en: string; ar: string; detail: string };
}

export interface Asset {
  file: string;
  kind: string;
  design?: string;
  text?: string;
  voice?: string;
  song?: string;
  durationMs: number;
  lufs: number;
  dbtp: number;
}

export interface ImagingMade {
  made: Asset[] | null;
  failed: { kind: string; design?: string; error: string }[] | null;
  archived: number;
  /** On air or about to be: archived another time. */
  kept: number;
  problem: string;
}

export interface Count {
  wanted: number;
  added: number;
  refused: number;
  refusals?: Record<string, number>;
  failed: number;
  archived: number;
  kept: number;
  restored: number;
}

export interface Trouble {
  step: string;
  text: string;
}

export interface Run {
  trigger: string;
  startedAt: number;
  tookMs: number;
  categories: Record<string, Count> | null;
  imaging: number;
  restored?: Restored;
  problems: Trouble[] | null;
  cancelled: boolean;
}

export interface Restored {
  total: number;
  missing: string[] | null;
  inTheWay: string[] | null;
}

export interface Plan {
  inbox: string[] | null;
  fetch: { category: string; source: string; title: string; artist: string; license: string }[] | null;
  archive: { file: string; reason: string }[] | null;
  kept: string[] | null;
  restore: string[] | null;
  problems: Trouble[] | null;
}

export interface Scrubbed {
  category: string;
  dryRun: boolean;
  checked: number;
  junk: { file: string; reason: string; why: string }[] | null;
  archived: string[] | null;
  kept: string[] | null;
  problems: string[] | null;
}

export interface Holding {
  tracks: number;
  minutes: number;
  fetched: number;
  archived: number;
  /** Not planned any more, archived once they are off the air. */
  leaving: number;
}

export interface Health {
  name: string;
  lastOk: number;
  lastError: string;
  errorAt: number;
  /** It cannot work here at all; lastError names the remedy. */
  unavailable: boolean;
}

export interface ContentStatus {
  categories: Record<string, Holding>;
  lastRun?: Run;
  /** 0: not by itself. */
  nextRunAt: number;
  sources: Health[] | null;
  disk: { free: number; total: number; low: boolean; archiveFiles: number; archiveBytes: number };
}
