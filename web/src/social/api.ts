import { deviceId } from '../live/device';
import { ask, type Manner } from '../station/control';
import type { Complaint, Draft, Kind, Owned, Post, Reaction, Sort, Status, Vote } from './post';

export interface Query {
  sort: Sort;
  type: Kind | '';
  q: string;
}

export interface Page {
  posts: Post[] | null;
  next: string;
  total: number;
}

export interface Chart {
  from: number;
  to: number;
  posts: Post[] | null;
}

/** What the station answers to something that was sent. */
export interface Accepted {
  post: Post;
  token: string;
  link: string;
}

const at = '/api/social';
const patience = { timeoutMs: 15_000 };

/** The device tells apart listeners who share an address; the token proves an owner. */
const as = (token = ''): Manner => ({ ...patience, headers: { 'x-athir-device': deviceId(), ...(token ? { 'x-post-token': token } : {}) } });
/** The same where the answer is not looked at. */
const done = (token = ''): Manner => ({ ...as(token), read: (answer) => answer.text() });

export const api = {
  status: () => ask<Status>('GET', `${at}/status`, undefined, as()),

  /** Approved posts, or of a status that everybody may ask for. */
  posts({ sort, type, q }: Query, cursor = '', status: '' | 'candidate' = ''): Promise<Page> {
    const said = new URLSearchParams({ sort, limit: '20' });
    for (const [name, value] of Object.entries({ type, q, cursor, status })) if (value) said.set(name, value);
    return ask<Page>('GET', `${at}/posts?${said}`, undefined, as());
  },

  post: (id: number, token = '') => ask<Post>('GET', `${at}/posts/${id}`, undefined, as(token)),
  chart: () => ask<Chart>('GET', `${at}/chart`, undefined, as()),
  vote: (id: number, delta: Vote) => ask<Pick<Post, 'votes'>>('POST', `${at}/posts/${id}/vote`, { delta }, as()),
  react: (id: number, kind: Reaction, on: boolean) => ask<Pick<Post, 'reactions' | 'reacted'>>('POST', `${at}/posts/${id}/react`, { kind, on }, as()),
  report: (id: number, why: Complaint, text: string) => ask<unknown>('POST', `${at}/posts/${id}/report`, { why, text }, done()),
  withdraw: ({ id, token }: Owned) => ask<unknown>('POST', `${at}/posts/${id}/withdraw`, {}, done(token)),
  appeal: ({ id, token }: Owned, text: string) => ask<unknown>('POST', `${at}/posts/${id}/appeal`, { text }, done(token)),
  /** Has the station fetch a sound itself; the same key twice is one post. */
  fetch: (draft: Draft, sourceUrl: string, key: string) =>
    ask<Accepted>('POST', `${at}/posts`, { ...draft, sourceUrl, rights: true }, { ...as(), headers: { ...as().headers, 'idempotency-key': key } }),
};

/** Where an owner's browser plays a post that is not public. */
export function heardAt(post: Post, token = ''): string {
  if (!post.audio || post.status === 'approved' || !token) return post.audio;
  return `${post.audio}?token=${encodeURIComponent(token)}`;
}
