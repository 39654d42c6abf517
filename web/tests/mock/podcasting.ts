import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Edit, Kind, Offer, Own, OwnEpisode, OwnShow, State } from '../../src/studio/podcasts/answers';
import { picture } from './facing';

type Json = Record<string, unknown>;

const day = 86_400_000;
const minute = 60_000;

export const categories = ['Arts', 'Arts > Books', 'Education', 'Music', 'Music > Music Interviews', 'News', 'News > Daily News', 'Society & Culture', 'Society & Culture > Documentary'];

/** A show as an operator has written it. */
export function written(kind: Kind, slug: string, title: string, more: Partial<Own> = {}): Own {
  return {
    slug, on: true, title, description: 'ما فاتك من برامجنا، تسمعه متى شئت.', language: 'ar', author: '', email: '', copyright: '', categories: ['Music'], explicit: false, serial: false, locked: false,
    from: { kind, streams: [], types: [], shortest: kind === 'live' ? 300 : 0 }, held: false, keep: { episodes: 0, days: 0, megabytes: 0 }, ...more,
  };
}

/** An episode that is published, unless more says another thing. */
export function episode(show: string, kind: Kind, number: number, title: string, more: Partial<OwnEpisode> = {}): OwnEpisode {
  const began = Date.now() - (10 - (number % 10)) * day;
  return {
    id: `${show}${number}`.replace(/[^a-z2-7]/g, '').padEnd(16, 'a').slice(0, 15) + 'abcdefghijklmnop'.charAt(number % 16), show, number, title, summary: '', artist: '', creator: 'سارة فؤاد', publishedAt: began + 70 * minute, beganAt: began, durationMs: 62 * minute, bytes: 59_500_000,
    audio: '', page: '', cover: '', explicit: false, chapters: [], text: '', state: 'published', problem: '', problemAr: '', source: { kind, key: `${show}-${number}.flac` }, downloads: 0, listeners: -1, pinned: false, removedAt: 0, listen: `/podcast-sound/${show}-${number}`, ...more,
  };
}

/** The operator's side of the podcasts. */
export class Podcasting {
  shows: { own: Own; version: number; cover: Buffer | null; removedAt: number; createdAt: number }[] = [];
  episodes: OwnEpisode[] = [];
  offers: Record<string, Offer[]> = {};
  /** The route is there. */
  offered = true;
  mostBytes = 20e9;
  /** An answer to give instead of the next order's. */
  refusal: { status: number; body: Json } | null = null;
  /** Ends the connection of the next order after it was taken. */
  lost = false;
  /** Orders taken: method and path below /api/station/podcasts, body. */
  readonly taken: { order: string; body: unknown }[] = [];
  readonly #key: () => string;
  readonly #sound: () => Buffer;

  constructor(key: () => string, sound: () => Buffer) {
    this.#key = key;
    this.#sound = sound;
  }

  /** A station that has a show of each kind but the library's. */
  set(): void {
    const add = (own: Own, cover: readonly [number, number, number] | null, created = 90) => this.shows.push({ own, version: 3, cover: cover && picture(1400, 1400, cover), removedAt: 0, createdAt: Date.now() - created * day });
    add(written('live', 'layali', 'ليالي النيل', { description: 'سهرة سارة فؤاد كل خميس: طرب وحكايات من قلب القاهرة.', categories: ['Music', 'Society & Culture'], email: 'podcast@nile.example' }), [200, 96, 70]);
    add(written('bulletins', 'akhbar', 'أخبار إذاعة النيل', { categories: ['News > Daily News'], keep: { episodes: 0, days: 14, megabytes: 0 } }), [60, 110, 190]);
    add(written('posts', 'listeners', 'From our listeners', { language: 'en', description: 'Songs and mixes by the listeners of Nile Radio.', on: false, held: true }), null);
    const of = (number: number, title: string, more: Partial<OwnEpisode> = {}) => episode('layali', 'live', number, title, more);
    this.episodes = [
      of(9, 'سهرة الخميس مع سارة', { state: 'making', durationMs: 0, bytes: 0, beganAt: Date.now() - 3 * minute, publishedAt: 0, listen: '' }),
      of(8, 'ليلة أم كلثوم', { downloads: 214, listeners: 87.4, pinned: true, summary: 'ساعة مع الأغنيات الطويلة.', chapters: [{ startMs: 0, title: 'افتتاح', artist: '' }, { startMs: 12_000, title: 'إنت عمري', artist: 'أم كلثوم' }, { startMs: 30_500, title: 'ألف ليلة وليلة', artist: 'أم كلثوم' }], durationMs: 60_000 }),
      of(7, 'Cairo after midnight', { downloads: 31, listeners: 42, creator: 'Omar Said', explicit: true }),
      of(6, 'حوار مع فرقة الشارع', { state: 'held' }),
      of(5, 'بث تجريبي', { state: 'failed', problem: 'the recording is shorter than a second', problemAr: 'التسجيل أقصر من ثانية', listen: '', bytes: 0, durationMs: 0 }),
      of(4, 'أغنيات الصيف', { state: 'hidden', downloads: 12 }),
      of(3, 'ذكرى عبد الحليم', { downloads: 540, listeners: 120 }),
      of(2, 'حلقة محذوفة', { state: 'removed', removedAt: Date.now() - day }),
      episode('akhbar', 'bulletins', 41, 'نشرة الثامنة مساءً', { creator: '', durationMs: 4 * minute, bytes: 3_900_000, text: 'أهلًا بكم في نشرة الثامنة.\nافتُتح اليوم معرض القاهرة للكتاب.', chapters: [{ startMs: 0, title: 'العناوين', artist: '' }] }),
      episode('akhbar', 'bulletins', 40, 'نشرة الظهيرة', { creator: '', durationMs: 4 * minute, bytes: 3_800_000, publishedAt: Date.now() + 2 * 3_600_000 }),
    ];
    this.offers = {
      layali: [
        { key: 'rec-1.flac', title: 'لقاء الأحد', creator: 'سارة فؤاد', beganAt: Date.now() - 20 * day, durationMs: 48 * minute },
        { key: 'rec-2.flac', title: 'Morning rehearsal', creator: 'Omar Said', beganAt: Date.now() - 25 * day, durationMs: 11 * minute },
      ],
      akhbar: [], listeners: [],
    };
  }

  /** Somebody else saves. */
  change(slug: string, more: Partial<Own>): void {
    const show = this.of(slug);
    show.own = { ...show.own, ...more };
    show.version++;
  }

  of(slug: string): (typeof this.shows)[number] {
    const show = this.shows.find(({ own }) => own.slug === slug);
    if (!show) throw new Error(`no show ${slug}`);
    return show;
  }

  /** The machine has made what was being made. */
  finish(): void {
    this.episodes = this.episodes.map((one) => (one.state === 'making' ? { ...one, state: this.of(one.show).own.held ? 'held' : 'published', durationMs: 55 * minute, bytes: 52_000_000, publishedAt: Date.now(), listen: `/podcast-sound/${one.show}-${one.number}` } : one));
  }

  /** Covers and sounds; true where it was one. */
  file(url: URL, response: ServerResponse): boolean {
    const cover = /^\/podcasts\/([^/]+)\/cover\.jpg$/.exec(url.pathname);
    if (cover) {
      const show = this.shows.find(({ own }) => own.slug === cover[1]);
      if (!show) return false;
      response.writeHead(200, { 'content-type': 'image/png' }).end(show.cover ?? picture(1400, 1400, [15, 143, 156]));
      return true;
    }
    if (!url.pathname.startsWith('/podcast-sound/')) return false;
    response.writeHead(200, { 'content-type': 'audio/ogg' }).end(this.#sound());
    return true;
  }

  answer(request: IncomingMessage, url: URL, response: ServerResponse): boolean {
    const path = /^\/api\/station\/podcasts(?:\/(.*))?$/.exec(url.pathname);
    if (!path || !this.offered) return false;
    const parts: Buffer[] = [];
    request.on('data', (chunk: Buffer) => parts.push(chunk));
    request.on('end', () => this.#route(request, decodeURIComponent(path[1] ?? ''), Buffer.concat(parts), response));
    return true;
  }

  #route(request: IncomingMessage, path: string, sent: Buffer, response: ServerResponse): void {
    const say = (status: number, answer: unknown = undefined) => void response.writeHead(status, { 'content-type': status < 400 ? 'application/json' : 'application/problem+json' }).end(answer === undefined ? '' : JSON.stringify(answer));
    const key = Buffer.from(String(request.headers['x-station-key'] ?? ''), 'latin1').toString('utf8');
    if (this.#key() && key !== this.#key()) return say(401, { title: 'Unauthorized', status: 401, detail: 'send the station key' });
    const { method = 'GET' } = request;
    const picture = path.endsWith('/cover');
    const body = (picture ? { type: request.headers['content-type'], bytes: sent.length } : JSON.parse(sent.toString() || '{}')) as Json;
    if (method !== 'GET') {
      this.taken.push({ order: `${method} ${path}`.trim(), body });
      if (this.refusal) {
        const { status, body: said } = this.refusal;
        this.refusal = null;
        return say(status, { title: 'Problem', status, ...said });
      }
    }
    const [slug = '', part = '', id = '', deed = ''] = path.split('/');
    const show = this.shows.find(({ own }) => own.slug === slug);
    if (slug && !show) return say(404, { title: 'Not Found', status: 404 });
    const [status, answer] = part === 'episodes' && id ? this.#one(method, id, deed, body) : part ? this.#part(method, slug, part, body, sent) : this.#show(method, slug, body);
    if (this.lost && method !== 'GET') {
      this.lost = false;
      return void request.socket.destroy();
    }
    say(status, answer);
  }

  #show(method: string, slug: string, body: Json): [number, unknown?] {
    if (method === 'GET') return [200, { shows: this.shows.map((show) => this.#shown(show)), categories, bytes: this.episodes.reduce((sum, { bytes }) => sum + bytes, 0), mostBytes: this.mostBytes, kinds: ['live', 'bulletins', 'posts', 'library'] }];
    const { own, version } = body as { own: Own; version: number };
    if (method === 'POST') {
      if (this.shows.some((other) => other.own.slug === own.slug)) return [409, { title: 'Conflict', status: 409, detail: 'another show has this address' }];
      const made = { own, version: 1, cover: null, removedAt: 0, createdAt: Date.now() };
      this.shows.push(made);
      return [200, this.#shown(made)];
    }
    const show = this.of(slug);
    if (method === 'DELETE') return [(show.removedAt = Date.now()) ? 204 : 204];
    if (version !== show.version) return [409, { title: 'Conflict', status: 409, detail: 'the show was changed meanwhile' }];
    [show.own, show.version] = [own, show.version + 1];
    return [200, this.#shown(show)];
  }

  #part(method: string, slug: string, part: string, body: Json, sent: Buffer): [number, unknown?] {
    const show = this.of(slug);
    if (part === 'restore') {
      show.removedAt = 0;
      return [200, this.#shown(show)];
    }
    if (part === 'cover') {
      show.cover = method === 'PUT' ? sent : null;
      show.version++;
      return [200, this.#shown(show)];
    }
    if (part === 'offers') return [200, { offers: this.offers[slug] ?? [] }];
    const all = this.episodes.filter((one) => one.show === slug);
    if (method === 'GET') return [200, { episodes: all.map((one) => ({ ...one, chapters: [], text: '' })) }];
    const offer = this.offers[slug]?.find(({ key }) => key === body.key);
    const number = Math.max(0, ...all.map((one) => one.number)) + 1;
    const made = episode(slug, (body.kind as Kind | undefined) ?? show.own.from.kind, number, offer?.title ?? String(body.key).split('/').at(-1) ?? '', { state: 'making', durationMs: 0, bytes: 0, listen: '', publishedAt: 0, creator: offer?.creator ?? '', source: { kind: show.own.from.kind, key: String(body.key) } });
    this.offers[slug] = (this.offers[slug] ?? []).filter((other) => other !== offer);
    this.episodes = [made, ...this.episodes];
    return [200, made];
  }

  #one(method: string, id: string, deed: string, body: Json): [number, unknown?] {
    const was = this.episodes.find((one) => one.id === id);
    if (!was) return [404, { title: 'Not Found', status: 404 }];
    const put = (more: Partial<OwnEpisode>): OwnEpisode => {
      const now = { ...was, ...more };
      this.episodes = this.episodes.map((one) => (one.id === id ? now : one));
      return now;
    };
    if (method === 'GET') return [200, was];
    if (method === 'PUT') return [200, put(body as Edit)];
    if (method === 'DELETE') return [put({ state: 'removed', removedAt: Date.now(), artist: was.state }) && 204];
    if (deed === 'retry') return [204, void put({ state: 'making', problem: '', problemAr: '' })];
    return [204, void put({ state: (was.artist as State) || 'published', removedAt: 0, artist: '' })];
  }

  #shown({ own, version, cover, removedAt, createdAt }: (typeof this.shows)[number]): OwnShow {
    const all = this.episodes.filter((one) => one.show === own.slug);
    const heard = all.filter(({ state, publishedAt }) => state === 'published' && publishedAt <= Date.now());
    const states = Object.fromEntries((['making', 'failed', 'held', 'published', 'hidden', 'removed'] as const).map((state) => [state, all.filter((one) => one.state === state).length]));
    return {
      own, version, guid: '917393e3-1b1e-5cef-ace4-edaa54e1f810', cover: `/podcasts/${own.slug}/cover.jpg?v=${version}`, ownCover: cover !== null, feed: `/podcasts/${own.slug}/feed.xml`, page: `/podcasts/${own.slug}`,
      episodes: heard.length, latest: Math.max(0, ...heard.map(({ publishedAt }) => publishedAt)), bytes: all.reduce((sum, { bytes }) => sum + bytes, 0), createdAt, removedAt, states,
    };
  }
}
