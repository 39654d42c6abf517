import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ArchivedFile, Change, Deed, Facet, Field, Note, QuarantinedFile, Track } from '../../src/studio/library/answers';
import type { Query, View } from '../../src/studio/library/query';
import { folded, made, type Kept } from './tracks';

type Json = Record<string, unknown>;
export type Answer = [status: number, body: unknown, headers?: Record<string, string>];

const minute = 60_000;
const day = 1440 * minute;
/** A picture of one pixel. */
const pixel = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==', 'base64');

export const refused = (status: number, detail: string, more: Json = {}): Answer => [status, { title: 'Problem', status, detail, ...more }];
const wrong = (field: string, message: string): Answer => refused(422, 'validation failed', { errors: [{ location: `body.set.${field}`, message }] });

/** The library of a station as its API gives it, with its changes, and its faults where a test wants them. */
export class Shelves {
  tracks: Kept[] = made(240);
  archived: (ArchivedFile & { kept?: Kept })[] = [
    { path: 'english/Old_Friend.mp3', category: 'english', reason: 'by hand', code: 'by_hand', at: Date.now() - 9 * day, size: 4_100_000 },
    { path: 'arabic_hits/نسخة_قديمة.mp3', category: 'arabic_hits', reason: 'replaced by an upload', code: 'replaced_by_upload', at: Date.now() - 2 * day, size: 5_300_000 },
  ];
  quarantined: QuarantinedFile[] = [
    { path: 'english/Broken_Download.mp3', reason: 'no audio stream found', since: Date.now() - 3 * 60 * minute },
    { path: 'mashups/Half.flac', reason: 'it ends after 3 seconds', since: Date.now() - 40 * minute },
  ];
  /** Newest first. */
  deeds: Deed[] = [];
  views: View[] = [];
  generation = 1;
  /** Paths that are on the air, or about to be. */
  readonly onAir = new Set<string>();
  /** Paths that were mended: reading them again finds nothing wrong. */
  readonly mended = new Set<string>();
  /** An answer to give to the next change instead. */
  refusal: Answer | null = null;
  /** How often the picture of a sound is not made in time. */
  peaksLater = 0;
  /** Nobody answers the list. */
  down = false;
  /** Lists wait until release(). */
  holds = false;
  /** Lists that were asked for, as their queries were written. */
  readonly listed: string[] = [];
  /** Changes taken: method, path below the library's, and body. */
  readonly taken: { order: string; body: unknown }[] = [];
  readonly covers = new Map<string, Buffer>();
  #held: (() => void)[] = [];
  #next = 1;
  #found = new Map<string, Kept[]>();
  readonly #before = new Map<number, Map<string, Note>>();
  readonly #key: () => string;
  readonly #sound: () => Buffer;
  readonly #sounds = new Set<string>();

  constructor(key: () => string, sound: () => Buffer) {
    this.#key = key;
    this.#sound = sound;
  }

  /** A library of so many tracks. */
  grow(n: number): void {
    this.tracks = made(n);
    this.changed();
  }

  changed(): void {
    this.generation++;
    this.#found.clear();
  }

  /** Answers the lists that wait, the latest first where that is wanted. */
  release(backwards = false): void {
    this.holds = false;
    const held = this.#held.splice(0);
    for (const answer of backwards ? held.reverse() : held) answer();
  }

  /** Somebody changes a track elsewhere. */
  edit(path: string, set: Change): void {
    this.#note([path], set, 'edit');
  }

  track(path: string): Kept | undefined {
    return this.tracks.find((kept) => kept.path === path);
  }

  /** Whether somebody may, as a station with a key judges it. */
  lets(request: IncomingMessage): boolean {
    return this.#key() === '' || Buffer.from(String(request.headers['x-station-key'] ?? ''), 'latin1').toString('utf8') === this.#key();
  }

  /** below: where the sound is served from. */
  ticket(below = ''): Answer {
    const name = `t${this.#next++}`;
    this.#sounds.add(name);
    return [200, { path: `/api/library/${below}audio?ticket=${name}`, until: Date.now() + 21_600_000 }];
  }

  answer(request: IncomingMessage, url: URL, response: ServerResponse): boolean {
    const { pathname: path } = url;
    if (path.startsWith('/api/library/covers/')) {
      const known = this.covers.has(decodeURIComponent(path.split('/')[4] ?? '')) || path.includes('/shelf-');
      response.writeHead(known ? 200 : 404, { 'content-type': 'image/png', 'cache-control': 'max-age=31536000, immutable' }).end(known ? pixel : undefined);
      return true;
    }
    if (path === '/api/library/audio' || path === '/api/library/intake/audio') {
      if (this.#sounds.has(url.searchParams.get('ticket') ?? '')) sendSound(request, response, this.#sound());
      else response.writeHead(401).end();
      return true;
    }
    if (path !== '/api/station/library' && !path.startsWith('/api/station/library/')) return false;
    if (!this.lets(request)) {
      send(response, refused(401, 'send the station key', { reason: undefined }));
      return true;
    }
    const pieces: Buffer[] = [];
    request.on('data', (chunk: Buffer) => pieces.push(chunk));
    request.on('end', () => {
      const bytes = Buffer.concat(pieces);
      const json = String(request.headers['content-type'] ?? '').includes('json') && bytes.length > 0 ? (JSON.parse(bytes.toString()) as Json) : {};
      this.#route(request, url, json, bytes, response);
    });
    return true;
  }

  #route(request: IncomingMessage, url: URL, body: Json, bytes: Buffer, response: ServerResponse): void {
    const below = url.pathname.slice('/api/station/library'.length).replace(/^\//, '');
    const route = `${request.method} ${below.replace(/^deeds\/\d+/, 'deeds/{}')}`;
    const { searchParams: query } = url;
    if (request.method !== 'GET' && route !== 'POST audio/ticket') {
      if (this.refusal) {
        const said = this.refusal;
        this.refusal = null;
        return send(response, said);
      }
      this.taken.push({ order: route, body: bytes.length > 0 && Object.keys(body).length === 0 ? bytes : body });
    }
    if (route === 'GET ') {
      this.listed.push(query.toString());
      if (this.down) return void response.destroy();
      const answer = (): void => send(response, this.#page(query));
      if (this.holds) this.#held.push(answer);
      else answer();
      return;
    }
    const answers: Record<string, () => Answer> = {
      'GET export': () => this.#export(query),
      'GET views': () => [200, { views: this.views }],
      'PUT views': () => [200, { views: (this.views = body.views as View[]) }],
      'GET track': () => this.#detail(query.get('path') ?? ''),
      'PATCH ': () => this.#change(body),
      'GET deeds': () => [200, { deeds: this.deeds.filter(({ id, path }) => (!query.get('before') || id < Number(query.get('before'))) && (!query.get('path') || path === query.get('path'))).slice(0, Number(query.get('limit') ?? 50)) }],
      'POST deeds/{}/undo': () => this.#undo(Number(below.split('/')[1])),
      'PUT cover': () => this.#cover(query.getAll('path'), bytes),
      'DELETE cover': () => this.#note([query.get('path') ?? ''], { cover: null }, 'cover'),
      'GET peaks': () => this.#peaks(query.get('path') ?? ''),
      'POST audio/ticket': () => this.ticket(),
      'POST archive': () => this.#archive(body.paths as string[]),
      'POST restore': () => this.#restore(body.paths as string[]),
      'GET archived': () => [200, paged(this.archived.map(({ kept: _, ...file }) => file), query)],
      'GET quarantine': () => [200, paged(this.quarantined, query)],
      'POST retry': () => this.#retry(body.paths as string[]),
    };
    send(response, answers[route]?.() ?? refused(404, 'there is no such route'));
  }

  /** What a query finds, in its order. */
  find(query: Query): Kept[] {
    return this.#match(new URLSearchParams(Object.entries(query).flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one) => [name, String(one)]))));
  }

  #match(query: URLSearchParams): Kept[] {
    const asked = new URLSearchParams(query);
    for (const name of ['offset', 'limit', 'facets', 'format']) asked.delete(name);
    const known = this.#found.get(asked.toString());
    if (known) return known;
    const words = folded(query.get('q') ?? '').split(/\s+/).filter(Boolean);
    const among = (name: string, value: string) => !query.has(name) || query.getAll(name).includes(value);
    const found = this.tracks.filter((kept) => {
      const track = kept.seen();
      if (!words.every((word) => kept.words().includes(word))) return false;
      if (!among('category', track.category) || !among('artist', track.artist) || !among('album', track.album) || !among('genre', track.genre)) return false;
      return !query.has('state') || query.getAll('state').some((state) => hasState(track, state));
    });
    const sort = query.get('sort') ?? 'artist'; // the best fit is not told from others here
    const keyed = found.map((kept) => [sortKey(kept.seen(), sort), kept] as const);
    const down = query.get('order') === 'desc' ? -1 : 1;
    keyed.sort(([a, one], [b, other]) => (a < b ? -down : a > b ? down : one.path < other.path ? -1 : 1));
    const out = keyed.map(([, kept]) => kept);
    this.#found.set(asked.toString(), out);
    return out;
  }

  #page(query: URLSearchParams): Answer {
    const found = this.#match(query);
    const [offset, limit] = [Number(query.get('offset') ?? 0), Number(query.get('limit') ?? 100)];
    if (limit < 1 || limit > 200 || offset < 0) return refused(422, 'validation failed');
    const count = (values: string[]): Facet[] => {
      const counts = new Map<string, number>();
      for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
      return [...counts].map(([value, n]) => ({ value, count: n })).sort((a, b) => b.count - a.count).slice(0, 50);
    };
    const seen = query.has('facets') ? found.map((kept) => kept.seen()) : [];
    const facets = query.has('facets') && {
      category: count(seen.map(({ category }) => category)), genre: count(seen.map(({ genre }) => genre).filter(Boolean)), artist: count(seen.map(({ artist }) => artist).filter(Boolean)), album: count(seen.map(({ album }) => album).filter(Boolean)),
      state: count(seen.flatMap((track) => ['airs', 'waiting', 'refused', 'archived-soon', 'edited', 'cut', 'limited', 'never'].filter((state) => hasState(track, state)))),
    };
    return [200, { generation: this.generation, total: found.length, offset, all: this.tracks.length, durationMs: found.reduce((sum, { file }) => sum + file.durationMs, 0), tracks: found.slice(offset, offset + limit).map((kept) => kept.seen()), ...(facets ? { facets } : {}) }];
  }

  #export(query: URLSearchParams): Answer {
    const format = query.get('format') ?? '';
    const rows = this.#match(query).map((kept) => kept.seen());
    const text = format === 'csv' ? ['path,title,artist', ...rows.map(({ path, title, artist }) => `${path},${title},${artist}`)].join('\n') : format === 'm3u' ? ['#EXTM3U', ...rows.map(({ path }) => path)].join('\n') : JSON.stringify({ playlist: { track: rows.map(({ title, artist }) => ({ title, creator: artist })) } });
    return [200, Buffer.from(text), { 'content-type': format === 'csv' ? 'text/csv' : 'audio/x-mpegurl', 'content-disposition': `attachment; filename="library.${format}"` }];
  }

  #detail(path: string): Answer {
    const kept = this.track(path);
    if (!kept) return refused(404, 'there is no such track');
    const { title, artist, album, genre, category, license } = kept.file;
    const airings = Array.from({ length: kept.file.plays * 2 }, (_, i) => ({ at: kept.file.airedAt - i * 7 * 60 * minute, listeners: i === 3 ? -1 : 40 + ((i * 13) % 37), left: i === 3 ? 0 : (i * 5) % 4, came: 1 }));
    return [200, {
      track: kept.seen(), note: Object.keys(kept.note).length > 0 ? kept.note : undefined, file: { title, artist, album, genre, category, license, isrc: '', label: '', composer: '', modifiedAt: kept.file.addedAt - day },
      sound: kept.file.state === 'airs' ? { lufs: -11.4, truePeak: -0.3, airs: 'copy', durationMs: kept.file.durationMs } : undefined, airings,
      standing: kept.file.state === 'airs' ? { at: Date.now() + 90_000, broken: ['artist-gap', 'track-limits'], turns: 4, fewest: 3, before: 12, size: 90, weight: 0.3 } : undefined,
      deeds: this.deeds.filter((deed) => deed.path === path || this.#before.get(deed.id)?.has(path)).slice(0, 20),
    }];
  }

  #change(body: Json): Answer {
    const set = merged(body.set as Change);
    const { from, until } = set.limits ?? {};
    if (from && until && until < from) return wrong('limits.until', 'the last day is before the first');
    const isrc = set.isrc?.replaceAll(/[- ]/g, '').toUpperCase();
    if (isrc && !/^[A-Z]{2}[A-Z0-9]{3}[0-9]{7}$/.test(isrc)) return wrong('isrc', 'must be two letters, three letters or digits, and seven digits, as EG-A01-26-00001');
    if (isrc) set.isrc = isrc;
    const query = body.query as Query | undefined;
    const paths = query ? this.find(query).map(({ path }) => path) : (body.paths as string[]);
    if (paths.length > (query ? 20_000 : 1000)) return refused(422, 'too many tracks at once');
    return this.#note(paths, set, 'edit');
  }

  #note(paths: readonly string[], set: Change, kind: Deed['kind']): Answer {
    const [before, unknown]: [Map<string, Note>, Json[]] = [new Map(), []];
    const byPath = new Map(paths.length > 50 ? this.tracks.map((kept) => [kept.path, kept]) : []);
    for (const path of paths) {
      const kept = paths.length > 50 ? byPath.get(path) : this.track(path);
      if (!kept) unknown.push({ path, en: 'it is not in the library any more', ar: 'لم يعد في المكتبة' });
      else if (Object.entries(set).some(([field, value]) => JSON.stringify(kept.note[field as Field] ?? null) !== JSON.stringify(value))) {
        before.set(path, { ...kept.note });
        kept.say(set);
      }
    }
    if (before.size === 0) return [200, { changed: 0, refused: unknown }];
    const [only] = before.size === 1 ? [...before] : [];
    const deed = this.#deed({ kind, tracks: before.size, path: only?.[0] ?? '', fields: Object.keys(set), ...(only && { before: only[1], after: { ...this.track(only[0])?.note } }) }, before);
    return [200, { deed, changed: before.size, refused: unknown }];
  }

  #cover(paths: string[], bytes: Buffer): Answer {
    if (bytes.length > 8 * 1024 * 1024) return refused(413, 'a cover has 8 MB at most');
    const hash = `shelf-${bytes.length}`;
    this.covers.set(hash, bytes);
    const [, body] = this.#note(paths, { cover: hash }, 'cover');
    return [200, { deed: (body as { deed?: Deed }).deed, cover: hash }];
  }

  #peaks(path: string): Answer {
    if (this.peaksLater > 0) {
      this.peaksLater--;
      return refused(503, 'the waveform is not drawn yet, try again');
    }
    const columns = Buffer.from(Array.from({ length: 400 }, (_, i) => 60 + Math.abs((i * 37) % 120 - 60) / 2).flatMap((half) => [128 - half, 127 + half]));
    return [200, { durationMs: this.track(path)?.file.durationMs ?? 0, peaks: columns.toString('base64') }];
  }

  #archive(paths: string[]): Answer {
    const [gone, kept]: [Kept[], string[]] = [[], []];
    const left: Json[] = [];
    for (const path of paths) {
      const track = this.track(path);
      if (!track) left.push({ path, reason: 'it is not in the library any more' });
      else if (this.onAir.has(path)) kept.push(path);
      else gone.push(track);
    }
    this.#take(gone);
    return [200, { archived: gone.map(({ path }) => path), kept, left }];
  }

  #take(gone: readonly Kept[]): void {
    const paths = new Set(gone.map(({ path }) => path));
    this.tracks = this.tracks.filter(({ path }) => !paths.has(path));
    this.archived = [...gone.map((kept) => ({ path: kept.path, category: kept.file.category, reason: 'by hand', code: 'by_hand', at: Date.now(), size: kept.file.size, kept })), ...this.archived];
    this.changed();
  }

  #restore(paths: string[]): Answer {
    const [restored, missing, inTheWay]: [string[], string[], string[]] = [[], [], []];
    for (const path of paths) {
      const file = this.archived.find((one) => one.path === path);
      if (!file) missing.push(path);
      else if (this.track(path)) inTheWay.push(path);
      else {
        this.tracks = [...this.tracks, file.kept ?? made(1, { path, title: path.split('/').at(-1)?.replace(/\.\w+$/, '').replaceAll('_', ' ') ?? '', category: file.category })[0]!];
        restored.push(path);
      }
    }
    this.archived = this.archived.filter(({ path }) => !restored.includes(path));
    this.changed();
    return [200, { restored: restored.length, missing, inTheWay }];
  }

  #retry(paths: string[]): Answer {
    const airs = paths.filter((path) => this.mended.has(path));
    this.quarantined = this.quarantined.filter(({ path }) => !airs.includes(path));
    return [200, { registered: airs, gone: [], refused: this.quarantined.filter(({ path }) => paths.includes(path)).map(({ path, reason }) => ({ path, reason })) }];
  }

  #undo(id: number): Answer {
    const deed = this.deeds.find((one) => one.id === id);
    const before = this.#before.get(id);
    if (!deed || !before || deed.undone) return refused(409, 'it cannot be taken back');
    const kept: string[] = [];
    let changed = 0;
    const later = this.deeds.filter((one) => one.id > id && !one.undone && one.kind !== 'undo' && (one.fields ?? []).some((field) => deed.fields?.includes(field)));
    for (const [path, note] of before) {
      if (later.some((one) => this.#before.get(one.id)?.has(path))) kept.push(path);
      else {
        this.track(path)?.say(Object.fromEntries(deed.fields.map((field) => [field, note[field as Field] ?? null])) as Change);
        changed++;
      }
    }
    const back = this.#deed({ kind: 'undo', tracks: changed, path: deed.path, fields: deed.fields }, new Map());
    deed.undone = back.id;
    return [200, { deed: back, changed, refused: [], kept }];
  }

  #deed(said: Partial<Deed> & Pick<Deed, 'kind' | 'tracks'>, before: Map<string, Note>): Deed {
    const deed: Deed = { id: this.#next++, at: Date.now(), by: 'Omar Naguib', path: '', fields: [], ...said };
    this.deeds = [deed, ...this.deeds];
    this.#before.set(deed.id, before);
    this.changed();
    return deed;
  }
}

/** Limits as they are afterwards: every field of them is sent, null where there is none. */
function merged(set: Change): Change {
  if (!set.limits) return set;
  const limits = Object.fromEntries(Object.entries(set.limits).filter(([, value]) => value !== null));
  return { ...set, limits: Object.keys(limits).length > 0 ? limits : null };
}

function hasState(track: Track, state: string): boolean {
  if (state === 'edited' || state === 'cut' || state === 'limited') return track[state];
  return state === 'never' ? track.airedAt === 0 : track.state === state;
}

function sortKey(track: Track, sort: string): string | number {
  const numbers: Record<string, number> = { duration: track.durationMs, added: track.addedAt, aired: track.airedAt, plays: track.plays };
  const text = folded(String(track[sort as 'title'])) || '\uffff'; // nothing comes last
  return numbers[sort] ?? text + (sort === 'artist' ? `\u0001${folded(track.title)}` : '');
}

function paged<T extends { path: string }>(files: T[], query: URLSearchParams): { total: number; files: T[] } {
  const words = folded(query.get('q') ?? '').split(/\s+/).filter(Boolean);
  const found = files.filter(({ path }) => words.every((word) => folded(path).includes(word)));
  const offset = Number(query.get('offset') ?? 0);
  return { total: found.length, files: found.slice(offset, offset + Number(query.get('limit') ?? 100)) };
}

export function send(response: ServerResponse, [status, body, headers = {}]: Answer): void {
  const whole = Buffer.isBuffer(body);
  response.writeHead(status, { 'content-type': status >= 400 ? 'application/problem+json' : 'application/json', 'cache-control': 'no-store', ...headers }).end(body === undefined ? undefined : whole ? body : JSON.stringify(body));
}

/** With ranges, as an audio element asks. */
export function sendSound(request: IncomingMessage, response: ServerResponse, sound: Buffer, type = 'audio/ogg'): void {
  const asked = /^bytes=(\d+)-(\d*)$/.exec(String(request.headers.range ?? ''));
  const headers = { 'content-type': type, 'accept-ranges': 'bytes' };
  if (!asked) return void response.writeHead(200, { ...headers, 'content-length': sound.length }).end(sound);
  const [from, to] = [Number(asked[1]), asked[2] ? Number(asked[2]) : sound.length - 1];
  response.writeHead(206, { ...headers, 'content-length': to - from + 1, 'content-range': `bytes ${from}-${to}/${sound.length}` }).end(sound.subarray(from, to + 1));
}
