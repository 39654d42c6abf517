import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import { Server, type Socket } from 'socket.io';
import type { Comment, Counts, Message, RoomState } from '../../src/live/words';

type Json = Record<string, unknown>;
type Ack = (answer: unknown) => void;

interface Refusal {
  status: number;
  title: string;
  detail: string;
  retryAfter?: number;
}

const noPicture = { status: 415, title: 'Unsupported Media Type', detail: 'data: no voice note or picture' };

/**
 * The station's listeners' half: Socket.IO and its HTTP routes, with the ids
 * that make a repeated write the same write. It can take a write and lose its
 * answer, refuse, and go away.
 */
export class Audience {
  readonly reactions: Counts = { '❤️': 128, '🔥': 41, '🌹': 9 };
  readonly vibes: Counts = { chill: 4, tarab: 7, party: 2 };
  readonly votes: Counts = {};
  comments: Comment[] = [];
  messages: Message[] = [];
  readonly states: Record<string, RoomState> = {};
  readonly rooms = [{ room: 'main', name: 'المجلس' }, { room: 'requests', name: 'طلبات الأغاني' }];
  readonly media = new Map<string, { body: Buffer; type: string }>();
  /** Subscriptions as they were sent. */
  readonly subscribed: Json[] = [];
  /** Refuses the next write with this. */
  refusal: Refusal | null = null;
  /** Takes the next write of the event transport and cuts the connection instead of answering. */
  loseAnswer = false;
  /** Lets nobody connect. */
  barred = false;
  /** Keys sent in handshakes, in order; empty for none. */
  readonly shown: string[] = [];
  /** How often somebody has joined a room. */
  joined = 0;
  /** Ids of writes in the order they came, repeated ones too. */
  readonly written: string[] = [];
  readonly io = new Server({ serveClient: false, pingInterval: 25_000, pingTimeout: 900_000, connectionStateRecovery: {}, maxHttpBufferSize: 8e6 });
  /** The newest alarm or its end, as each newcomer is told. */
  #alert: object | null = null;
  #away: { since: number; back: Promise<void> } | null = null;
  readonly #known = new Map<string, unknown>();
  readonly #changed: Counts = {};
  readonly #reacted = new Set<string>();
  readonly #voted = new Map<string, number>();
  readonly #upnext: () => unknown;
  /** The station's key: who shows it is staff. */
  readonly #key: () => string;
  #status: () => Json;
  #telling: ReturnType<typeof setTimeout> | undefined;
  #next = 1;

  constructor(http: HttpServer, status: () => Json, upnext: () => unknown, key: () => string, tickets: ReadonlySet<string>) {
    this.#status = status;
    this.#upnext = upnext;
    this.#key = key;
    this.io.attach(http, { path: '/socket.io/' });
    this.io.use((socket, next) => {
      const { key } = socket.handshake.auth as { key?: string };
      if (this.barred) return next(new Error('not now'));
      this.shown.push(key ?? '');
      if (key && key !== this.#key() && !tickets.has(key)) return next(new Error('auth.key: is not the station key'));
      socket.data.staff = Boolean(key);
      next();
    });
    this.io.on('connection', (socket) => {
      if (socket.data.staff) socket.on('disconnect', () => this.forget(socket.id)); // the station recovers listeners alone
      this.#meet(socket);
    });
  }

  /** Sends everybody the status, as after a change of track. */
  tellStatus(): void {
    this.io.emit('status', this.#status());
  }

  /** Sends everybody the queue, as after a change of it. */
  tellQueue(): void {
    this.io.emit('timeline_update', this.#queue());
  }

  /** Sends what comes while nothing happens: how many listen, with the station's time, and the transport's heartbeat. */
  beat(listeners: number, serverTime: number): void {
    this.io.emit('stats_update', this.#stats(listeners, serverTime));
    const { clients } = this.io.engine as unknown as { clients: Record<string, { sendPacket: (type: string) => void }> };
    for (const conn of Object.values(clients)) conn.sendPacket('ping');
  }

  tellAlert(kind: string, state: 'raised' | 'cleared'): void {
    this.#alert = { kind, state, text: 'the station is silent', at: Date.now() };
    this.io.emit('alert', this.#alert);
  }

  tellState(room: string, state: Omit<RoomState, 'room'>): void {
    this.states[room] = { ...state, room };
    (room === 'comments' ? this.io : this.io.to(room)).emit('chat_state', this.states[room]); // comments go to everybody
  }

  /** The server loses the station until the returned function is called; connections stand. */
  leave(): () => void {
    let end = () => undefined as void;
    this.#away = { since: Date.now() - 10_000, back: new Promise((done) => (end = done)) };
    this.io.emit('link', { up: false, since: this.#away.since });
    return () => {
      this.#away = null;
      this.io.emit('link', { up: true, since: Date.now() });
      this.tellStatus();
      end();
    };
  }

  stateOf(room: string): RoomState {
    return this.states[room] ?? { room, slow: 0, closed: false, links: false };
  }

  remove(id: string): void {
    this.messages = this.messages.filter((message) => message.id !== id);
    this.comments = this.comments.filter((comment) => comment.id !== id);
    this.io.emit('message_deleted', { id });
  }

  say(message: Partial<Message> & { user: string; text: string }): Message {
    const full: Message = { id: `m${this.#next++}`, room: 'main', type: 'text', at: Date.now(), ...message };
    this.messages.push(full);
    this.io.to(full.room).emit('message', full);
    return full;
  }

  comment(name: string, text: string, more: Partial<Comment> = {}): Comment {
    const full: Comment = { id: `c${this.#next++}`, name, text, at: Date.now(), ...more };
    this.comments.push(full);
    this.io.emit('new_comment', full);
    return full;
  }

  /** Cuts every connection without a word, as a killed process does. */
  close(): void {
    clearTimeout(this.#telling);
    this.#telling = undefined;
    const { clients } = this.io.engine as unknown as { clients: Record<string, { close: () => void }> }; // also those that have not entered yet
    for (const conn of Object.values(clients)) conn.close();
  }

  /** Knows none of those who were connected, as a process that was killed; or not the one. */
  forget(id?: string): void {
    const { sessions } = this.io.of('/').adapter as unknown as { sessions: Map<string, { sid: string }> };
    for (const [pid, { sid }] of sessions) if (!id || sid === id) sessions.delete(pid);
  }

  /** Answers the audience's routes; false for all others. */
  answer(request: IncomingMessage, url: URL, response: ServerResponse): boolean {
    const route = `${request.method} ${url.pathname}`;
    const query = url.searchParams;
    const looks: Record<string, () => unknown> = {
      'GET /api/reactions': () => this.reactions,
      'GET /api/vibe': () => ({ counts: this.vibes }),
      'GET /api/upnext/votes': () => ({ votes: this.votes }),
      'GET /api/comments': () => ({ comments: this.comments.filter(({ id }) => numberOf(id) > numberOf(query.get('after') ?? 'c0')).slice(-50) }),
      'GET /api/chat/rooms': () => ({ rooms: this.rooms.map((room) => ({ ...this.stateOf(room.room), ...room, members: this.io.sockets.adapter.rooms.get(room.room)?.size ?? 0 })) }),
      'GET /api/subscribe': () => ({ enabled: true, topics: [], languages: ['ar', 'en'], publicKey: 'BKd0oZT2yqBIXIe5Hmp0_3oWdzGF4p1S7mFHGOu0zE0nWkz6RW4f3Yv2nL5Cw1oDzPqJkZJrjVnGz0xoGm9qW4c' }),
    };
    const device = String(request.headers['x-athir-device'] ?? '');
    const writes: Record<string, (body: Json) => unknown> = {
      'POST /api/reactions': (body) => this.#react(String(body.emoji), Number(body.delta ?? 1)),
      'POST /api/vibe': (body) => this.#vibe(String(body.vibe)),
      'POST /api/upnext/votes': (body) => this.#vote(device, String(body.file), Number(body.delta)),
      'POST /api/comments': (body) => ({ comment: this.comment(String(body.name), String(body.text)) }),
      'POST /api/subscribe': (body) => this.subscribed.push(body) && {},
      'DELETE /api/subscribe': () => undefined,
    };
    const page = /^GET \/api\/chat\/rooms\/([^/]+)\/messages$/.exec(route);
    if (page) return json(response, 200, { messages: this.#page(decodeURIComponent(page[1] as string), query) });
    if (looks[route]) return json(response, 200, looks[route]());
    if (!writes[route]) return false;
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const body = JSON.parse(text) as Json;
      const answer = this.#once(body.id, () => writes[route]!(body));
      if (isRefusal(answer)) response.setHeader('retry-after', String(answer.retryAfter ?? 0));
      json(response, isRefusal(answer) ? answer.status : 200, answer);
    });
    return true;
  }

  #queue(): unknown {
    return (this.#upnext() as { queue: { file: string }[] }).queue.map((item) => ({ ...item, votes: this.votes[item.file] ?? 0 }));
  }

  #stats(total = 128, serverTime = Date.now()): Json {
    return { listeners: total - 11, breakdown: { hls: total - 11, stream: 11, icecast: 0, total }, bandwidth: 34_100_000, source: 'athir', at: serverTime, serverTime, history: [] };
  }

  #presence(): Json {
    const { rooms } = this.io.sockets.adapter;
    return { clients: this.io.engine.clientsCount, rooms: Object.fromEntries(this.rooms.map(({ room }) => [room, rooms.get(room)?.size ?? 0])) };
  }

  #meet(socket: Socket): void {
    socket.on('join_channel', (_channel, ack?: Ack) => {
      if (this.#away) {
        socket.emit('link', { up: false, since: this.#away.since });
        return ack?.({ ok: true, channel: 'main' });
      }
      socket.emit('status', this.#status());
      socket.emit('timeline_update', this.#queue());
      socket.emit('stats_update', this.#stats());
      socket.emit('presence', this.#presence());
      if (this.#alert) socket.emit('alert', this.#alert);
      if (this.states.comments) socket.emit('chat_state', this.states.comments);
      ack?.({ ok: true, channel: 'main' });
    });
    this.#take(socket, 'send_comment', ({ name, text }) => ({ comment: this.comment(String(name), String(text)) }));
    this.#take(socket, 'interaction', ({ vibe }) => this.#vibe(String(vibe)));
    this.#take(socket, 'sendMessage', (body) => this.#message(body, socket.data.staff === true));
    this.#take(socket, 'reaction', ({ msgId, emoji, on }) => this.#reactTo(socket.handshake.auth.device as string, String(msgId), String(emoji), on !== false));
    socket.on('join', ({ name, room }: { name: string; room: string }, ack: Ack) => {
      if (this.#away) return ack({ ok: false, error: { status: 503, title: 'Service Unavailable', detail: 'join: the station does not answer' } });
      if (socket.data.staff !== true && /^(athir|أثير|إذاعة النيل)$/i.test(name)) return ack({ ok: false, error: { status: 422, title: 'Unprocessable Entity', detail: 'name: is reserved for the station\'s staff: choose another' } });
      void socket.join(room);
      this.joined++;
      const history = this.messages.filter((message) => message.room === room).slice(-50);
      ack({ ok: true, room, name, history, state: this.stateOf(room), members: this.io.sockets.adapter.rooms.get(room)?.size });
      this.io.emit('presence', this.#presence());
      this.io.to(room).emit('message', { type: 'admin', user: 'أثير', room, text: `أهلًا بك يا ${name}`, at: Date.now() });
    });
  }

  /** Handles an event that writes, once per id; loseAnswer drops its acknowledgement. */
  #take(socket: Socket, event: string, write: (body: Json) => unknown): void {
    socket.on(event, async (body: Json, ack: Ack) => {
      await this.#away?.back; // what carries an id is asked again until it is answered
      const answer = this.#once(body.id, () => write(body));
      if (this.loseAnswer) {
        this.loseAnswer = false;
        socket.conn.close();
        return;
      }
      ack(isRefusal(answer) ? { ok: false, error: answer } : { ok: true, ...(answer as Json) });
    });
  }

  #once(id: unknown, write: () => unknown): unknown {
    if (typeof id === 'string') this.written.push(id);
    if (typeof id === 'string' && this.#known.has(id)) return this.#known.get(id);
    const refusal = this.refusal;
    this.refusal = null;
    if (refusal) return refusal;
    const answer = write();
    if (typeof id === 'string' && !isRefusal(answer)) this.#known.set(id, answer);
    return answer;
  }

  #message({ user, text, type, room, data }: Json, staff: boolean): unknown {
    const found = /^data:([a-z]+\/[a-z0-9.+-]+);base64,(.+)$/.exec(String(data ?? ''));
    if (type !== 'text' && !found) return noPicture;
    const message: Partial<Message> & { user: string; text: string } = { user: String(user), text: String(text ?? ''), room: String(room), type: type as Message['type'], ...(staff ? { staff } : {}) };
    if (found) {
      message.url = `/chat/media/${this.#next}.${type === 'voice' ? 'webm' : 'jpg'}`;
      message.mime = found[1] as string;
      if (type === 'voice') message.durationMs = 2000;
      this.media.set(message.url, { body: Buffer.from(found[2] as string, 'base64'), type: found[1] as string });
    }
    return { message: this.say(message) };
  }

  /** One of each kind a device, as often as it is sent. */
  #reactTo(device: string, msgId: string, emoji: string, on: boolean): unknown {
    const message = this.messages.find(({ id }) => id === msgId);
    if (!message) return { status: 404, title: 'Not Found', detail: 'msgId: no such message' };
    const key = `${msgId} ${emoji} ${device}`;
    const before = this.#reacted.has(key);
    const count = (message.reactions?.[emoji] ?? 0) + (on && !before ? 1 : !on && before ? -1 : 0);
    if (on) this.#reacted.add(key);
    else this.#reacted.delete(key);
    const counts = { ...message.reactions, [emoji]: count };
    message.reactions = counts;
    this.io.to(message.room).emit('message_reaction', { msgId, room: message.room, emoji, count, counts });
    return { counts };
  }

  #react(emoji: string, delta: number): unknown {
    this.reactions[emoji] = (this.reactions[emoji] ?? 0) + delta;
    this.#changed[emoji] = (this.#changed[emoji] ?? 0) + delta;
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined;
      this.io.emit('reactions', { counts: this.reactions, changed: { ...this.#changed } });
      for (const name of Object.keys(this.#changed)) delete this.#changed[name];
    }, 250);
    return { emoji, count: this.reactions[emoji] };
  }

  #vibe(vibe: string): unknown {
    this.vibes[vibe] = (this.vibes[vibe] ?? 0) + 1;
    this.io.emit('interaction', { type: 'vibe_vote', vibe, counts: this.vibes });
    return { vibe, counts: this.vibes };
  }

  /** One vote for each device. */
  #vote(device: string, file: string, delta: number): unknown {
    const key = `${file} ${device}`;
    this.votes[file] = (this.votes[file] ?? 0) + delta - (this.#voted.get(key) ?? 0);
    this.#voted.set(key, delta);
    this.io.emit('votes', { votes: this.votes });
    this.tellQueue();
    return { votes: this.votes, file, delta };
  }

  #page(room: string, query: URLSearchParams): Message[] {
    const before = query.has('before') ? numberOf(query.get('before') as string) : Infinity;
    return this.messages.filter((message) => message.room === room && numberOf(message.id) < before).slice(-Number(query.get('limit') ?? 50));
  }
}

const numberOf = (id: string) => Number(id.slice(1));
const isRefusal = (answer: unknown): answer is Refusal => typeof (answer as Refusal | null)?.status === 'number' && 'detail' in (answer as object);

function json(response: ServerResponse, status: number, body: unknown): true {
  response.writeHead(body === undefined ? 204 : status, { 'content-type': 'application/json' });
  response.end(body === undefined ? undefined : JSON.stringify(body));
  return true;
}
