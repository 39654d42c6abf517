import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'socket.io';
import type { Active, Encoder, Entry, LiveStatus, Publisher, PublisherOrder, Recording, Session, Source } from '../../src/studio/live/answers';

type Json = Record<string, unknown>;

const minute = 60_000;
export const studioId = 'LIVE000057d0';

export function entry(id: string, more: Partial<Entry> = {}): Entry {
  return { id, url: 'pipe:/run/athir/live.pcm', title: '', creator: '', listeners: 0, votes: 0, ingest: 'pipe', addedAt: Date.now() - 86_400_000, lastLiveAt: 0, available: true, ...more };
}

export function source(id: string, more: Partial<Source> = {}): Source {
  return { id, url: '', title: '', creator: '', state: 'ready', since: Date.now() - minute, peakDbfs: -14.3, lufs: -19.8, gainDb: 5.8, silentMs: 0, bufferedMs: 120, ...more };
}

export function phone(id: string, name: string, more: Partial<Session> = {}): Session {
  return { id, publisher: 'sara', name, title: '', state: 'connected', holds: false, since: Date.now() - minute, muted: false, rttMs: 84.4, jitterMs: 12, lossPct: 0.4, frames: 9000, concealed: 9, peakDbfs: -15, relayed: false, ...more };
}

/** The live half of a station: streams, phones, who may come, and what was recorded. */
export class Live {
  registry: Entry[] = [
    entry('LIVE5f0c91aa', { title: 'سهرة الخميس', creator: 'سارة', votes: 3, listeners: 0, lastLiveAt: Date.now() - 3 * minute }),
    entry('LIVE0b7e22c4', { url: 'source:/omar', title: 'Omar <b>& friends</b>', creator: 'Omar', ingest: 'rtmp', votes: -1 }),
    entry('LIVE91d2e07f', { url: 'https://radio.example/live/very-long-address/of-an-hls-stream/index.m3u8', title: 'من ميدان التحرير', creator: 'إذاعة النيل', ingest: 'rtmp', listeners: 240, lastLiveAt: Date.now() - 50 * 3_600_000 }),
  ];
  sources: Source[] = [source('LIVE5f0c91aa'), source('LIVE0b7e22c4', { peakDbfs: -38, lufs: -44, silentMs: 9000 })];
  sessions: Session[] = [phone('s1', 'سارة', { holds: true }), phone('s2', 'Omar K.', { muted: true, lossPct: 7.5, relayed: true })];
  encoders: Encoder[] = [{ session: 'e1', stream: 'LIVE0b7e22c4', protocol: 'source', publisher: 'omar', name: 'Omar', since: Date.now() - minute, heldUntil: 0 }];
  publishers: Publisher[] = [
    { id: 'sara', name: 'سارة', show: 'سهرة الخميس', from: 0, until: 0, slots: [{ day: 'thu', from: '20:00', to: '22:00' }, { day: 'fri', from: '21:00', to: '23:30' }], grace: 15, auto: true, revoked: false, createdAt: 1, lastLiveAt: Date.now() - 3 * minute },
  ];
  recordings: Recording[] = [
    { name: '20261124-200000-sara.wav', stream: 'LIVE5f0c91aa', title: 'سهرة الخميس', creator: 'سارة', startedAt: Date.now() - 26 * 3_600_000, durationMs: 5_400_000, bytes: 172.8e6, running: false, problem: '', listeners: { average: 81.4, most: 128 } },
    { name: '20261122-180000-omar.wav', stream: 'LIVE0b7e22c4', title: 'Omar & friends', creator: 'Omar', startedAt: Date.now() - 74 * 3_600_000, durationMs: 1_812_000, bytes: 58e6, running: false, problem: 'the disk was full', listeners: { average: 12, most: 0 } },
  ];
  active: Active | null = null;
  /** The engine says that live audio is heard. It follows an order, unless it is held. */
  heard = false;
  /** What was ordered does not reach the engine. */
  held = false;
  show: LiveStatus['show'] | null = null;
  wrapUpAt = 0;
  ended: LiveStatus['ended'] | null = null;
  recording: LiveStatus['recording'] | null = null;
  desk = true;
  phones = true;
  off = false;
  goLive = '';
  secure = false;
  /** An answer to give instead of the next order's. */
  refusal: { status: number; detail: string } | null = null;
  /** Orders taken: method, path below /api/station/live, body. */
  readonly taken: { order: string; body: Json }[] = [];
  /** What came from studios' microphones: the MIME type, and each chunk. */
  readonly spoken: { type: string; chunks: Buffer[]; stopped: boolean }[] = [];
  /** Open connections of those who listen in. */
  listeners = 0;
  /** Whether a studio's microphone takes the air at once. */
  studioTakes = true;
  readonly #key: () => string;
  readonly #air: (live: boolean) => void;

  constructor(io: Server, key: () => string, air: (live: boolean) => void) {
    this.#key = key;
    this.#air = air;
    io.on('connection', (socket) => this.#meet(socket));
  }

  /** Puts a stream on the air, as the takeover does. */
  take(id: string, mode: Active['mode'] = 'replace', since = Date.now()): void {
    const stream = this.registry.find((other) => other.id === id);
    if (!stream) return;
    const { blacklisted: _, ...record } = stream;
    this.active = { ...record, mode, since, publisher: stream.creator, onAir: false };
    this.sources = this.sources.map((other) => ({ ...other, state: other.id === id ? 'on air' : 'ready' }));
    this.recording = { name: `${id}.wav`, since, bytes: 1e6 };
    this.hear(!this.held);
  }

  free(): void {
    this.active = this.recording = null;
    this.wrapUpAt = 0;
    this.sources = this.sources.map((other) => ({ ...other, state: 'ready' }));
    this.hear(false);
  }

  hear(heard: boolean): void {
    this.heard = heard;
    if (this.active) this.active = { ...this.active, onAir: heard };
    this.#air(heard && this.active?.mode !== 'over'); // the rotation goes on under a talk-over
  }

  status(): LiveStatus {
    const next = this.registry.find(({ id, blacklisted }) => !blacklisted && id !== this.active?.id);
    return {
      ...this.#state(), next: next?.id ?? '', sources: this.sources, sessions: this.phones ? this.sessions : [], encoders: this.encoders, harbor: this.active !== null, desk: this.desk, phones: this.phones,
      listeners: 128, entrances: this.#entrances(), now: Date.now(), ...(this.ended ? { ended: this.ended } : {}), ...(this.recording ? { recording: this.recording } : {}),
    };
  }

  answer(request: IncomingMessage, url: URL, response: ServerResponse): boolean {
    const open = /^\/api\/live\/recordings\/([^/]+)$/.exec(url.pathname);
    if (open) return this.#play(decodeURIComponent(open[1] as string), url, response);
    const path = /^\/api\/station\/live(?:\/(.*))?$/.exec(url.pathname);
    if (!path) return false;
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => this.#route(request, decodeURIComponent(path[1] ?? ''), text ? (JSON.parse(text) as Json) : {}, response));
    return true;
  }

  #entrances() {
    return { goLive: this.goLive, secure: this.secure, whip: 8089, source: 8007, rtmp: 19350 };
  }

  #state() {
    return { registry: this.registry, onAir: this.heard, wrapUpAt: this.wrapUpAt, ...(this.active ? { active: this.active } : {}), ...(this.show ? { show: this.show } : {}) };
  }

  #route(request: IncomingMessage, path: string, body: Json, response: ServerResponse): void {
    const say = (status: number, answer?: unknown) => void response.writeHead(status, { 'content-type': status < 400 ? 'application/json' : 'application/problem+json' }).end(answer === undefined ? '' : JSON.stringify(answer));
    const problem = (status: number, detail: string) => say(status, { title: 'Problem', status, detail });
    const sent = Buffer.from(String(request.headers['x-station-key'] ?? ''), 'latin1').toString('utf8');
    if (this.#key() && sent !== this.#key()) return problem(401, 'send the station key');
    if (this.off) return problem(503, 'live broadcasting is switched off');
    if (request.method !== 'GET') {
      this.taken.push({ order: `${request.method} ${path}`, body });
      if (this.refusal) {
        const { status, detail } = this.refusal;
        this.refusal = null;
        return problem(status, detail);
      }
    }
    const listen = /^sources\/(.+)\/listen$/.exec(path);
    if (listen) return this.sources.some(({ id }) => id === listen[1]) ? this.#tone(response) : problem(404, 'no such source');
    const [status, answer] = this.#carry(request.method ?? '', path, body);
    say(status, answer ?? (status === 204 ? undefined : { live: this.#state() }));
  }

  #carry(method: string, path: string, body: Json): [number, unknown?] {
    const id = String(body.id ?? '');
    const stream = this.registry.find((other) => other.id === id);
    const change = (more: Partial<Entry>) => (this.registry = this.registry.map((other) => (other.id === id ? { ...other, ...more } : other)));
    const orders: Record<string, () => [number, unknown?]> = {
      'GET ': () => [200, this.status()],
      'POST start': () => (this.take(id || (this.registry[0]?.id ?? ''), (body.mode as Active['mode']) ?? 'replace'), [200]),
      'POST stop': () => (this.free(), [200]),
      'POST hand': () => (this.take(id, this.active?.mode), [200]),
      'POST vote': () => (change({ votes: (stream?.votes ?? 0) + Number(body.delta) }), [200]),
      'POST blacklist': () => {
        this.registry = this.registry.map(({ blacklisted, ...other }) => (other.id === id ? { ...other, ...(body.lift ? {} : { blacklisted: { failures: 0, until: 0, byOrder: true } }) } : { ...other, ...(blacklisted ? { blacklisted } : {}) }));
        return [200];
      },
      'POST remove': () => ((this.registry = this.registry.filter((other) => other.id !== id)), [200]),
      'POST register': () => ((this.registry = [...this.registry, entry('LIVE77777777', { url: String(body.url), title: String(body.title), creator: String(body.creator), ingest: 'rtmp' })]), [200]),
      'POST wrapup': () => ((this.wrapUpAt = body.seconds ? Date.now() + Number(body.seconds) * 1000 : 0), [200]),
      'POST show': () => ((this.show = { title: String(body.title), until: Date.now() + Number(body.minutes) * minute, bed: String(body.bed ?? '') }), [200]),
      'POST show/end': () => ((this.show = null), [200]),
      'POST kick': () => {
        this.sessions = this.sessions.filter((other) => other.id !== body.session);
        this.encoders = this.encoders.filter((other) => other.session !== body.session);
        return [200];
      },
      'POST hold': () => ((this.sessions = this.sessions.map((other) => ({ ...other, holds: other.id === body.session }))), [200]),
      'GET publishers': () => [200, { publishers: this.publishers, entrances: this.#entrances() }],
      'POST publishers': () => {
        const made: Publisher = { ...(body as unknown as PublisherOrder), id: `p${this.publishers.length}`, revoked: false, createdAt: Date.now(), lastLiveAt: 0 };
        this.publishers = [...this.publishers, made];
        return [201, { ...made, secret: 'k3y-5hown-once' }];
      },
      'GET recordings': () => [200, { recordings: this.recordings }],
    };
    const one = /^(publishers|recordings)\/([^/]+)(?:\/(\w+))?$/.exec(path);
    if (one) return this.#one(method, one[1] as string, one[2] as string, one[3] ?? '', body);
    return orders[`${method} ${path}`]?.() ?? [404, { title: 'Not Found', status: 404, detail: 'no such route' }];
  }

  #one(method: string, what: string, name: string, order: string, body: Json): [number, unknown?] {
    if (what === 'recordings') {
      if (method === 'DELETE') this.recordings = this.recordings.filter((other) => other.name !== name);
      if (order === 'ticket') return [200, { path: `/api/live/recordings/${encodeURIComponent(name)}?ticket=t1`, until: Date.now() + minute }];
      if (order === 'category') return [200, { inbox: `${body.category}/${name}`, category: body.category }];
      return [204];
    }
    const was = this.publishers.find(({ id }) => id === name) as Publisher;
    const now: Publisher = { ...was, ...(method === 'PUT' ? body : {}), revoked: order === 'revoke' || (was.revoked && order !== 'secret') };
    this.publishers = method === 'DELETE' ? this.publishers.filter(({ id }) => id !== name) : this.publishers.map((other) => (other.id === name ? now : other));
    if (method === 'DELETE') return [204];
    return [200, order === 'secret' ? { ...now, secret: 'an0ther-one' } : now];
  }

  /** A second of WAV at a time until the listener goes. */
  #tone(response: ServerResponse): void {
    this.listeners++;
    response.writeHead(200, { 'content-type': 'audio/wav' }).write(wavOf(0));
    const often = setInterval(() => response.write(toneOf(4800)), 100);
    response.on('close', () => {
      clearInterval(often);
      this.listeners--;
    });
  }

  #play(name: string, url: URL, response: ServerResponse): true {
    if (url.searchParams.get('ticket') !== 't1') return void response.writeHead(401).end(), true;
    const body = Buffer.concat([wavOf(2 * 48_000 * 4), toneOf(2 * 48_000)]);
    const head: Record<string, string> = { 'content-type': 'audio/wav', 'content-length': String(body.length) };
    if (url.searchParams.get('download') === '1') head['content-disposition'] = `attachment; filename="${name}"`;
    response.writeHead(200, head).end(body);
    return true;
  }

  #meet(socket: Socket): void {
    type Ack = (answer: unknown) => void;
    const refused = (status: number, detail: string) => ({ ok: false, error: { status, title: 'Problem', detail } });
    let mine: Live['spoken'][number] | null = null;
    const gone = () => {
      if (!mine) return;
      mine.stopped = true;
      mine = null;
      this.registry = this.registry.filter(({ id }) => id !== studioId);
      this.sources = this.sources.filter(({ id }) => id !== studioId);
      if (this.active?.id === studioId) this.free();
    };
    socket.on('start_stream', ({ type }: { type: string }, ack: Ack) => {
      if (this.#key() && socket.data.staff !== true) return ack(refused(401, 'start_stream: show the station key as auth.key'));
      if (this.refusal) {
        const { status, detail } = this.refusal;
        this.refusal = null;
        return ack(refused(status, detail));
      }
      mine = { type, chunks: [], stopped: false };
      this.spoken.push(mine);
      this.registry = [...this.registry, entry(studioId, { url: 'source:/studio', title: 'الاستوديو', ingest: 'rtmp' })];
      ack({ ok: true });
    });
    socket.on('audio_data', (chunk: Buffer, ack: Ack) => {
      if (!mine) return ack(refused(409, 'send start_stream first'));
      if (mine.chunks.push(chunk) === 3) {
        this.sources = [...this.sources, source(studioId, { url: 'source:/studio', title: 'الاستوديو' })];
        if (this.studioTakes) this.take(studioId);
      }
      ack({ ok: true, bytes: mine.chunks.reduce((sum, { length }) => sum + length, 0) });
    });
    socket.on('stop_stream', (_: unknown, ack: Ack) => (gone(), ack({ ok: true })));
    socket.on('disconnect', gone);
  }
}

/** A WAV's header: 16 bit, 48 kHz, stereo; of 0 bytes: without an end. */
function wavOf(bytes: number): Buffer {
  const out = Buffer.alloc(44);
  out.write('RIFF', 0);
  out.writeUInt32LE(bytes ? bytes + 36 : 0xffffffff, 4);
  out.write('WAVEfmt ', 8);
  out.writeUInt32LE(16, 16);
  out.writeUInt16LE(1, 20);
  out.writeUInt16LE(2, 22);
  out.writeUInt32LE(48_000, 24);
  out.writeUInt32LE(192_000, 28);
  out.writeUInt16LE(4, 32);
  out.writeUInt16LE(16, 34);
  out.write('data', 36);
  out.writeUInt32LE(bytes || 0xffffffff, 40);
  return out;
}

function toneOf(frames: number): Buffer {
  const out = Buffer.alloc(frames * 4);
  for (let i = 0; i < frames; i++) {
    const sample = Math.round(Math.sin((2 * Math.PI * 480 * i) / 48_000) * 8000);
    out.writeInt16LE(sample, i * 4);
    out.writeInt16LE(sample, i * 4 + 2);
  }
  return out;
}
