import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'socket.io';
import type { Asked, Shown, Standing, Track, Verdict } from '../../src/requests/answers';

type Json = Record<string, unknown>;

interface Kept extends Shown {
  device: string;
  key: string;
  note: string;
  word: string;
  closedAt: number;
}

const minute = 60_000;
const songs: [title: string, artist: string, latin: string][] = [
  ['نسم علينا الهوى', 'فيروز', 'nassam alayna el hawa fairuz'],
  ['قمر على الكورنيش', 'هالة منصور', 'amar ala el korneesh hala mansour'],
  ['يا مسافر وحدك', 'سلمى الحديدي', 'ya msafer wahdak salma el hadidi'],
  ['Harbour Lights', 'The Paper Lanterns', ''],
  ['ليل القاهرة', 'فرقة النيل', 'leil el qahera ferqet el nil'],
  ['<b>Slow River</b> and a title that goes on for longer than any phone is wide', 'Amal Haddad', ''],
  ['شمس الصعيد', 'طارق عبد الرحيم', 'shams el saeed tarek'],
];
const page = 20;

/** A station's requests: the search, the queue, one listener apart from another by device, and the studio's side. */
export class Asking {
  enabled = true;
  open = true;
  everyMs = 20 * minute;
  perDay = 5;
  places = 20;
  list: Kept[] = [];
  /** What stands against a song, by its file. */
  readonly rules = new Map<string, Verdict>();
  readonly tracks: Track[] = Array.from({ length: 45 }, (_, i): Track => {
    const [title, artist] = songs[i % songs.length]!;
    return { file: `music/arabic_hits/${i}.mp3`, title: i < songs.length ? title : `${title} ${i}`, artist, category: 'arabic_hits', duration: 200_000, request: { allowed: true } };
  });
  deeds: { at: number; who: string; action: string; request: number; word: string }[] = [];
  /** Takes the next request and cuts the connection instead of answering. */
  loseAnswer = false;
  /** An answer to give to the next request instead. */
  refusal: { status: number; body: Json; retryAfter?: number } | null = null;
  /** Searches fail. */
  searchDown = false;
  /** Searches for these words wait until it is resolved. */
  held: { words: string; until: Promise<void> } | null = null;
  /** Bodies of requests in the order they came, and files put next. */
  readonly posted: Json[] = [];
  readonly searched: string[] = [];
  readonly queued: string[] = [];
  #next = 1;
  readonly #io: Server;
  readonly #key: () => string;

  constructor(io: Server, key: () => string) {
    this.#io = io;
    this.#key = key;
  }

  /** Somebody else's. */
  add(song: number, name: string, more: Partial<Kept> = {}): Kept {
    const { file, title, artist } = this.tracks[song]!;
    const kept: Kept = { id: this.#next++, file, title, artist, name, at: Date.now(), status: 'waiting', expectedAt: 0, airedAt: 0, device: 'another', key: '', note: '', word: '', closedAt: 0, ...more };
    this.list.push(kept);
    return kept;
  }

  /** Tells everybody of the queue, as after each change. */
  tell(): void {
    this.#io.emit('requests', { open: this.open, requests: this.#queue().map(shown) });
  }

  /** Changes one and tells it. */
  become(id: number, status: Standing, more: Partial<Kept> = {}): void {
    const over = status !== 'waiting' && status !== 'planned';
    this.list = this.list.map((kept) => (kept.id === id ? { ...kept, status, ...(over ? { closedAt: Date.now(), expectedAt: 0 } : {}), ...(status === 'aired' ? { airedAt: Date.now() } : {}), ...more } : kept));
    this.tell();
  }

  setOpen(open: boolean): void {
    this.open = open;
    this.tell();
  }

  answer(request: IncomingMessage, url: URL, response: ServerResponse): boolean {
    const studio = /^\/api\/station\/requests/.test(url.pathname) || url.pathname === '/api/channels/main/queue';
    if (!studio && !/^\/api\/requests(\/|$)/.test(url.pathname)) return false;
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const body = text ? (JSON.parse(text) as Json) : {};
      const route = `${request.method} ${url.pathname}`;
      const sent = Buffer.from(String(request.headers['x-station-key'] ?? ''), 'latin1').toString('utf8');
      if (studio) return sent === this.#key() ? this.#studio(route, body, response) : say(response, 401, problem(401, 'send the station key'));
      void this.#listener(route, url, String(request.headers['x-athir-device'] ?? ''), body, response, sent !== '' || (this.#key() === '' && (request.headers.referer ?? '').includes('/studio')));
    });
    return true;
  }

  async #listener(route: string, url: URL, device: string, body: Json, response: ServerResponse, staff: boolean): Promise<void> {
    const id = Number(/^DELETE \/api\/requests\/(\d+)$/.exec(route)?.[1] ?? 0);
    if (id) return this.#remove(id, device, staff, response);
    if (route === 'GET /api/requests') return say(response, 200, this.#look(device));
    if (!this.enabled) return say(response, 409, problem(409, 'requests are switched off at this station'));
    if (route === 'GET /api/requests/search') {
      const q = url.searchParams.get('q') ?? '';
      this.searched.push(q);
      if (this.held?.words === q) await this.held.until;
      return this.searchDown ? say(response, 503, problem(503, 'not now')) : say(response, 200, this.#search(q, Number(url.searchParams.get('offset') ?? 0), device));
    }
    if (route === 'POST /api/requests') return this.#ask(body, device, response);
    say(response, 404, problem(404, 'no such route'));
  }

  #look(device: string): Json {
    if (!this.enabled) return { enabled: false, open: false, requests: [], limits: { everyMs: 0, perDay: 0, queue: 0, nextAt: 0 } };
    const seen = (kept: Kept): Asked => ({ ...shown(kept), mine: kept.device === device, ...(kept.device === device ? { note: kept.note, word: kept.word } : {}) });
    const queue = this.#queue();
    const own = this.list.filter((kept) => kept.device === device && !queue.includes(kept)).reverse();
    return { enabled: true, open: this.open, requests: [...queue, ...own].map(seen), limits: { everyMs: this.everyMs, perDay: this.perDay, queue: this.places, nextAt: this.#nextAt(device) } };
  }

  #search(q: string, offset: number, device: string): Json {
    const words = q.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this.tracks.filter(({ title, artist }, i) => words.every((word) => `${title} ${artist} ${songs[i % songs.length]![2]}`.toLowerCase().includes(word)));
    const tracks = found.slice(offset, offset + page).map((track) => {
      const rule = this.#rule(track.file, device);
      return { ...track, request: rule ?? { allowed: true } };
    });
    return { tracks, total: found.length, offset };
  }

  #ask({ file, name = '', note = '', id = '' }: Json, device: string, response: ServerResponse): void {
    this.posted.push({ file, name, note, id, device });
    const given = this.refusal;
    this.refusal = null;
    if (given) return say(response, given.status, given.body, given.retryAfter);
    const known = this.list.find((kept) => kept.key !== '' && kept.key === `${device} ${id}`);
    const rule = known ? null : this.#rule(String(file), device);
    if (rule) {
      const { allowed: _, ...reason } = rule;
      return say(response, 409, { ...problem(409, rule.en ?? ''), reason });
    }
    const song = this.tracks.findIndex((track) => track.file === file);
    if (song < 0) return say(response, 404, problem(404, 'this song, among those that may be asked for'));
    const kept = known ?? this.add(song, String(name), { device, note: String(note), key: `${device} ${id}` });
    if (this.loseAnswer) {
      this.loseAnswer = false;
      return void response.destroy();
    }
    if (!known) this.tell();
    say(response, 201, { request: { ...shown(kept), mine: true, note: kept.note, word: kept.word } });
  }

  #remove(id: number, device: string, staff: boolean, response: ServerResponse): void {
    const kept = this.list.find((one) => one.id === id && (staff || one.device === device));
    if (!kept) return say(response, 404, problem(404, `request ${id}`));
    if (kept.closedAt) return say(response, 409, problem(409, `request ${id} is ${kept.status}`));
    this.#note(staff ? 'studio' : 'asker', staff ? 'remove' : 'cancel', id);
    this.become(id, 'cancelled');
    response.writeHead(204).end();
  }

  #studio(route: string, body: Json, response: ServerResponse): void {
    const [, refused] = /^POST \/api\/station\/requests\/(\d+)\/refuse$/.exec(route) ?? [];
    const given = route.startsWith('GET') ? null : this.refusal;
    if (given) {
      this.refusal = null;
      return say(response, given.status, given.body);
    }
    if (!this.enabled && !route.endsWith('/queue')) return say(response, 409, problem(409, 'requests are switched off at this station'));
    if (route === 'POST /api/channels/main/queue') {
      this.queued.push(String(body.file));
      return say(response, 200, { channel: 'main', file: body.file });
    }
    if (route === 'PUT /api/station/requests/open') {
      this.#note('studio', body.open ? 'open' : 'close', 0);
      this.setOpen(body.open === true);
    } else if (refused) {
      const kept = this.list.find(({ id }) => id === Number(refused));
      if (!kept || kept.closedAt) return say(response, kept ? 409 : 404, problem(kept ? 409 : 404, `request ${refused} is ${kept?.status}`));
      this.#note('studio', 'refuse', kept.id, String(body.word ?? ''));
      this.become(kept.id, 'refused', { word: String(body.word ?? '') });
    } else if (route !== 'GET /api/station/requests') return say(response, 404, problem(404, 'no such route'));
    const seen = (kept: Kept): Json => ({ ...shown(kept), note: kept.note, word: kept.word, closedAt: kept.closedAt });
    const closed = this.list.filter(({ closedAt }) => closedAt > 0).sort((a, b) => b.closedAt - a.closedAt);
    say(response, 200, { open: this.open, requests: this.list.filter(({ closedAt }) => closedAt === 0).map(seen), closed: closed.map(seen), audit: this.deeds });
  }

  #note(who: string, action: string, request: number, word = ''): void {
    this.deeds = [{ at: Date.now(), who, action, request, word }, ...this.deeds];
  }

  #queue(): Kept[] {
    const aired = this.list.filter(({ status }) => status === 'aired').sort((a, b) => b.airedAt - a.airedAt);
    return [...this.list.filter(({ closedAt }) => closedAt === 0), ...aired.slice(0, 10)];
  }

  #nextAt(device: string): number {
    const last = Math.max(0, ...this.list.filter((kept) => kept.device === device && kept.status !== 'refused').map(({ at }) => at));
    return last + this.everyMs > Date.now() ? last + this.everyMs : 0;
  }

  #rule(file: string, device: string): Verdict | null {
    const no = (code: string, at = 0): Verdict => ({ allowed: false, code, en: `the rule ${code}`, ar: `القاعدة ${code}`, ...(at ? { at } : {}) });
    const waiting = this.list.filter(({ closedAt }) => closedAt === 0);
    if (!this.open) return no('closed');
    if (waiting.length >= this.places) return no('full');
    if (this.#nextAt(device)) return no('interval', this.#nextAt(device));
    const same = waiting.find((kept) => kept.file === file);
    if (same) return no('asked', same.expectedAt);
    return this.rules.get(file) ?? null;
  }
}

function shown({ id, file, title, artist, name, at, status, expectedAt, airedAt }: Kept): Shown {
  return { id, file, title, artist, name, at, status, expectedAt, airedAt };
}

const problem = (status: number, detail: string): Json => ({ title: 'Problem', status, detail });

function say(response: ServerResponse, status: number, body: unknown, retryAfter = 0): void {
  response.writeHead(status, { 'content-type': status < 400 ? 'application/json' : 'application/problem+json', ...(retryAfter ? { 'retry-after': String(retryAfter) } : {}) });
  response.end(JSON.stringify(body));
}
