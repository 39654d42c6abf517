import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Item, ListDeed, Playlist, Said, Settings, Sorting } from '../../src/studio/library/playlists/answers';
import { movedList } from '../../src/studio/moves';
import { minutesOf } from '../../src/studio/programme/day';
import { refused, send, type Answer, type Shelves } from './library';
import { folded } from './tracks';

type Json = Record<string, unknown>;
interface Kept {
  list: Playlist;
  paths: string[];
}
/** A playlist before and after a deed; missing: it was not there. */
interface Before {
  was: Kept | null;
  version: number;
}

const day = 86_400_000;
const wrong = (field: string, message: string, arabic = ''): Answer => refused(422, 'validation failed', { errors: [{ location: `body.${field}`, message, ...(arabic ? { arabic } : {}) }] });
const conflict = (): Answer => refused(409, 'the playlist has been changed since: read it again');

/** The playlists of a station as its API gives them, with versions, deeds and faults where a test wants them. */
export class Lists {
  readonly kept = new Map<number, Kept>();
  /** Newest first. */
  deeds: ListDeed[] = [];
  /** An answer to give to the next change instead. */
  refusal: Answer | null = null;
  /** Entries of the address that nothing fits, and whether fetching fails. */
  unmatched = [{ title: 'Nobody — Unknown Song', address: 'https://radio.example/unknown.mp3' }];
  fetchFails = false;
  /** Nobody answers the items. */
  down = false;
  /** Changes taken: method, path below the playlists', and body. */
  readonly taken: { order: string; body: unknown }[] = [];
  #next = 1;
  readonly #before = new Map<number, Before>();
  readonly #library: Shelves;

  constructor(library: Shelves) {
    this.#library = library;
  }

  /** Puts a playlist there, as it was made long ago. */
  add(said: Partial<Playlist>, paths: readonly string[] = []): Said {
    const list: Playlist = {
      id: this.#next++, name: 'Playlist', note: '', kind: 'hand', order: 'sequence', plays: 'clock', share: 30, everySongs: 4, minute: 0, when: [], on: true, version: 1,
      tracks: 0, ready: 0, missing: 0, durationMs: 0, open: false, nextAt: 0, airedAt: 0, changedAt: Date.now() - 3 * day, by: 'Sara Hosny', ...said,
    };
    this.kept.set(list.id, { list, paths: [...paths] });
    return this.#seen(list.id);
  }

  /** Paths of the library, over and over. */
  paths(n: number): string[] {
    const { tracks } = this.#library;
    return Array.from({ length: n }, (_, i) => tracks[i % tracks.length]?.path ?? '');
  }

  /** Somebody changes it elsewhere. */
  touch(id: number): void {
    const kept = this.kept.get(id);
    if (kept) kept.list.version++;
  }

  answer(request: IncomingMessage, url: URL, response: ServerResponse): boolean {
    if (url.pathname !== '/api/station/playlists' && !url.pathname.startsWith('/api/station/playlists/')) return false;
    if (!this.#library.lets(request)) {
      send(response, refused(401, 'send the station key'));
      return true;
    }
    const pieces: Buffer[] = [];
    request.on('data', (chunk: Buffer) => pieces.push(chunk));
    request.on('end', () => {
      const bytes = Buffer.concat(pieces);
      const json = String(request.headers['content-type'] ?? '').includes('json') && bytes.length > 0 ? (JSON.parse(bytes.toString()) as Json) : {};
      send(response, this.#route(String(request.method), url, json, bytes.toString(), response));
    });
    return true;
  }

  #route(method: string, url: URL, body: Json, text: string, response: ServerResponse): Answer {
    const parts = url.pathname.slice('/api/station/playlists'.length).split('/').filter(Boolean);
    const route = `${method} ${parts.map((part) => (/^\d+$/.test(part) ? '{}' : part)).join('/')}`;
    const id = Number(parts.find((part) => /^\d+$/.test(part)) ?? 0);
    const { searchParams: query } = url;
    if (method !== 'GET') {
      if (this.refusal) {
        const said = this.refusal;
        this.refusal = null;
        return said;
      }
      if (query.get('dry') !== 'true') this.taken.push({ order: route, body: Object.keys(body).length > 0 ? body : text });
    }
    if (route === 'GET ') return [200, { playlists: [...this.kept.keys()].map((one) => this.#seen(one)).sort((a, b) => (a.name < b.name ? -1 : 1)) }];
    if (route === 'POST ') return this.#make(body as unknown as Settings);
    if (route === 'POST file') return this.#file(query.get('name') ?? '', query.get('dry') === 'true', text);
    if (route === 'GET deeds') return [200, { deeds: this.deeds.filter((deed) => (!query.get('before') || deed.id < Number(query.get('before'))) && (!query.get('list') || deed.list === Number(query.get('list')))).slice(0, Number(query.get('limit') ?? 50)) }];
    if (route === 'POST deeds/{}/undo') return this.#undo(id);
    const kept = this.kept.get(id);
    if (!kept) return refused(404, 'there is no such playlist');
    const answers: Record<string, () => Answer> = {
      'GET {}': () => [200, { playlist: this.#seen(id) }],
      'PUT {}': () => this.#set(kept, body as unknown as Settings & { version: number }),
      'DELETE {}': () => {
        const deed = this.#deed('delete', kept, kept.paths.length, structuredClone(kept));
        this.kept.delete(id);
        return [200, { deed }];
      },
      'GET {}/items': () => {
        if (this.down) {
          response.destroy();
          return [200, undefined];
        }
        const [offset, limit] = [Number(query.get('offset') ?? 0), Number(query.get('limit') ?? 100)];
        if (limit > 200) return refused(422, 'validation failed');
        const paths = this.#pathsOf(kept);
        return [200, { version: kept.list.version, total: paths.length, items: paths.slice(offset, offset + limit).map((path, i) => this.#item(path, offset + i)) }];
      },
      'PATCH {}/items': () => this.#items(kept, body),
      'POST {}/refresh': () => {
        kept.list = { ...kept.list, version: kept.list.version + 1, ...(this.fetchFails ? { problem: { en: 'the address answered 404 Not Found', ar: 'ردّ الرابط بأنه غير موجود (404).' } } : { fetchedAt: Date.now(), unmatched: this.unmatched }) };
        if (!this.fetchFails) {
          delete kept.list.problem;
          kept.paths = this.paths(12);
        }
        return [200, { playlist: this.#seen(id) }];
      },
      'GET {}/export': () => {
        const format = query.get('format') ?? '';
        const lines = this.#pathsOf(kept);
        const file = format === 'm3u' ? ['#EXTM3U', ...lines] : format === 'pls' ? ['[playlist]', ...lines.map((path, i) => `File${i + 1}=${path}`)] : ['<playlist>', ...lines, '</playlist>'];
        return [200, Buffer.from(file.join('\n')), { 'content-type': 'audio/x-mpegurl' }];
      },
    };
    return answers[route]?.() ?? refused(404, 'there is no such route');
  }

  #pathsOf({ list, paths }: Kept): string[] {
    return list.kind === 'smart' ? this.#library.find(list.query ?? {}).map(({ path }) => path) : paths;
  }

  #item(path: string, place: number): Item {
    const track = this.#library.track(path)?.seen();
    return { place, path, missing: !track, ...(track ? { track } : {}) };
  }

  /** As the station writes it: without what says nothing, and figures of other ways of playing. */
  #seen(id: number): Said {
    const kept = this.kept.get(id)!;
    const paths = this.#pathsOf(kept);
    const known = new Map(this.#library.tracks.map((one) => [one.path, one]));
    const files = paths.flatMap((path) => known.get(path)?.file ?? []);
    const { list } = kept;
    const { note, share, everySongs, minute, ...rest } = list;
    return { ...rest, ...(note ? { note } : {}), ...(list.plays === 'share' ? { share } : {}), ...(list.plays === 'songs' ? { everySongs } : {}), ...(list.plays === 'hourly' && minute ? { minute } : {}), tracks: paths.length, ready: files.filter(({ state }) => state === 'airs').length, missing: paths.length - files.length, durationMs: files.reduce((sum, { durationMs }) => sum + durationMs, 0), open: list.open || list.when.length === 0 };
  }

  #faults(said: Settings, own = 0): Answer | null {
    if (said.name.trim() === '') return wrong('name', 'must not be empty', 'لا يمكن أن يكون فارغًا');
    if ([...this.kept.values()].some(({ list }) => list.id !== own && list.name === said.name)) return wrong('name', 'is that of another playlist', 'الاسم لقائمة أخرى');
    if (said.plays === 'once' && said.order !== 'sequence') return wrong('order', 'must be sequence: it plays once from its beginning', 'القائمة التي تُذاع مرة واحدة من أولها تكون بالترتيب');
    if (said.plays === 'once' && said.when.length === 0) return wrong('when', 'must say when it begins', 'حدّد متى تبدأ القائمة');
    if (said.plays === 'songs' && (said.everySongs < 1 || said.everySongs > 500)) return wrong('everySongs', 'must be 1 to 500', 'من ١ إلى ٥٠٠');
    if (said.kind === 'remote' && !/^https?:\/\/\S+$/.test(said.address ?? '')) return wrong('address', 'must be an address, https://…', 'رابط يبدأ بـ https://');
    for (const [i, window] of said.when.entries()) {
      if (Number.isNaN(minutesOf(window.start))) return wrong(`when[${i}].start`, 'must be a time of day, HH:MM', 'وقت بصيغة HH:MM');
      if (window.from && window.until && window.until < window.from) return wrong(`when[${i}].until`, 'the last day is before the first', 'آخر يوم قبل أول يوم');
    }
    return null;
  }

  #make(said: Settings): Answer {
    const fault = this.#faults(said);
    if (fault) return fault;
    const list = this.add({ ...said, changedAt: Date.now(), by: 'Omar Naguib' });
    if (said.kind === 'remote') this.kept.get(list.id)!.paths = [];
    const deed = this.#deed('make', this.kept.get(list.id)!, 0, null);
    return [200, { playlist: this.#seen(list.id), deed }];
  }

  #set(kept: Kept, { version, ...said }: Settings & { version: number }): Answer {
    if (version !== kept.list.version) return conflict();
    const fault = this.#faults(said, kept.list.id);
    if (fault) return fault;
    const was = structuredClone(kept);
    kept.list = { ...kept.list, ...said, version: version + 1, changedAt: Date.now(), by: 'Omar Naguib', nextAt: said.when.length > 0 ? Date.now() + 26 * 3_600_000 : 0 };
    return [200, { playlist: this.#seen(kept.list.id), deed: this.#deed('set', kept, 0, was) }];
  }

  #items(kept: Kept, body: Json): Answer {
    if (body.version !== kept.list.version) return conflict();
    if (kept.list.kind !== 'hand') return refused(409, 'what is in this playlist is not put together by hand');
    const was = structuredClone(kept);
    let [reached, added] = [0, 0];
    const unknown: Json[] = [];
    if (body.add) {
      const { paths, query, at } = body.add as { paths?: string[]; query?: Json; at?: number };
      const wanted = query ? this.#library.find(query).map(({ path }) => path) : (paths ?? []);
      const fit = wanted.filter((path) => this.#library.track(path) || (unknown.push({ path, en: 'it is not in the library any more', ar: 'لم يعد في المكتبة' }), false));
      if (kept.paths.length + fit.length > 20_000) return refused(422, 'a playlist has 20000 entries at most');
      kept.paths.splice(at ?? kept.paths.length, 0, ...fit);
      reached = added = fit.length;
    } else if (body.remove) {
      const gone = new Set((body.remove as { places: number[] }).places);
      kept.paths = kept.paths.filter((_, place) => !gone.has(place));
      reached = gone.size;
    } else if (body.move) {
      const move = body.move as { places: number[]; to: number };
      kept.paths = movedList(kept.paths, move);
      reached = move.places.length;
    } else if (body.sort) {
      const by = body.sort as Sorting;
      const key = (path: string): string => {
        const track = this.#library.track(path)?.seen();
        return by === 'path' || !track ? path : by === 'duration' ? String(track.durationMs).padStart(9, '0') : folded(track[by as 'title'] ?? '');
      };
      if (by === 'shuffle') kept.paths = kept.paths.map((path, i) => [(i * 7919 + 13) % 104_729, path] as const).sort(([a], [b]) => a - b).map(([, path]) => path);
      else kept.paths = kept.paths.map((path) => [key(path), path] as const).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, path]) => path);
      reached = kept.paths.length;
    }
    kept.list = { ...kept.list, version: kept.list.version + 1, changedAt: Date.now(), by: 'Omar Naguib' };
    return [200, { playlist: this.#seen(kept.list.id), deed: this.#deed('items', kept, reached, was), added, refused: unknown }];
  }

  #file(name: string, dry: boolean, text: string): Answer {
    const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '' && !line.startsWith('#'));
    if (lines.length === 0) return wrong('', 'it is no playlist, or holds nothing');
    const found = lines.flatMap((line) => this.#library.track(line)?.seen() ?? []).map(({ title, path }) => ({ title, path }));
    const missing = lines.filter((line) => !this.#library.track(line)).map((address) => ({ title: address.split('/').at(-1)?.replace(/\.\w+$/, '') ?? '', address }));
    const said = { entries: lines.length, found, missing, matched: found.length, name: name.replace(/\.\w+$/, '') };
    if (dry) return [200, said];
    const list = this.add({ name: name.replace(/\.\w+$/, ''), changedAt: Date.now(), by: 'Omar Naguib' }, found.map(({ path }) => path));
    return [200, { ...said, playlist: list, deed: this.#deed('make', this.kept.get(list.id)!, found.length, null) }];
  }

  #undo(id: number): Answer {
    const deed = this.deeds.find((one) => one.id === id);
    const before = this.#before.get(id);
    const now = deed && this.kept.get(deed.list);
    if (!deed || !before || deed.undone || (now && now.list.version !== before.version) || (!now && deed.kind !== 'delete')) return refused(409, 'the playlist has been changed again since');
    const was = now ? structuredClone(now) : null;
    if (!before.was) this.kept.delete(deed.list);
    else this.kept.set(deed.list, { ...structuredClone(before.was), list: { ...before.was.list, version: before.version + 1 } });
    const after = this.kept.get(deed.list);
    const back = this.#deed('undo', after ?? now ?? before.was!, deed.tracks, was, id);
    deed.undone = back.id;
    // The deed before it may be taken back next: what stands is what it made.
    for (const [other, kept] of this.#before) if (after && other < id && this.deeds.find((one) => one.id === other)?.list === deed.list && kept.version === before.version - 1) this.#before.set(other, { ...kept, version: after.list.version });
    return [200, { ...(after ? { playlist: this.#seen(deed.list) } : {}), deed: back }];
  }

  #deed(kind: ListDeed['kind'], { list }: Kept, tracks: number, was: Kept | null, undoes?: number): ListDeed {
    const deed: ListDeed = { id: (this.deeds[0]?.id ?? 0) + 1, at: Date.now(), by: 'Omar Naguib', kind, list: list.id, name: list.name, tracks, ...(undoes ? { undoes } : {}) };
    this.deeds = [deed, ...this.deeds];
    this.#before.set(deed.id, { was, version: list.version });
    return deed;
  }
}
