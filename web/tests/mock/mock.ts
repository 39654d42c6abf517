import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname } from 'node:path';
import { Audience } from './audience';
import { Carts } from './carts';
import { Control } from './control';
import { libraryOf, statusOf, upnextOf, type Scene } from './data';
import { themeOf, withFace } from './face';
import { Hand } from './hand';
import { Imports } from './import';
import { Intake } from './intake';
import { Shelves } from './library';
import { Live } from './live';
import type { Face } from '../../src/station/face';
import type { Media } from './media';
import { Operator } from './operator';
import { Past } from './past';
import { People } from './people';
import { Lists } from './playlists';
import { Podcasts } from './podcasts';
import { Podcasting } from './podcasting';
import { Production } from './production';
import { Asking } from './requests';
import { Review } from './review';
import { Social } from './social';
import { Facing } from './facing';

const dist = new URL('../../../internal/web/pages/dist', import.meta.url).pathname;
const policy = readFileSync(new URL('../../../internal/web/pages/csp.txt', import.meta.url), 'utf8').trim().split('\n').join('; ');
const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.mp3': 'audio/mpeg',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
};

/** Discontinuities before the first, as the relay numbers them: from the seconds since 2024. */
const manyBreaks = 91_000_000;

/**
 * A station for the browser tests: the built pages under their real policy,
 * the API's answers, and HLS behind the relay's cookie dance (302 with a
 * cookie check, then a session; 401 without one, 400 for _HLS_msn). Its parts
 * can be taken down and brought back while a page plays.
 */
export class Mock {
  hlsDown = false;
  streamDown = false;
  /** HLS sessions of browsers that keep no cookie. */
  withoutCookie = 0;
  apiDown = false;
  /** What pages are served with; null as a station of a version before serves them. */
  face: Face | null = null;
  customCSS = '';
  /** Words of the tracks, by their ids. */
  readonly lyrics = new Map<string, { lyrics: string; synced: { atMs: number; text: string }[] }>();
  /** Moves the programme dates of HLS: the ear is this much further behind. */
  lateMs = 0;
  /** Decks without a track. */
  emptied: readonly string[] = [];
  scene: Scene = { index: 3, startedAt: Date.now() - 72_000, empty: false };
  readonly control = new Control(
    () => this.scene,
    (index) => {
      this.#ordered = index;
      if (Number.isFinite(this.heardAfterMs)) setTimeout(() => this.hear(), this.heardAfterMs);
    },
  );
  readonly production = new Production(() => this.control.key);
  readonly people = new People(() => this.control.key);
  /** The queue by hand. */
  readonly hand = new Hand(() => this.scene, () => this.control.key, () => this.people.look);
  readonly library: Shelves;
  readonly intake: Intake;
  readonly lists: Lists;
  readonly imports: Imports;
  readonly audience: Audience;
  readonly operator: Operator;
  readonly live: Live;
  readonly carts: Carts;
  readonly requests: Asking;
  /** What was on the air. */
  readonly past = new Past(() => statusOf(this.scene, Date.now(), this.control.live));
  /** What can be heard on demand. */
  readonly podcasts: Podcasts;
  readonly review: Review;
  readonly social: Social;
  readonly facing = new Facing(() => this.control.key);
  readonly podcasting: Podcasting;
  /** From an order until it is on the air, ms; Infinity waits for hear(). */
  heardAfterMs = 300;
  /** What listeners sent to the post on the air, with their devices. */
  readonly hearts: { kind: string; on: boolean; device: string }[] = [];
  /** Fails the next of them with this status. */
  heartFails = 0;
  /** Paths asked for, in order. */
  readonly asked: string[] = [];
  #ordered = 0;
  readonly #media: Media;
  readonly #server: Server;
  #gone = false;
  readonly #sessions = new Set<string>();
  readonly #since = Date.now() - 20_000;

  constructor(media: Media) {
    this.#media = media;
    this.#server = createServer((request, response) => this.#answer(request, response));
    this.#server.on('connection', (socket) => this.#gone && socket.destroy());
    const status = (): Record<string, unknown> => {
      const { station, hls, onAir, nowPlaying, track, state, reason, history, library, serverTime } = statusOf(this.scene, Date.now(), this.control.live);
      const { ready = 0, unready = 0 } = library;
      return { channel: 'main', station, hls, onAir, nowPlaying, track, state, reason, history, ...(reason === 'beginning' ? { library: { ready, unready } } : {}), programTime: track?.startedAt ?? serverTime };
    };
    this.audience = new Audience(this.#server, status, () => upnextOf(this.scene), () => this.control.key, this.people.tickets);
    this.library = new Shelves(() => this.control.key, () => media.ogg);
    this.podcasts = new Podcasts(media);
    this.intake = new Intake(this.library);
    this.lists = new Lists(this.library);
    this.imports = new Imports(this.production, this.library);
    this.operator = new Operator(this.audience, () => this.control.key);
    this.requests = new Asking(this.audience.io, () => this.control.key);
    this.review = new Review(this.audience.io, () => this.control.key, () => media.ogg);
    this.social = new Social((event) => this.audience.io.emit('social_post', event), media.ogg);
    this.live = new Live(this.audience.io, () => this.control.key, (live) => {
      this.control.live = live;
      this.audience.tellStatus();
    });
    this.podcasting = new Podcasting(() => this.control.key, () => media.ogg);
    this.carts = new Carts(() => this.control.key, () => this.live.active !== null && this.live.heard);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async open(): Promise<void> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
  }

  /**
   * Goes away as a killed process does, until the returned function is called; what it knew it still knows.
   * The port stays its own: another worker's station could take one that was given up.
   */
  vanish(): () => void {
    this.#gone = true;
    this.audience.close();
    this.#server.closeAllConnections();
    return () => {
      this.audience.forget();
      this.#gone = false;
    };
  }

  async close(): Promise<void> {
    this.audience.close();
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  /** What was ordered is on the air. */
  hear(): void {
    this.scene = { ...this.scene, index: this.#ordered, startedAt: Date.now() };
  }

  /** Ends every HLS session: the next request of each gets 401. */
  expireSessions(): void {
    this.#sessions.clear();
  }

  count(path: string): number {
    return this.asked.filter((asked) => asked.startsWith(path)).length;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', 'http://mock');
    this.asked.push(url.pathname);
    if (this.facing.file(url.pathname, response) || this.podcasting.file(url, response)) return;
    if (url.pathname.startsWith('/api/')) return this.#api(request, url, response);
    const media = this.audience.media.get(url.pathname);
    if (media) return void response.writeHead(200, { 'content-type': media.type, 'cache-control': 'max-age=31536000, immutable' }).end(media.body);
    if (url.pathname.startsWith('/hls/main/')) return this.#hls(url, request, response);
    if (url.pathname === '/stream') return this.#stream(request, response);
    if (this.podcasts.file(request, url, response)) return;
    const face = this.#faceFile(url.pathname);
    if (face) return void response.writeHead(200, { 'content-type': face.type }).end(face.body);
    this.#page(url.pathname, response);
  }

  #faceFile(path: string): { type: string; body: string | Buffer } | null {
    if (path === '/face/theme.css') return { type: 'text/css', body: this.face ? themeOf(this.face) : '' };
    if (path === '/face/custom.css') return { type: 'text/css', body: this.customCSS };
    return path === '/face/logo.png' ? { type: 'image/png', body: readFileSync(`${dist}/icon-192.png`) } : null;
  }

  #page(path: string, response: ServerResponse): void {
    const places: Record<string, string> = { '/': '/index.html', '/studio': '/studio.html', '/chat': '/chat.html', '/history': '/history.html', '/podcasts': '/podcasts.html', '/embed': '/embed.html' };
    const name = /^\/track\/[a-z2-7]{16}$/.test(path) ? '/history.html' : /^\/podcasts\/[^/.]+(\/[^/.]+)?$/.test(path) ? '/podcasts.html' : (places[path] ?? path);
    try {
      const body = readFileSync(dist + name);
      response.setHeader('content-security-policy', path === '/embed' ? policy.replace("frame-ancestors 'none'", 'frame-ancestors *') : policy);
      if (path === '/embed' || path === '/embed.js') response.setHeader('cross-origin-resource-policy', 'cross-origin');
      response.setHeader('x-content-type-options', 'nosniff');
      response.setHeader('content-type', types[extname(name)] ?? 'application/octet-stream');
      if (!name.endsWith('.html')) return void response.end(body);
      const html = ['/index.html', '/history.html', '/podcasts.html'].includes(name) ? this.podcasts.named(body.toString()) : body.toString();
      response.end(this.face ? withFace(html, this.face) : html);
    } catch {
      response.writeHead(404).end();
    }
  }

  #api(request: IncomingMessage, url: URL, response: ServerResponse): void {
    if (this.apiDown) return void response.destroy();
    if (this.scene.post && url.pathname === `/api/social/posts/${this.scene.post.id}/react`) return this.#heart(request, response);
    if (this.people.answer(request, url, response)) return;
    if (this.facing.answer(request, url, response) || this.podcasting.answer(request, url, response)) return;
    const listener = !(request.headers.referer ?? '').includes('/studio') && !request.headers['x-station-key'] && !request.headers['x-admin-key']; // who moderates is on another page, or shows a key
    if (listener && this.social.answer(request, url, response)) return;
    if (this.intake.answer(request, url, response) || this.library.answer(request, url, response) || this.lists.answer(request, url, response) || this.imports.answer(request, url, response)) return;
    if (this.past.answer(url, response) || this.podcasts.answer(url, response)) return;
    if (this.requests.answer(request, url, response)) return;
    if (this.review.answer(request, url, response) || this.audience.answer(request, url, response) || this.live.answer(request, url, response) || this.carts.answer(request, url, response)) return;
    if (this.production.answer(request, url, response) || this.operator.answer(request, url, response)) return;
    if (this.hand.answer(request, url, response)) return;
    if (url.pathname.startsWith('/api/station/')) return this.control.answer(request, url, response);
    const now = Date.now();
    const answers: Record<string, () => unknown> = {
      '/api/status': () => ({ ...statusOf(this.scene, now, this.control.live), guard: this.operator.guard }),
      '/api/upnext': () => ({ queue: upnextOf(this.scene).queue.map((item) => ({ ...item, votes: this.audience.votes[item.file] ?? 0 })) }),
      ...(this.face ? { '/api/face': () => this.face } : {}),
      ...(this.lyrics.has(url.pathname.split('/')[3] ?? '') ? { [url.pathname]: () => this.lyrics.get(url.pathname.split('/')[3] ?? '') } : {}),
      '/api/schedule': () => this.hand.schedule(url.searchParams.has('explain')),
      '/api/library': () => libraryOf(this.scene, url.searchParams, now, this.emptied),
    };
    const answer = answers[url.pathname];
    if (!answer) return void response.writeHead(404).end();
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer()));
  }

  #heart(request: IncomingMessage, response: ServerResponse): void {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const status = this.heartFails || 200;
      this.heartFails = 0;
      if (status === 200) this.hearts.push({ ...(JSON.parse(text) as { kind: string; on: boolean }), device: String(request.headers['x-athir-device'] ?? '') });
      response.writeHead(status, { 'content-type': status === 200 ? 'application/json' : 'application/problem+json' }).end(JSON.stringify({ reactions: { love: this.hearts.length }, reacted: ['love'] }));
    });
  }

  #hls(url: URL, request: IncomingMessage, response: ServerResponse): void {
    if (this.hlsDown) return void response.destroy();
    if (url.searchParams.has('_HLS_msn')) return void response.writeHead(400).end();
    const cookies = request.headers.cookie ?? '';
    const name = url.pathname.slice('/hls/main/'.length);
    if (name === 'index.m3u8') return this.#master(url, cookies, response);
    const session = url.searchParams.get('session') ?? /hlsSession=([^;]+)/.exec(cookies)?.[1] ?? '';
    if (!this.#sessions.has(session)) return void response.writeHead(401).end();
    const rendition = /^main_(?:stream|(128|64))\.m3u8$/.exec(name);
    if (rendition) return this.#playlist(rendition[1] ? `_${rendition[1]}` : '', url.search, response);
    response.setHeader('content-type', 'audio/mp4');
    if (name === 'init.mp4') return void response.end(this.#media.init);
    const number = Number(/^seg(\d+)(?:_(?:128|64))?\.m4s$/.exec(name)?.[1] ?? NaN);
    const segment = this.#media.segments[number % this.#media.segments.length];
    if (segment) response.end(segment.body);
    else response.writeHead(404).end();
  }

  #master(url: URL, cookies: string, response: ServerResponse): void {
    const kept = cookies.includes('cookieCheck=1');
    if (!kept && !url.searchParams.has('cookieCheck')) {
      const headers = { location: '/hls/main/index.m3u8?cookieCheck=1', 'set-cookie': 'cookieCheck=1; HttpOnly; Path=/hls' };
      return void response.writeHead(302, headers).end();
    }
    if (!kept) this.withoutCookie++;
    const session = `s${this.asked.length}`;
    this.#sessions.add(session);
    if (kept) response.setHeader('set-cookie', `hlsSession=${session}; HttpOnly; Path=/hls`);
    const query = kept ? '' : `?session=${session}`; // where no cookie is kept, as in another site's frame
    response.setHeader('content-type', 'application/vnd.apple.mpegurl');
    const variants = [[256, 'main_stream'], [128, 'main_128'], [64, 'main_64']].map(([kbps, list]) => `#EXT-X-STREAM-INF:BANDWIDTH=${kbps}000,CODECS="mp4a.40.2"\n${list}.m3u8${query}\n`);
    response.end(`#EXTM3U\n#EXT-X-VERSION:6\n${variants.join('')}`);
  }

  /** Seven segments up to now; the minute of sound repeats behind a discontinuity. */
  #playlist(of: string, query: string, response: ServerResponse): void {
    const { segments } = this.#media;
    const loop = segments.reduce((sum, segment) => sum + segment.seconds, 0) * 1000;
    const since = Date.now() - this.#since;
    let [last, begins] = [Math.floor(since / loop) * segments.length, Math.floor(since / loop) * loop];
    const lengthOf = (i: number) => (segments[i % segments.length]?.seconds ?? 1) * 1000;
    while (begins + lengthOf(last) <= since) begins += lengthOf(last++);
    const first = Math.max(0, last - 7);
    for (let i = first; i < last; i++) begins -= lengthOf(i);
    const lines = ['#EXTM3U', '#EXT-X-VERSION:6', '#EXT-X-TARGETDURATION:1', `#EXT-X-MEDIA-SEQUENCE:${first}`];
    lines.push(`#EXT-X-DISCONTINUITY-SEQUENCE:${manyBreaks + Math.floor(Math.max(0, first - 1) / segments.length)}`, `#EXT-X-MAP:URI="init.mp4${query}"`);
    for (let i = first; i < last; begins += lengthOf(i++)) {
      if (i > 0 && i % segments.length === 0) lines.push('#EXT-X-DISCONTINUITY');
      lines.push(`#EXT-X-PROGRAM-DATE-TIME:${new Date(this.#since + begins - this.lateMs).toISOString()}`);
      lines.push(`#EXTINF:${(lengthOf(i) / 1000).toFixed(5)},`, `seg${i}${of}.m4s${query}`);
    }
    response.setHeader('content-type', 'application/vnd.apple.mpegurl');
    response.end(lines.join('\n') + '\n');
  }

  /** Ogg at the pace of the sound, with a burst of five seconds to start. */
  #stream(request: IncomingMessage, response: ServerResponse): void {
    if (this.streamDown) return void response.destroy();
    response.setHeader('content-type', 'application/ogg');
    const { ogg, seconds } = this.#media;
    const begun = Date.now();
    let sent = 0;
    const pump = () => {
      const due = Math.min(ogg.length, Math.floor((ogg.length * (5 + (Date.now() - begun) / 1000)) / seconds));
      if (due > sent) response.write(ogg.subarray(sent, due));
      sent = due;
      if (sent === ogg.length) response.end();
    };
    const timer = setInterval(pump, 100);
    request.on('close', () => clearInterval(timer));
    response.on('close', () => clearInterval(timer));
    pump();
  }
}
