/** What the station says of listeners' posts. Times are epoch milliseconds, durations milliseconds; all words in it are written by others. */

export const kinds = ['song', 'mashup', 'voice', 'sweepers', 'jingles', 'ads', 'sfx'] as const;
export type Kind = (typeof kinds)[number];

/** Reactions in the order they are shown, each with its picture. */
export const reactions = { like: '👍', love: '❤️', fire: '🔥', laugh: '😂', wow: '😮', sad: '😢' } as const;
export type Reaction = keyof typeof reactions;
export const reactionKinds = Object.keys(reactions) as Reaction[];

export type Vote = 1 | 0 | -1;

export const sorts = ['new', 'top', 'rising', 'aired'] as const;
export type Sort = (typeof sorts)[number];

export const complaints = ['rights', 'offensive', 'spam', 'quality', 'other'] as const;
export type Complaint = (typeof complaints)[number];

export interface Reason {
  code: string;
  en: string;
  ar: string;
  note?: string;
}

export interface Score {
  total: number;
  quality: number;
  exploration: number;
  freshness: number;
  reactions: number;
  votesUp: number;
  votesDown: number;
}

export interface Post {
  id: number;
  type: Kind;
  title: string;
  artist: string;
  description?: string;
  tags?: string[] | null;
  createdBy: string;
  status: 'processing' | 'pending' | 'approved' | 'rejected' | 'failed';
  createdAt: number;
  approvedAt: number;
  duration: number;
  votes: { up: number; down: number; mine: Vote };
  reactions: Partial<Record<Reaction, number>>;
  reacted?: Reaction[] | null;
  plays: number;
  lastPlayedAt: number;
  nextAt: number;
  onAir: boolean;
  score?: Score | null;
  /** Of a song that no moderator has judged yet and listeners vote on: the votes that it takes, and those it has. */
  candidate?: { needed: number; has: number } | null;
  audio: string;
  cover: string;
  /** How loud it is along its length, 0 to 1; not in lists. */
  peaks?: number[] | null;
  /** In the chart alone. */
  place?: number;
  /** For its owner alone, as is all that follows. */
  reason?: Reason | null;
  stage?: '' | 'queued' | 'fetching' | 'checking' | 'comparing' | 'mastering';
  progress?: number;
  nextTryAt?: number;
  appeal?: string;
}

/** What the station takes, and how much of it. Lengths are seconds. */
export interface Status {
  enabled: boolean;
  types: Partial<Record<Kind, { min: number; max: number }>>;
  rights: { en: string; ar: string };
  limits: { perHour: number; megabytes: number };
  /** Votes by which listeners choose a song; none where they are not asked. */
  approveVotes?: number;
  /** Why a moderator may refuse a post. */
  reasons?: Reason[];
  /** Whether it tells a post's owner by push; a station that cannot does not say so. */
  push?: boolean;
}

/** What travels with a sound. */
export interface Draft {
  type: Kind;
  title: string;
  artist: string;
  description: string;
  tags: string[];
  createdBy: string;
}

/** An owner's hold on a post: the address that carries both opens it on another device. */
export interface Owned {
  id: number;
  token: string;
}

export interface SocialEvent {
  id: number;
  action: 'approved' | 'changed' | 'removed' | 'aired' | 'candidate';
  post: Post | null;
}

/** A post as it shows with one's own vote, before the station has counted it. */
export function withVote(post: Post, mine: Vote): Post {
  const { up, down, mine: was } = post.votes;
  return { ...post, votes: { up: up + Number(mine === 1) - Number(was === 1), down: down + Number(mine === -1) - Number(was === -1), mine } };
}

/** The same with one's own reaction. */
export function withReaction(post: Post, kind: Reaction, on: boolean): Post {
  const reacted = post.reacted ?? [];
  if (reacted.includes(kind) === on) return post;
  const n = Math.max(0, (post.reactions[kind] ?? 0) + (on ? 1 : -1));
  return { ...post, reactions: { ...post.reactions, [kind]: n }, reacted: on ? [...reacted, kind] : reacted.filter((other) => other !== kind) };
}

/** What everybody is told of a post names nobody's own vote, and lists have no peaks: both are kept from what was known. */
export function told(fresh: Post, known: Post | undefined): Post {
  if (!known) return fresh;
  return { ...fresh, votes: { ...fresh.votes, mine: known.votes.mine }, reacted: known.reacted ?? [], peaks: fresh.peaks ?? known.peaks ?? null };
}

/** Whether a sound fits the window of its type, with a quarter of a second for how it was measured. */
export function fits(ms: number, window: { min: number; max: number } | undefined): 'short' | 'fits' | 'long' {
  if (!window || !(ms > 0)) return 'fits';
  if (ms < window.min * 1000 - 250) return 'short';
  return ms > window.max * 1000 + 250 ? 'long' : 'fits';
}

/** Tags as they are typed, by commas of either script; at most eight. */
export function tagsOf(text: string): string[] {
  const all = text.split(/[,،#\n]/).map((tag) => tag.trim().slice(0, 30)).filter(Boolean);
  return [...new Set(all)].slice(0, 8);
}

/** Where a post stands on its way, as its owner sees it. */
export type Step = 'queued' | 'fetching' | 'checking' | 'comparing' | 'mastering' | 'failed' | 'pending' | 'voted' | 'held' | 'reported' | 'approved' | 'onair' | 'rejected' | 'withdrawn';

export function stepOf(post: Post): Step {
  const code = post.reason?.code ?? '';
  if (post.status === 'processing') return post.stage || 'queued';
  if (post.status === 'pending') return code === 'held' || code === 'reported' ? code : post.candidate ? 'voted' : 'pending';
  if (post.status === 'approved') return post.onAir ? 'onair' : 'approved';
  if (post.status === 'rejected') return code === 'withdrawn' ? 'withdrawn' : 'rejected';
  return 'failed';
}

/** Steps that change by themselves soon. */
export function moving(step: Step): boolean {
  return ['queued', 'fetching', 'checking', 'comparing', 'mastering', 'failed'].includes(step);
}
