/** What the station answers to moderators of listeners' posts. Times are epoch milliseconds, lengths milliseconds. */

export const types = ['song', 'mashup', 'ads', 'jingles', 'sweepers', 'voice', 'sfx'] as const;
export type PostType = (typeof types)[number];

export type Status = 'processing' | 'pending' | 'approved' | 'rejected' | 'failed';

/** Why a post stands where it does, with the station's words in both languages. */
export interface Reason {
  code: string;
  en: string;
  ar: string;
  note?: string;
}

export interface Entry {
  at: number;
  who: string;
  action: string;
  detail?: string;
}

/** Another recording that is like it: of the library where it has a file, else a post. */
export interface Duplicate {
  file?: string;
  post?: number;
  title: string;
  artist: string;
  /** 0 is the same recording; 1 is another one, of which only the name is alike. */
  difference: number;
  sameName: boolean;
  status?: string;
  /** Where moderators hear it. */
  audio: string;
}

export interface Submitter {
  id: string;
  posts: number;
  approved: number;
  rejected: number;
  trusted: boolean;
  blocked: boolean;
}

export interface Loudness {
  /** LUFS of the mastered copy. */
  integrated: number;
  /** dBTP of the mastered copy. */
  truePeak: number;
  /** dB that mastering added. */
  gain: number;
  /** LUFS of what was sent. */
  source: number;
}

export interface Post {
  id: number;
  type: string;
  category: string;
  title: string;
  artist: string;
  description: string;
  tags: readonly string[] | null;
  createdBy: string;
  status: Status;
  createdAt: number;
  approvedAt?: number;
  duration: number;
  page: string;
  audio?: string;
  /** Where its picture is; missing without one. */
  cover?: string;
  reason?: Reason | null;
  stage?: string;
  progress?: number;
  tries?: number;
  nextTryAt?: number;
  /** Missing before it is mastered. */
  loudness?: Loudness | null;
  file?: string;
  submitter?: Submitter | null;
  duplicates?: readonly Duplicate[] | null;
  history?: readonly Entry[] | null;
  reports?: readonly { at: number; why: string; text?: string }[] | null;
  appeal?: string;
  notes?: readonly string[] | null;
  /** While listeners vote on it: the votes that approve it, and those it has. */
  candidate?: { needed: number; has: number } | null;
  /** The text that the submitter confirmed. */
  rights?: string;
  /** Where the loudest ten seconds begin. */
  loudestAt?: number;
  /** 0 to 1 along the length; only of a single post. */
  peaks?: readonly number[] | null;
  /** Columns over time of levels from the lowest band up, 0 to 255; only of a single post. */
  spectrum?: readonly (readonly number[])[] | null;
}

export interface Page {
  posts: Post[] | null;
  next: string;
  total: number;
}

export interface SocialStatus {
  enabled: boolean;
  /** Whether social_admin_key is set. */
  adminKey: boolean;
  /** Votes by which listeners approve music; 0 where they are not asked. */
  approveVotes?: number;
  /** Length windows, seconds. */
  types?: Record<string, { min: number; max: number; category: string }> | null;
  queue?: { processing: number; pending: number; failed: number; oldestPendingAt: number } | null;
  /** Those a moderator may choose from. */
  reasons?: readonly { code: string; en: string; ar: string }[] | null;
}

export type Deed = 'approve' | 'reject' | 'hold' | 'process' | 'review';

export interface Order {
  deed: Deed;
  code?: string;
  note?: string;
}

export interface Refused {
  id: number;
  detail: string;
}

/** What several at once came to. */
export interface Decided {
  done: Post[] | null;
  refused: Refused[] | null;
}
