import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Alike, Arrival } from '../../src/studio/library/answers';
import { refused, send, type Answer, type Shelves } from './library';
import { made } from './tracks';
import { Tus } from './tus';

type Json = Record<string, unknown>;

/** What is sent to the library of a station, until it is in it. Each look at the list moves it on by one step. */
export class Intake {
  /** Newest last. */
  arrivals: Arrival[] = [];
  readonly tus: Tus;
  /** Nothing moves on while this is set. */
  still = false;
  /** What is taken back is on the air until this is unset: its line says so. */
  onAir = false;
  /** Statuses of the answers to who asks what has arrived. */
  readonly told: number[] = [];
  /** Orders taken: method, path below intake, and body. */
  readonly taken: { order: string; body: unknown }[] = [];
  readonly #shelves: Shelves;
  readonly #replaces = new Map<string, string>();
  #next = 1;

  constructor(shelves: Shelves) {
    this.#shelves = shelves;
    this.tus = new Tus(
      () => null,
      (meta, _, length) => {
        const id = `in${this.#next++}`;
        this.#arrive(id, meta, length);
        return { 'x-intake-id': id };
      },
      '/api/station/library/uploads/',
    );
  }

  answer(request: IncomingMessage, url: URL, response: ServerResponse): boolean {
    const { pathname: path } = url;
    if (path.startsWith('/api/station/library/uploads')) {
      if (this.#shelves.lets(request)) this.tus.answer(request, url, response);
      else send(response, refused(401, 'send the station key'));
      return true;
    }
    if (path !== '/api/station/library/intake' && !path.startsWith('/api/station/library/intake/')) return false;
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      if (!this.#shelves.lets(request)) return send(response, refused(401, 'send the station key'));
      const [id = '', act = ''] = path.split('/').slice(5);
      const body = text ? (JSON.parse(text) as Json) : {};
      if (request.method !== 'GET' && act !== 'ticket') this.taken.push({ order: `${request.method} ${[id, act].filter(Boolean).join('/')}`, body });
      const answer = this.#route(request.method ?? '', id, act, body);
      send(response, request.method === 'GET' && id === '' ? this.#unlessKnown(request, answer) : answer);
    });
    return true;
  }

  /** What the asker has already is not sent again. */
  #unlessKnown(request: IncomingMessage, [status, body]: Answer): Answer {
    const etag = `"${createHash('sha256').update(JSON.stringify(body)).digest('hex')}"`;
    const known = request.headers['if-none-match'] === etag;
    this.told.push(known ? 304 : status);
    return known ? [304, undefined, { etag }] : [status, body, { etag }];
  }

  /** A file that somebody sent before the page was opened. */
  arrive(name: string, more: Partial<Arrival> = {}): Arrival {
    const id = `in${this.#next++}`;
    this.#arrive(id, { filename: name, batch: 'earlier' }, 3_200_000);
    const arrival = this.#of(id)!;
    Object.assign(arrival, this.#looked(arrival), more);
    return arrival;
  }

  #arrive(id: string, meta: Json, size: number): void {
    const name = String(meta.filename);
    if (meta.replace) this.#replaces.set(id, String(meta.replace));
    const arrival: Arrival = {
      id, batch: String(meta.batch ?? ''), name, folder: String(meta.folder ?? ''), size, at: Date.now(), by: 'Omar Naguib', state: 'looking', category: String(meta.category ?? ''), guessed: false, why: { en: '', ar: '' }, title: '', artist: '', album: '', durationMs: 0, alike: [], asks: [], replace: String(meta.replace ?? ''), path: '', airsAt: 0,
    };
    this.arrivals = [...this.arrivals, arrival];
  }

  #of(id: string): Arrival | undefined {
    return this.arrivals.find((arrival) => arrival.id === id);
  }

  /** What the station finds: a name with broken in it is no sound, and one with twin is in the library. */
  #looked(arrival: Arrival): Partial<Arrival> {
    const title = arrival.name.replace(/\.\w+$/, '').replaceAll('_', ' ');
    if (/broken/i.test(arrival.name)) return { state: 'refused', reason: { code: 'no_audio', en: 'There is no sound in this file.', ar: 'لا صوت في هذا الملف.' } };
    const found = { title, artist: 'The Paper Lanterns', durationMs: 185_000 };
    const old = this.#shelves.tracks[4]?.seen();
    const alike: Alike[] = /twin/i.test(arrival.name) && old ? [{ path: old.path, title: old.title, artist: old.artist, category: old.category, durationMs: old.durationMs, size: old.size, same: 'recording', difference: 0.04 }] : [];
    if (this.#replaces.has(arrival.id)) return { ...found, state: 'taking' };
    const guess = arrival.category === '' ? { category: 'english', guessed: true, why: { en: 'its folder and its language', ar: 'من مجلده ولغته' } } : {};
    const asks: Arrival['asks'] = [...(arrival.category === '' ? ['category' as const] : []), ...(alike.length > 0 ? ['duplicate' as const] : [])];
    return { ...found, ...guess, alike, asks, state: asks.length > 0 ? 'asks' : 'taking' };
  }

  /** One step of each. */
  #move(): void {
    if (this.still) return;
    this.arrivals = this.arrivals.map((arrival) => {
      if (arrival.state === 'undoing' && !this.onAir) return this.#back(arrival);
      if (arrival.state === 'looking') return { ...arrival, ...this.#looked(arrival) };
      return arrival.state === 'taking' ? this.#into(arrival) : arrival;
    });
  }

  #into(arrival: Arrival): Arrival {
    const replaced = this.#replaces.get(arrival.id);
    const path = replaced || `${arrival.category || 'english'}/${arrival.name}`;
    if (!replaced) this.#shelves.tracks = [...this.#shelves.tracks, made(1, { path, title: arrival.title, artist: arrival.artist, category: arrival.category || 'english', size: arrival.size, durationMs: arrival.durationMs, state: 'waiting', reason: 'its levelled copy is being made' })[0]!];
    this.#shelves.changed();
    return { ...arrival, state: 'taken', path, airsAt: Date.now() + 60_000, asks: [] };
  }

  #back({ reason: _, ...arrival }: Arrival): Arrival {
    if (!arrival.replace) this.#shelves.tracks = this.#shelves.tracks.filter(({ file }) => file.path !== arrival.path);
    this.#shelves.changed();
    return { ...arrival, state: 'undone' };
  }

  #route(method: string, id: string, act: string, body: Json): Answer {
    if (method === 'GET' && id === '') {
      const answer = structuredClone(this.arrivals);
      this.#move();
      return [200, { files: answer, taking: answer.some(({ state }) => state === 'taking') }];
    }
    if (method === 'POST' && id === 'take') {
      const ids = body.all ? this.arrivals.filter(({ state }) => state === 'asks').map((one) => one.id) : (body.ids as string[]);
      this.arrivals = this.arrivals.map((arrival) => (ids.includes(arrival.id) ? { ...arrival, state: 'taking', asks: [] } : arrival));
      return [200, { taken: ids.length }];
    }
    const arrival = this.#of(id);
    if (!arrival) return refused(404, 'there is no such file');
    if (method === 'DELETE') {
      this.arrivals = this.arrivals.filter((one) => one.id !== id);
      return [204, undefined];
    }
    if (method === 'POST' && act === 'ticket') return this.#shelves.ticket('intake/');
    if (method === 'POST' && act === 'again') {
      arrival.state = 'looking';
      delete arrival.reason;
      return [200, arrival];
    }
    if (method === 'POST' && act === 'undo') {
      if (arrival.state !== 'taken') return refused(409, 'the upload is not in the library: there is nothing to take back: conflict');
      Object.assign(arrival, { state: 'undoing', airsAt: 0, ...(this.onAir && { reason: { code: 'on_air', en: 'It is on the air. It is taken back right afterwards.', ar: 'المقطع على الهواء الآن. سيُلغى بعد ذلك مباشرة.' } }) });
      return [200, arrival];
    }
    if (method !== 'PUT') return refused(404, 'there is no such route');
    const { replace, ...said } = body as { replace?: string };
    if (replace !== undefined) {
      this.#replaces.set(id, replace);
      arrival.replace = replace;
    }
    Object.assign(arrival, said, 'category' in said ? { guessed: false } : {});
    // What was chosen asks no more, and is taken when somebody says so: its names may still be changed.
    if ('category' in said) arrival.asks = arrival.asks.filter((what) => what !== 'category');
    return [200, arrival];
  }
}
