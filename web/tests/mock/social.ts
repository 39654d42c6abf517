import type { IncomingMessage, ServerResponse } from 'node:http';
import { reactionKinds, type Kind, type Post, type Reaction, type SocialEvent, type Vote } from '../../src/social/post';
import { Tus } from './tus';

type Json = Record<string, unknown>;
type Answer = [status: number, body: unknown, headers?: Record<string, string>];

const minute = 60_000;
const rights = { en: 'Everything in it is mine, and <b>Athir</b> may air it.', ar: 'كل ما فيه ملكي، وأسمح لأثير بإذاعته.' };
const types = {
  song: { min: 45, max: 600, category: 'arabic_hits' }, mashup: { min: 45, max: 600, category: 'mashups' }, voice: { min: 2, max: 60, category: 'sweepers' }, // so long that no test on a starved machine presses Stop too late
  sweepers: { min: 2, max: 15, category: 'sweepers' }, jingles: { min: 2, max: 20, category: 'jingles' }, ads: { min: 5, max: 60, category: 'ads' }, sfx: { min: 0.2, max: 5, category: 'sfx' },
};
const titles = ['نيل بعد المطر', 'Slow <b>River</b>', 'شباك الدرب', 'قهوة الفجر', 'Sahra Remix', 'موج', 'تحية من أسوان'];

export const reasons = {
  duplicate: { code: 'duplicate', en: 'The station has this sound already.', ar: 'هذا الصوت لدى المحطة من قبل.' },
  limit: { code: 'limit_hour', en: 'You can send at most 6 posts an hour. The next one can be sent from 15:04.', ar: 'الحد الأقصى 6 مشاركات في الساعة. يمكنك إرسال التالية ابتداءً من الساعة 15:04.' },
  full: { code: 'queue_full', en: 'Too many posts wait for a decision just now. Please try again tomorrow.', ar: 'المشاركات التي تنتظر المراجعة كثيرة الآن. يُرجى المحاولة غدًا.' },
  link: { code: 'names_links', en: 'Please leave addresses and account names out of the title.', ar: 'يُرجى عدم كتابة روابط أو أسماء حسابات في هذه الخانة: العنوان.' },
  moderator: { code: 'other', en: 'A moderator did not accept it.', ar: 'لم يقبلها المشرف.' },
  withdrawn: { code: 'withdrawn', en: 'Its sender withdrew it.', ar: 'سحبها مُرسلها.' },
};

/** A problem as the station writes it (RFC 9457). */
export const problem = (status: number, detail: string, more: Json = {}): Answer => [status, { title: 'refused', status, detail, ...more }];

/** The listeners' platform of a station: posts, what listeners do with them, and uploads by tus. */
export class Social {
  enabled = true;
  /** Whether it tells owners by push. */
  push = false;
  /** Votes by which listeners choose a song; 0 where they are not asked. */
  approveVotes = 0;
  /** Refuses the next request of a path that ends so. */
  refuse: { path: string; answer: Answer } | null = null;
  readonly posts = new Map<number, Post>();
  readonly tokens = new Map<number, string>();
  /** What listeners asked for, in order: vote 3 1, react 3 fire true, report 3 spam. */
  readonly taken: string[] = [];
  readonly drafts: Json[] = [];
  readonly tus: Tus;
  readonly #tell: (event: SocialEvent) => void;
  readonly #sound: Buffer;
  readonly #voted = new Map<string, Vote>();
  readonly #reacted = new Map<string, Set<Reaction>>();
  readonly #orders = new Map<string, number>();
  #next = 1;

  constructor(tell: (event: SocialEvent) => void, sound: Buffer) {
    this.#tell = tell;
    this.#sound = sound;
    this.tus = new Tus((meta) => this.#refusal(meta), (meta, key) => {
      const { post, token } = this.#take(meta, key);
      return { 'x-post-id': String(post.id), 'x-post-token': token };
    }, '/api/social/tus/');
    for (const [i, title] of titles.entries()) this.approve(this.post({ title, type: (['song', 'mashup', 'song', 'voice', 'mashup', 'sfx', 'voice'] as const)[i] as Kind, createdAt: Date.now() - (i + 1) * 37 * minute }).id, true);
  }

  /** A post as it comes in. */
  post(more: Partial<Post> = {}): Post {
    const id = this.#next++;
    const votes = { up: (id * 7) % 23, down: id % 4, mine: 0 as Vote };
    const full: Post = {
      id, type: 'song', title: `Post ${id}`, artist: id % 2 ? 'مريم السعدي' : 'DJ Zein', description: 'سُجّلت في شرفة بيتنا بعد المطر.', tags: ['ليل', 'live'], createdBy: id % 2 ? 'نور' : 'Sara <3',
      status: 'processing', stage: 'queued', createdAt: Date.now(), approvedAt: 0, duration: 60_000, votes, reactions: { love: (id * 5) % 12, fire: (id * 3) % 7 }, reacted: [],
      plays: id % 3, lastPlayedAt: id % 3 ? Date.now() - id * 50 * minute : 0, nextAt: 0, onAir: false, audio: `/api/social/posts/${id}/audio`, cover: '', progress: 0, reason: null, appeal: '',
      score: { total: 0.7 + id / 100, quality: 0.52, exploration: 0.11, freshness: 0.05, reactions: 0.02, votesUp: votes.up, votesDown: votes.down },
      peaks: Array.from({ length: 200 }, (_, i) => Math.abs(Math.sin(i / 9) * Math.cos(i / 31)) * 0.9 + 0.1), ...more,
    };
    this.posts.set(id, full);
    this.tokens.set(id, `s3cret-${id}`);
    return full;
  }

  change(id: number, more: Partial<Post>, action: SocialEvent['action'] = 'changed'): void {
    const known = this.posts.get(id) as Post;
    const post = { ...known, ...more };
    this.posts.set(id, post);
    if (post.candidate) this.#tell({ id, action: 'candidate', post: this.#public(post, '') });
    else if (post.status === 'approved') this.#tell({ id, action, post: this.#public(post, '') });
    else if (known.status === 'approved' || known.candidate) this.#tell({ id, action: 'removed', post: null });
  }

  approve(id: number, quietly = false): void {
    const change: Partial<Post> = { status: 'approved', stage: '', candidate: null, approvedAt: this.posts.get(id)?.createdAt ?? Date.now(), reason: null };
    if (quietly) this.posts.set(id, { ...(this.posts.get(id) as Post), ...change });
    else this.change(id, { ...change, approvedAt: Date.now() }, 'approved');
  }

  /** Puts a song to the vote, with so many votes of those it takes. */
  putToVote(id: number, has: number): void {
    this.change(id, { status: 'pending', stage: '', plays: 0, lastPlayedAt: 0, candidate: { needed: this.approveVotes, has } });
  }

  reject(id: number, code: keyof typeof reasons, note = ''): void {
    this.change(id, { status: 'rejected', stage: '', candidate: null, reason: { ...reasons[code], note } });
  }

  answer(request: IncomingMessage, url: URL, response: ServerResponse): boolean {
    if (!url.pathname.startsWith('/api/social/')) return false;
    if (url.pathname.startsWith('/api/social/tus/')) this.tus.answer(request, url, response);
    else void this.#answer(request, url, response);
    return true;
  }

  async #answer(request: IncomingMessage, url: URL, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const piece of request) text += String(piece);
    const path = url.pathname.slice('/api/social'.length);
    if (this.refuse && path.endsWith(this.refuse.path)) {
      const { answer } = this.refuse;
      this.refuse = null;
      return send(response, answer);
    }
    const sound = /^\/posts\/(\d+)\/audio$/.exec(path);
    if (sound) return this.#play(Number(sound[1]), request, url, response);
    send(response, this.#route(request, path, url, (text ? JSON.parse(text) : {}) as Json));
  }

  #route(request: IncomingMessage, path: string, url: URL, body: Json): Answer {
    const device = String(request.headers['x-athir-device'] ?? '');
    if (path === '/status') return [200, { enabled: this.enabled, types, rights, limits: { perHour: 6, megabytes: 200 }, kinds: reactionKinds, queue: { processing: 0, pending: 1, failed: 0, oldestPendingAt: 0 }, reasons: [reasons.moderator], push: this.push, approveVotes: this.approveVotes }];
    if (path === '/chart') return [200, this.#chart(device)];
    if (path === '/posts' && request.method === 'GET') return [200, this.#list(url.searchParams, device)];
    if (path === '/posts') return this.#submit(request, body);
    const [, number, act = ''] = /^\/posts\/(\d+)(?:\/(\w+))?$/.exec(path) ?? [];
    const post = this.posts.get(Number(number));
    const owner = post && request.headers['x-post-token'] === this.tokens.get(post.id);
    if (!post || (!heard(post) && !owner)) return problem(404, 'no such post');
    if (!act) return [200, owner ? { ...this.#public(post, device), ...post, votes: this.#public(post, device).votes } : this.#public(post, device)];
    if (act === 'withdraw' || act === 'appeal' || act === 'follow') return owner ? this.#own(post, act, body) : problem(403, 'not the owner of this post');
    return this.#act(post, act, body, device);
  }

  #act(post: Post, act: string, body: Json, device: string): Answer {
    this.taken.push([act, post.id, ...Object.values(body)].join(' '));
    const key = `${device} ${post.id}`;
    if (act === 'vote') {
      this.#voted.set(key, body.delta as Vote);
      return [200, { votes: this.#public(post, device).votes }];
    }
    if (act === 'react') {
      const mine = this.#reacted.get(key) ?? new Set();
      this.#reacted.set(key, mine);
      if (body.on) mine.add(body.kind as Reaction);
      else mine.delete(body.kind as Reaction);
      const { reactions, reacted } = this.#public(post, device);
      return [200, { reactions, reacted }];
    }
    return act === 'report' ? [200, {}] : problem(404, 'no such route');
  }

  #own(post: Post, act: string, body: Json): Answer {
    this.taken.push(`${act} ${post.id}`);
    if (act === 'withdraw') this.reject(post.id, 'withdrawn');
    if (act === 'appeal') this.change(post.id, { status: 'pending', appeal: String(body.text) });
    return [200, this.posts.get(post.id)];
  }

  #submit(request: IncomingMessage, body: Json): Answer {
    const refused = this.#refusal(body);
    if (refused) return refused;
    const { post, token } = this.#take(body, String(request.headers['idempotency-key'] ?? ''));
    return [202, { post, token, link: `/social.html#post=${post.id}&token=${token}` }];
  }

  #refusal(meta: Json): Answer | null {
    if (!this.enabled) return problem(403, 'the platform is closed');
    if (!meta.rights) return problem(422, 'rights: must be confirmed');
    return meta.title === 'again' ? problem(422, 'duplicate', { reason: reasons.duplicate }) : null;
  }

  /** The same key twice is one post. */
  #take(meta: Json, key: string): { post: Post; token: string } {
    const known = key ? this.#orders.get(key) : undefined;
    const { type, title, artist, createdBy } = meta as Record<string, string>;
    const post = known ? (this.posts.get(known) as Post) : this.post({ type: type as Kind, title: title ?? '', artist: artist ?? '', createdBy: createdBy ?? '', plays: 0, lastPlayedAt: 0 });
    if (key) this.#orders.set(key, post.id);
    if (!known) this.drafts.push(meta);
    return { post, token: this.tokens.get(post.id) as string };
  }

  /** What everybody is told, with what one device did. */
  #public(post: Post, device: string): Post {
    const votes = { ...post.votes };
    for (const [key, vote] of this.#voted) {
      if (!key.endsWith(` ${post.id}`)) continue;
      if (vote === 1) votes.up++;
      if (vote === -1) votes.down++;
      if (key === `${device} ${post.id}`) votes.mine = vote;
    }
    const reactions = { ...post.reactions };
    for (const [key, mine] of this.#reacted) if (key.endsWith(` ${post.id}`)) for (const kind of mine) reactions[kind] = (reactions[kind] ?? 0) + 1;
    const { reason, stage, progress, appeal, nextTryAt, ...rest } = post;
    return { ...rest, votes, reactions, reacted: [...(this.#reacted.get(`${device} ${post.id}`) ?? [])] };
  }

  #approved(): Post[] {
    return [...this.posts.values()].filter(({ status }) => status === 'approved').sort((a, b) => b.approvedAt - a.approvedAt);
  }

  #list(query: URLSearchParams, device: string): Json {
    const [type, q, sort] = [query.get('type'), query.get('q'), query.get('sort')];
    const among = query.get('status') === 'candidate' ? [...this.posts.values()].filter(({ candidate }) => candidate).sort((a, b) => b.id - a.id) : this.#approved();
    const found = among.filter((post) => (!type || post.type === type) && (!q || (post.title + post.artist).includes(q)) && (sort !== 'aired' || post.plays > 0));
    if (sort === 'top') found.sort((a, b) => (b.score?.total ?? 0) - (a.score?.total ?? 0));
    const [from, limit] = [Number(query.get('cursor') ?? 0), Number(query.get('limit') ?? 20)];
    const posts = found.slice(from, from + limit).map((post) => ({ ...this.#public(post, device), peaks: undefined }));
    return { posts, next: from + limit < found.length ? String(from + limit) : '', total: found.length };
  }

  #chart(device: string): Json {
    const posts = this.#approved().sort((a, b) => b.votes.up - a.votes.up).slice(0, 5).map((post, i) => ({ ...this.#public(post, device), peaks: undefined, place: i + 1 }));
    return { from: Date.now() - 7 * 86_400_000, to: Date.now(), posts };
  }

  #play(id: number, request: IncomingMessage, url: URL, response: ServerResponse): void {
    const post = this.posts.get(id);
    if (!post || (!heard(post) && url.searchParams.get('token') !== this.tokens.get(id))) return void response.writeHead(404).end();
    const all = this.#sound;
    const [, from = '0', to = ''] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
    const [first, last] = [Number(from), to ? Number(to) : all.length - 1];
    const headers = { 'content-type': 'audio/ogg', 'accept-ranges': 'bytes', 'content-length': last - first + 1 };
    if (request.headers.range) response.writeHead(206, { ...headers, 'content-range': `bytes ${first}-${last}/${all.length}` });
    else response.writeHead(200, headers);
    response.end(all.subarray(first, last + 1));
  }
}

/** Whether everybody may hear it. */
function heard({ status, candidate }: Post): boolean {
  return status === 'approved' || Boolean(candidate);
}

function send(response: ServerResponse, [status, body, headers = {}]: Answer): void {
  const type = status >= 400 ? 'application/problem+json' : 'application/json';
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store', ...headers }).end(JSON.stringify(body));
}
