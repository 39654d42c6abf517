import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'socket.io';
import type { Deed, Duplicate, Post, Reason, SocialStatus, Status } from '../../src/studio/review/answers';

type Json = Record<string, unknown>;

const minute = 60_000;
const windows: NonNullable<SocialStatus['types']> = {
  song: { min: 45, max: 600, category: 'arabic_hits' }, mashup: { min: 45, max: 600, category: 'mashups' }, ads: { min: 5, max: 60, category: 'ads' },
  jingles: { min: 2, max: 20, category: 'jingles' }, sweepers: { min: 2, max: 15, category: 'sweepers' }, voice: { min: 2, max: 15, category: 'sweepers' }, sfx: { min: 0.2, max: 5, category: 'sfx' },
};
const reasons: Reason[] = [
  { code: 'quality', en: 'The sound is too poor for the air.', ar: 'جودة الصوت لا تصلح للبث.' },
  { code: 'rights', en: 'It is not clear that you may give us this.', ar: 'لم يتضح أن لك حق إرسال هذا.' },
  { code: 'language', en: 'It is not in a language of this station.', ar: 'ليس بلغة من لغات هذه المحطة.' },
  { code: 'offtopic', en: 'It does not suit this station.', ar: 'لا يناسب هذه المحطة.' },
  { code: 'offensive', en: 'It would offend listeners.', ar: 'فيه ما يسيء إلى المستمعين.' },
  { code: 'advertising', en: 'It advertises something.', ar: 'فيه دعاية.' },
  { code: 'other', en: 'A moderator decided against it.', ar: 'قرر أحد المشرفين عدم قبوله.' },
];
const songs = [
  ['قمر على الكورنيش', 'سلمى الحديدي', 'song'], ['Slow River', 'The Delta', 'song'], ['شاي بالنعناع', 'فرقة المحطة', 'mashup'], ['Good evening, Cairo', 'Omar', 'voice'],
  ['خصم ٥٠٪ على الأثاث', 'محلات النور', 'ads'], ['<b>Loud</b> & "Clear"', 'R&B_Kid', 'song'], ['صوت المترو', 'هالة', 'sfx'], ['هوية المحطة', 'نور', 'jingles'],
] as const;

/**
 * The station as moderators of listeners' posts meet it. It answers those
 * routes under /api/social that want a key, and the studio; all others are
 * somebody else's.
 */
export class Review {
  /** The moderators' key; empty is unset, and closes the review. */
  adminKey = 'moderate-me';
  readonly posts = new Map<number, Post>();
  /** Refuses decisions on a post, in these words. */
  readonly refusals = new Map<number, string>();
  /** Votes by which listeners approve music; 0 where they are not asked. */
  approveVotes = 0;
  /** Fails the next decision with this status. */
  fails = 0;
  /** Decisions wait for this before they are answered. */
  held: Promise<void> | null = null;
  /** Decisions in order: method and path below /api/social, body, which key. */
  readonly taken: { order: string; body: Json; by: 'admin' | 'station' }[] = [];
  readonly #key: () => string;
  readonly #sound: () => Buffer;
  readonly #io: Server;
  #next = 1;

  constructor(io: Server, key: () => string, sound: () => Buffer) {
    this.#io = io;
    this.#key = key;
    this.#sound = sound;
  }

  /** Adds posts that wait, the first being the oldest. */
  fill(n: number): Post[] {
    return Array.from({ length: n }, (_, i) => this.add({ createdAt: Date.now() - (n - i) * 7 * minute }));
  }

  add({ duplicates = [], ...more }: Omit<Partial<Post>, 'duplicates'> & { duplicates?: Omit<Duplicate, 'audio'>[] } = {}): Post {
    const id = this.#next++;
    const heard = (one: Omit<Duplicate, 'audio'>) => ({ ...one, audio: one.file ? `/api/social/posts/${id}/alike?file=${encodeURIComponent(one.file)}` : `/api/social/posts/${one.post}/audio` });
    const [title, artist, type] = songs[(id - 1) % songs.length]!;
    const post: Post = {
      id, type, category: windows[type]!.category, title: id > songs.length ? `${title} ${id}` : title, artist, description: id % 3 === 1 ? 'سجّلتها في البيت الأسبوع الماضي.\nأتمنى أن تعجبكم.' : '',
      tags: id % 2 ? ['طرب', 'home'] : [], createdBy: artist, status: 'pending', createdAt: Date.now() - minute, approvedAt: 0, duration: type === 'song' || type === 'mashup' ? 187_400 : 4200, page: `/social.html?post=${id}`, audio: '',
      reason: null, stage: '', progress: 1, tries: 0, nextTryAt: 0, loudness: { integrated: -14.1, truePeak: -1.6, gain: 5.2, source: -19.3 },
      submitter: { id: `s${id % 4}`, posts: id % 4 ? 3 : 1, approved: id % 4 ? 2 : 0, rejected: id % 4 ? 1 : 0, trusted: false, blocked: false },
      duplicates: duplicates.map(heard), history: [{ at: Date.now() - 5 * minute, who: 'submitter', action: 'submit' }, { at: Date.now() - 4 * minute, who: 'machine', action: 'pass', detail: '' }],
      reports: [], appeal: '', notes: id % 4 === 2 ? ['video_sound_only'] : [], rights: 'أملك حقوق هذا التسجيل، وأسمح للمحطة بإذاعته.', loudestAt: type === 'song' ? 20_000 : 0, ...more,
    };
    this.posts.set(id, post);
    return post;
  }

  /** Another moderator decides. */
  decideElsewhere(id: number, deed: Deed, who: string): void {
    this.#carry(this.posts.get(id)!, deed, {}, who);
    this.tell();
  }

  tell(): void {
    this.#io.emit('social_queue', { pending: this.#count('pending'), processing: this.#count('processing') });
  }

  answer(request: IncomingMessage, url: URL, response: ServerResponse): boolean {
    const path = /^\/api\/social(\/.*)$/.exec(url.pathname)?.[1];
    if (!path) return false;
    const header = (name: string) => Buffer.from(String(request.headers[name] ?? ''), 'latin1').toString('utf8');
    const [admin, station] = [header('x-admin-key'), header('x-station-key')];
    const moderates = admin || station || /^\/(decide|submitters\/.*|posts\/\d+\/(approve|reject|hold|process|review|audio|alike|cover))$/.test(path) || (path === '/posts' && !['approved', 'candidate'].includes(url.searchParams.get('status') ?? 'approved'));
    const fromStudio = path === '/status' && (request.headers.referer ?? '').includes('/studio');
    if (!moderates && !fromStudio) return false;
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      if (path === '/status') return json(response, 200, this.#status());
      if (!this.adminKey) return problem(response, 403, 'social_admin_key: is not set: put a key of your own there');
      const by = admin === this.adminKey ? 'admin' : station !== '' && station === this.#key() ? 'station' : null;
      if (!by) return problem(response, 401, 'send the key of the moderators');
      void this.#route(request.method ?? '', path, url.searchParams, text ? (JSON.parse(text) as Json) : {}, by, response);
    });
    return true;
  }

  async #route(method: string, path: string, query: URLSearchParams, body: Json, by: 'admin' | 'station', response: ServerResponse): Promise<unknown> {
    const [, id = '', deed = ''] = /^\/posts\/(\d+)(?:\/(\w+))?$/.exec(path) ?? [];
    if (method === 'GET') return path === '/posts' ? json(response, 200, this.#page(query)) : this.#one(Number(id), deed, query, response);
    this.taken.push({ order: `${method} ${path}`, body, by });
    await this.held;
    if (this.fails) {
      const status = this.fails;
      this.fails = 0;
      return problem(response, status, 'the database is locked');
    }
    const submitter = /^\/submitters\/(.+)$/.exec(path)?.[1];
    if (submitter) return json(response, 200, this.#mark(submitter, body));
    if (path === '/decide') return json(response, 200, this.#decideAll(body));
    const post = this.posts.get(Number(id));
    if (!post) return problem(response, 404, `post ${id}: is not known`);
    const refusal = this.refusals.get(post.id);
    if (refusal) return problem(response, 409, refusal);
    json(response, 200, sent(this.#carry(post, deed as Deed, body, 'moderator 192.0.2.7')));
    return this.tell();
  }

  #one(id: number, part: string, query: URLSearchParams, response: ServerResponse): unknown {
    const post = this.posts.get(id);
    if (!post) return problem(response, 404, `post ${id}: is not known`);
    if (part === 'audio') return response.writeHead(200, { 'content-type': 'audio/ogg' }).end(this.#sound());
    if (part === 'cover') return post.cover ? response.writeHead(200, { 'content-type': 'image/png' }).end(readFileSync(new URL('../../public/icon-192.png', import.meta.url))) : problem(response, 404, 'no picture');
    if (part === 'alike') {
      if (!post.duplicates?.some(({ file }) => file && file === query.get('file'))) return problem(response, 404, 'not among what it is like');
      return response.writeHead(200, { 'content-type': 'audio/ogg' }).end(this.#sound());
    }
    return json(response, 200, { ...sent({ ...post, spectrum: spectrumOf(id) }, true), peaks: peaksOf(id) });
  }

  #decideAll({ ids, action, ...rest }: Json): object {
    const refused = (ids as number[]).filter((id) => this.refusals.has(id)).map((id) => ({ id, detail: this.refusals.get(id) }));
    const done = (ids as number[]).filter((id) => !this.refusals.has(id)).map((id) => this.#carry(this.posts.get(id)!, action as Deed, rest, 'moderator 192.0.2.7'));
    this.tell();
    return { done: done.map((post) => sent(post)), refused };
  }

  #carry(post: Post, deed: Deed, body: Json, who: string): Post {
    const status = ({ approve: 'approved', reject: 'rejected', hold: 'pending', process: 'processing', review: 'pending' } as const)[deed];
    const known = reasons.find(({ code }) => code === body.code) ?? reasons.at(-1)!;
    const note = String(body.note ?? '');
    const reason = deed === 'reject' ? { ...known, note } : deed === 'hold' ? { code: 'held', en: 'On hold', ar: 'معلّقة', note } : null;
    const changed: Post = { ...post, status, reason, candidate: null, approvedAt: deed === 'approve' ? Date.now() : 0, history: [...(post.history ?? []), { at: Date.now(), who, action: deed, detail: note }] };
    this.posts.set(post.id, changed);
    return changed;
  }

  #mark(id: string, { trusted, blocked }: Json): object {
    for (const post of this.posts.values()) {
      if (post.submitter?.id === id) this.posts.set(post.id, { ...post, submitter: { ...post.submitter, trusted: trusted === true, blocked: blocked === true } });
    }
    return [...this.posts.values()].find(({ submitter }) => submitter?.id === id)?.submitter ?? {};
  }

  /** Newest first, with the number of the next as cursor. */
  #page(query: URLSearchParams): object {
    const [status, type, q, submitter] = ['status', 'type', 'q', 'submitter'].map((name) => query.get(name) ?? '');
    const found = [...this.posts.values()]
      .filter((post) => post.status === (status || 'approved') && (!type || post.type === type) && (!submitter || post.submitter?.id === submitter))
      .filter((post) => `${post.title} ${post.artist} ${post.createdBy}`.toLowerCase().includes((q ?? '').toLowerCase()))
      .sort((a, b) => b.createdAt - a.createdAt || b.id - a.id);
    const from = Number(query.get('cursor') ?? 0);
    const limit = Math.min(50, Number(query.get('limit') ?? 20)); // fewer than are asked for, as a station may
    return { posts: found.slice(from, from + limit).map((post) => sent(post)), next: from + limit < found.length ? String(from + limit) : '', total: found.length };
  }

  #count(status: Status): number {
    return [...this.posts.values()].filter((post) => post.status === status).length;
  }

  #status(): SocialStatus & Json {
    const oldest = Math.min(...[...this.posts.values()].filter(({ status }) => status === 'pending').map(({ createdAt }) => createdAt));
    return {
      enabled: true, approveVotes: this.approveVotes, adminKey: this.adminKey !== '', types: windows, reasons, every: 3, kinds: ['like', 'love', 'fire', 'laugh', 'wow', 'sad'], limits: { perHour: 6, megabytes: 200 },
      rights: { en: 'I own this recording, and let the station air it.', ar: 'أملك حقوق هذا التسجيل، وأسمح للمحطة بإذاعته.' },
      queue: { processing: this.#count('processing'), pending: this.#count('pending'), failed: this.#count('failed'), oldestPendingAt: Number.isFinite(oldest) ? oldest : 0 },
    };
  }
}

function peaksOf(id: number): number[] {
  return Array.from({ length: 200 }, (_, i) => Math.abs(Math.sin(i / 9 + id) * 0.5 + Math.sin(i / 2.3) * 0.3) * Math.min(1, i / 14, (199 - i) / 10) + 0.06);
}

function spectrumOf(id: number): number[][] {
  const [columns, bands] = [160, 32];
  return Array.from({ length: columns }, (_, c) =>
    Array.from({ length: bands }, (__, b) => Math.floor(255 * Math.max(0, Math.min(1, (1 - b / 34) * (0.55 + 0.45 * Math.sin(c / 9 + id + b / 3)))))));
}

/** Of what is not for everybody the station sends nothing that is empty. */
const omitted = ['reason', 'appeal', 'stage', 'progress', 'tries', 'nextTryAt', 'loudness', 'notes', 'file', 'submitter', 'duplicates', 'history', 'reports', 'loudestAt', 'rights'];

/** As it travels: lists leave out what happened and was reported. */
function sent(post: Post, whole = false): Post {
  const { history, reports, ...shown } = post;
  const all = { ...shown, ...(whole ? { history, reports } : {}) };
  const empty = (value: unknown) => !value || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(all).filter(([name, value]) => !omitted.includes(name) || !empty(value))) as unknown as Post;
}

function problem(response: ServerResponse, status: number, detail: string): void {
  response.writeHead(status, { 'content-type': 'application/problem+json' }).end(JSON.stringify({ title: 'Problem', status, detail }));
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
