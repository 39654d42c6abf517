import type { Item } from '../../station/api';

/** An entry that is still to come, as an edit by hand meets it. */
export interface Coming extends Item {
  /** Within the rotation that the version names; it stays while entries are heard. */
  position: number;
  expectedAt?: number;
  /** It was put there by hand. */
  hand?: boolean;
  guest?: 'post' | 'request';
  list?: number;
  listName?: string;
  due?: number;
  relaxed?: { rule: string }[];
  /** No rebuild takes it away. */
  locked?: boolean;
  /** The playout engine has it open: it airs where it is. */
  opened?: boolean;
  /** A bulletin is made for the place before it. */
  afterNews?: boolean;
}

/** The last edit, as long as it can be taken back. */
export interface Back {
  id: string;
  what: Op;
  /** What it was about, where it was about one entry. */
  title?: string;
  at: number;
  by?: string;
}

export interface QueueAnswer {
  version: string;
  /** How many entries from the first are held. */
  held: number;
  /** So many may be held. */
  most?: number;
  heldBy?: string;
  undo?: Back | null;
  entries: Coming[];
}

/** A rule that the new order breaks and the present one does not, or the other way round. */
export interface Break {
  position: number;
  file: string;
  title: string;
  rule: string;
  /** In the station's own words. */
  detail?: string;
  /** Where the station names them. */
  artist?: string;
  category?: string;
  /** How late a timed event would be; early where it is negative. */
  lateMs?: number;
  /** When it is due. */
  due?: number;
  /** How long after the other airing, and what that is. */
  afterMs?: number;
  other?: string;
}

export interface Verdict {
  breaks: Break[];
  lifts: Break[];
}

export interface Edited extends QueueAnswer {
  breaks?: Break[];
  deed?: { id: string };
}

export type Op = 'move' | 'remove' | 'insert' | 'lock' | 'release';

/** An edit as the station takes it; its positions are of one version. */
export interface Order {
  op: Op;
  position?: number;
  /** The position before which it goes. */
  to?: number;
  file?: string;
}

/** A track that is put into the queue. */
export interface Song {
  file: string;
  title: string;
  artist: string;
  category: string;
  type?: string;
  durationMs?: number;
}
