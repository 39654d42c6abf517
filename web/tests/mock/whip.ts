import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname } from 'node:path';
import type { Page } from '@playwright/test';
import type { Facts } from '../../src/golive/sign';
import type { Shown } from '../../src/requests/answers';
import { statusOf, upnextOf } from './data';

const dist = new URL('../../../internal/web/pages/dist', import.meta.url).pathname;
const policy = readFileSync(new URL('../../../internal/web/pages/csp.txt', import.meta.url), 'utf8').trim().split('\n').join('; ');
const types: Record<string, string> = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.png': 'image/png', '.woff2': 'font/woff2' };

/** One session, as the page asked for it. */
export interface Seen {
  id: string;
  title: string;
  name: string;
  push: boolean;
  key: string;
  offer: string;
  muted: boolean[];
  trickled: string[];
  restarts: number;
  ended: boolean;
}

/**
 * A WHIP server for the tests of the presenters' page: the page itself under its real
 * policy, what it asks of the API, sessions as RFC 9725 has them, and the facts. What
 * answers the offers is a peer connection in a second page, behind a UDP socket that can
 * be cut: packets, ICE and DTLS are real.
 */
export class Whip {
  /** What a POST is answered instead of a session. */
  refuse: { status: number; body?: object; headers?: Record<string, string> } | null = null;
  /** What a PATCH is answered instead of a restart. */
  refusePatch = 0;
  /** Nobody answers under /whip. */
  away = false;
  /** Nothing is told any more, though the connection stands. */
  mute = false;
  /** What is told is what was known before: its clock stands. */
  stale = false;
  links: string[] = [];
  /** Whose key it is. */
  account = { name: '', show: '' };
  /** From the next session on: half of the round trip in ms, and which packet of so many from the page is lost. */
  weather = { delayMs: 0, loseEvery: 0 };
  readonly sessions: Seen[] = [];
  /** Methods and paths asked for, in order, with the If-Match of each PATCH. */
  readonly asked: string[] = [];
  facts: Facts = {
    allowed: true,
    state: 'waiting',
    since: Date.now(),
    onAir: { title: 'يا مسافر وحدك', artist: 'سلمى الحديدي', kind: 'rotation' },
    next: [{ title: 'شاي بالنعناع', artist: 'نور وعمر' }],
    listeners: 128,
    wrapUpAt: 0,
    until: 0,
    takenBy: '',
    holds: true,
    ended: '',
  };
  /** What listeners ask for. */
  requests: Shown[] = [];
  readonly #server: Server;
  readonly #streams = new Map<string, Set<ServerResponse>>();
  readonly #wires = new Set<Wire>();
  readonly #heart: ReturnType<typeof setInterval>;
  #peer: Page | null = null;
  #cut = false;
  #now = Date.now();

  constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response).catch(() => response.destroy()));
    this.#heart = setInterval(() => this.tell({}), 1000);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get last(): Seen {
    return this.sessions.at(-1) as Seen;
  }

  async open(): Promise<void> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
  }

  async close(): Promise<void> {
    clearInterval(this.#heart);
    for (const wire of this.#wires) wire.close();
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  /** A page whose peer connections answer the offers; without one an offer gets 503. */
  async answerIn(page: Page): Promise<void> {
    await page.goto(`${this.url}/peer`);
    await page.evaluate(peers);
    this.#peer = page;
  }

  /** Changes the facts and tells every session. */
  tell(facts: Partial<Facts>): void {
    this.facts = { ...this.facts, ...facts };
    for (const [id, streams] of this.#streams) for (const stream of streams) this.#send(id, stream);
  }

  /** Ends the last session from this side. */
  end(ended: NonNullable<Facts['ended']>): void {
    const { id } = this.last;
    for (const stream of this.#streams.get(id) ?? []) {
      stream.end(`data: ${JSON.stringify({ ...this.facts, now: Date.now(), session: id, ended })}\n\n`);
    }
    this.#streams.delete(id);
    this.last.ended = true;
  }

  /** Cuts every session's packets off, or lets them through again. */
  cut(cut: boolean): void {
    this.#cut = cut;
    for (const wire of this.#wires) wire.cut = cut;
  }

  count(start: string): number {
    return this.asked.filter((asked) => asked.startsWith(start)).length;
  }

  /** Packets that the answering side has received in a session, and the sum of their energy. */
  async heard(id = this.last.id): Promise<{ packets: number; energy: number }> {
    return (await this.#peer?.evaluate((session) => (globalThis as unknown as Peers).heard(session), id)) ?? { packets: 0, energy: 0 };
  }

  #send(id: string, stream: ServerResponse): void {
    if (!this.stale) this.#now = Date.now();
    if (!this.mute) stream.write(`data: ${JSON.stringify({ ...this.facts, now: this.#now, session: id })}\n\n`);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://mock');
    const { pathname } = url;
    const match = request.method === 'PATCH' ? ` ${request.headers['if-match']}` : '';
    this.asked.push(`${request.method} ${pathname}${match}`);
    if (pathname.startsWith('/whip')) {
      if (this.away) return void response.destroy();
      return this.#whip(request, url, response);
    }
    const answers: Record<string, () => unknown> = { '/api/status': () => statusOf(scene, Date.now()), '/api/upnext': () => upnextOf(scene), '/api/requests': () => ({ enabled: true, open: true, requests: this.requests, limits: {} }) };
    const answer = answers[pathname];
    if (answer) return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer()));
    if (pathname === '/peer') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>peer</title>');
    this.#page(pathname, response);
  }

  #page(path: string, response: ServerResponse): void {
    try {
      const name = path === '/go-live' ? '/golive.html' : path;
      const body = readFileSync(dist + name);
      response.writeHead(200, {
        'content-security-policy': policy,
        'x-content-type-options': 'nosniff',
        'permissions-policy': 'camera=(), geolocation=(), microphone=(self)',
        'content-type': types[extname(name)] ?? 'application/octet-stream',
      });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  }

  async #whip(request: IncomingMessage, url: URL, response: ServerResponse): Promise<void> {
    const { pathname } = url;
    if (pathname === '/whip-info') return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"stun":[],"turn":[],"live":false}');
    if (pathname === '/whip-account') return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(this.account));
    if (pathname === '/whip') {
      if (request.method === 'OPTIONS') return void response.writeHead(204, { 'accept-post': 'application/sdp', ...(this.links.length ? { link: this.links } : {}) }).end();
      return this.#begin(request, url, response);
    }
    const [, id = '', part = ''] = /^\/whip\/([^/]+)(?:\/(\w+))?$/.exec(pathname) ?? [];
    const session = this.sessions.find((s) => s.id === id && !s.ended);
    if (!session) return void response.writeHead(404).end();
    if (request.headers.authorization !== `Bearer ${session.key}`) return void response.writeHead(401).end();
    if (part === 'facts') return this.#follow(id, response);
    if (part === 'state') {
      session.muted.push((JSON.parse(await bodyOf(request)) as { muted: boolean }).muted);
      return void response.writeHead(204).end();
    }
    if (request.method === 'DELETE') {
      session.ended = true;
      for (const stream of this.#streams.get(id) ?? []) stream.end();
      this.#streams.delete(id);
      return void response.writeHead(200).end();
    }
    if (request.method === 'PATCH') return this.#patch(session, request, response);
    response.writeHead(405).end();
  }

  async #begin(request: IncomingMessage, url: URL, response: ServerResponse): Promise<void> {
    const offer = await bodyOf(request);
    if (this.refuse) {
      const { status, body = {}, headers = {} } = this.refuse;
      return void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    }
    const id = `s${this.sessions.length + 1}`;
    const text = (name: string): string => url.searchParams.get(name) ?? '';
    const key = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    this.sessions.push({ id, title: text('title'), name: text('name'), push: text('push') === '1', key, offer, muted: [], trickled: [], restarts: 0, ended: false });
    const answer = await this.#peer?.evaluate(([session, sdp]) => (globalThis as unknown as Peers).answer(session, sdp), [id, withoutCandidates(offer)] as const);
    if (!answer) return void response.writeHead(503).end();
    response.writeHead(201, { 'content-type': 'application/sdp', location: `/whip/${id}`, etag: `"${id}-0"`, 'accept-patch': 'application/trickle-ice-sdpfrag' });
    response.end(await this.#wired(answer));
  }

  async #patch(session: Seen, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const fragment = await bodyOf(request);
    if (this.refusePatch) return void response.writeHead(this.refusePatch).end();
    const match = request.headers['if-match'];
    if (!match) return void response.writeHead(428).end();
    if (match !== '*') {
      if (match !== `"${session.id}-${session.restarts}"`) return void response.writeHead(412).end();
      session.trickled.push(fragment);
      return void response.writeHead(204).end();
    }
    session.restarts++;
    const answer = await this.#peer?.evaluate(([id, sent]) => (globalThis as unknown as Peers).restart(id, sent), [session.id, fragment] as const);
    const wired = await this.#wired(answer ?? '');
    const lines = wired.split('\r\n').filter((line) => /^a=(ice-ufrag|ice-pwd|candidate)/.test(line));
    response.writeHead(200, { 'content-type': 'application/trickle-ice-sdpfrag', etag: `"${session.id}-${session.restarts}"` }).end(`${lines.join('\r\n')}\r\n`);
  }

  #follow(id: string, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    const streams = this.#streams.get(id) ?? new Set();
    this.#streams.set(id, streams.add(response));
    response.on('close', () => streams.delete(response));
    response.flushHeaders();
    this.#send(id, response);
  }

  /** The answer with a socket of ours in the place of the peer's own candidates. */
  async #wired(answer: string): Promise<string> {
    const found = /a=candidate:\S+ 1 udp \d+ (\d+\.\d+\.\d+\.\d+) (\d+) typ host/.exec(answer);
    if (!found) throw new Error(`the answering side has no candidate of IPv4:\n${answer}`);
    const wire = new Wire(found[1] as string, Number(found[2]), this.#cut, this.weather);
    this.#wires.add(wire);
    const line = `a=candidate:1 1 udp 2122260223 127.0.0.1 ${await wire.open()} typ host`;
    return withoutCandidates(answer).replace(/^(a=ice-pwd:[^\r\n]*)/m, `$1\r\n${line}`);
  }
}

const scene = { index: 3, startedAt: Date.now() - 72_000, empty: false };

const withoutCandidates = (sdp: string): string => sdp.replace(/^a=(?:candidate:[^\r\n]*|end-of-candidates)\r?\n/gm, '');

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

/**
 * A UDP wire between the page and the peer that answers it. Each of the page's ports has a port of its own on the far
 * side, as behind a NAT: what the peer sends goes back to the port that it answers, however long it was under way.
 */
class Wire {
  cut: boolean;
  readonly #near: Socket = createSocket('udp4');
  readonly #far = new Map<string, Socket>();
  #closed = false;

  constructor(address: string, port: number, cut: boolean, { delayMs, loseEvery }: Whip['weather']) {
    this.cut = cut;
    let sent = 0;
    const pass = (send: () => void): void => {
      if (this.cut) return;
      if (!delayMs) return send();
      setTimeout(() => !this.#closed && send(), delayMs);
    };
    this.#near.on('message', (packet, from) => {
      if (loseEvery && ++sent % loseEvery === 0) return;
      const far = this.#farOf(from, (answer) => pass(() => this.#near.send(answer, from.port, from.address)));
      pass(() => far.send(packet, port, address));
    });
  }

  #farOf({ address, port }: RemoteInfo, toPage: (packet: Buffer) => void): Socket {
    const key = `${address}:${port}`;
    let far = this.#far.get(key);
    if (!far) {
      far = createSocket('udp4').on('message', toPage);
      this.#far.set(key, far);
    }
    return far;
  }

  async open(): Promise<number> {
    await new Promise<void>((done) => this.#near.bind(0, '127.0.0.1', done));
    return this.#near.address().port;
  }

  close(): void {
    this.#closed = true;
    this.#near.close();
    for (const far of this.#far.values()) far.close();
  }
}

interface Peers {
  answer(id: string, offer: string): Promise<string>;
  restart(id: string, fragment: string): Promise<string>;
  heard(id: string): Promise<{ packets: number; energy: number }>;
}

/** Runs in the answering page. */
function peers(): void {
  const open = new Map<string, { pc: RTCPeerConnection; offer: string }>();
  async function answer(pc: RTCPeerConnection, offer: string): Promise<string> {
    await pc.setRemoteDescription({ type: 'offer', sdp: offer });
    await pc.setLocalDescription(await pc.createAnswer());
    if (pc.iceGatheringState !== 'complete') await new Promise<void>((done) => pc.addEventListener('icegatheringstatechange', () => pc.iceGatheringState === 'complete' && done()));
    return pc.localDescription?.sdp ?? '';
  }
  const made: Peers = {
    answer(id, offer) {
      const pc = new RTCPeerConnection();
      open.set(id, { pc, offer });
      // Only what is played is decoded, and only what is decoded has a level.
      pc.ontrack = ({ streams }) => {
        const audio = new Audio();
        audio.srcObject = streams[0] ?? null;
        void audio.play();
      };
      return answer(pc, offer);
    },
    restart(id, fragment) {
      const peer = open.get(id);
      if (!peer) return Promise.resolve('');
      const value = (name: string): string => new RegExp(`^a=${name}:(.*)$`, 'm').exec(fragment)?.[1]?.trim() ?? '';
      return answer(peer.pc, peer.offer.replace(/^a=ice-ufrag:[^\r\n]*/gm, `a=ice-ufrag:${value('ice-ufrag')}`).replace(/^a=ice-pwd:[^\r\n]*/gm, `a=ice-pwd:${value('ice-pwd')}`));
    },
    async heard(id) {
      const found = { packets: 0, energy: 0 };
      (await open.get(id)?.pc.getStats())?.forEach((s) => {
        if (s.type !== 'inbound-rtp') return;
        found.packets = s.packetsReceived ?? 0;
        found.energy = s.totalAudioEnergy ?? 0;
      });
      return found;
    },
  };
  Object.assign(globalThis, made);
}
