import type { Settings } from '../playlists/answers';

/** What the station says of bringing another system's station over. */

export const systems = ['azuracast', 'libretime'] as const;
export type System = (typeof systems)[number];

export interface Said {
  en: string;
  ar: string;
}

/** A backup that is at the station. */
export interface Held {
  /** What it is called in orders. */
  file: string;
  name: string;
  size: number;
}

/** What becomes of a thing. */
export type Do = 'bring' | 'there' | 'not';

interface Thing {
  do: Do;
  notes?: Said[] | null;
  why?: Said | null;
}

export interface PlanList extends Thing, Pick<Settings, 'name' | 'kind' | 'order' | 'plays' | 'share' | 'everySongs' | 'minute' | 'on'> {
  /** Its name in the source, where it gets another. */
  was?: string;
  when?: Settings['when'] | null;
  /** How many songs it gets. */
  tracks: number;
}

export interface PlanPerson extends Thing {
  login: string;
  name: string;
}

export interface PlanHook extends Thing {
  name: string;
  type: string;
  address?: string;
  off?: boolean;
}

/** What an import would do. */
export interface Plan {
  /** As it calls itself. */
  system: string;
  version?: string;
  /** Of the station there. */
  name: string;
  /** Its other stations. */
  others?: string[] | null;
  tracks: { bring: number; there: number; not: number; bytes: number };
  playlists?: PlanList[] | null;
  people?: PlanPerson[] | null;
  webhooks?: PlanHook[] | null;
  left?: { kind: string; count?: number; why: Said }[] | null;
  /** The first of the songs that do not come. */
  notTracks?: { from: string; why?: Said | null }[] | null;
  warnings?: Said[] | null;
  /** How long the lists are: they are cut. */
  counts?: Record<string, number>;
}

/** What an import did, also where it stopped. */
export interface Report {
  copied: number;
  there: number;
  noted: number;
  playlists: number;
  items: number;
  invited?: { login: string; until: number }[] | null;
  /** Servers of those that were made. */
  webhooks?: string[] | null;
  not?: { stage: string; what: string; why: Said }[] | null;
  stopped: boolean;
  counts?: Record<string, number>;
}

/** What imports gave within a day, for owners alone: no job tells it. */
export interface Secrets {
  invited?: { login: string; token: string; until: number }[] | null;
  webhooks?: { address: string; secret: string }[] | null;
}

/** The parts of an import, in their order. */
export const stages = ['files', 'notes', 'playlists', 'people', 'webhooks'] as const;
