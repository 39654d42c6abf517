import type { IncomingMessage, ServerResponse } from 'node:http';

type Json = Record<string, unknown>;
type Answer = [status: number, body: unknown, headers?: Record<string, string>];

interface Arriving {
  meta: Json;
  length: number;
  bytes: Buffer[];
  got: number;
  key: string;
  /** Grows with each request: a newer one ends an older one. */
  turn: number;
  /** What the answer to the last byte carries. */
  carried?: Record<string, string>;
}

/** Uploads by tus 1.0, with the faults of a mobile network. */
export class Tus {
  readonly uploads = new Map<string, Arriving>();
  /** Methods in the order they came. */
  readonly asked: string[] = [];
  /** The connection breaks once so many bytes have come, each once. */
  cuts: number[] = [];
  /** Nobody answers. */
  down = false;
  /** No more than so many bytes are read of an upload until this grows. */
  holdAt = Infinity;
  /** Takes the last byte and loses the answer. */
  loseAnswer = false;
  /** Refuses the next creation. */
  refuse: Answer | null = null;

  readonly #judge: (meta: Json) => Answer | null;
  readonly #take: (meta: Json, key: string, length: number) => Record<string, string>;
  readonly #at: string;
  #next = 1;

  /** take answers with the headers that tell what came of it. */
  constructor(judge: (meta: Json) => Answer | null, take: (meta: Json, key: string, length: number) => Record<string, string>, at: string) {
    this.#judge = judge;
    this.#take = take;
    this.#at = at;
  }

  /** All that arrived of the newest upload. */
  get got(): Buffer {
    return Buffer.concat([...this.uploads.values()].at(-1)?.bytes ?? []);
  }

  answer(request: IncomingMessage, url: URL, response: ServerResponse): void {
    if (this.down) return void request.socket.destroy();
    this.asked.push(request.method ?? '');
    response.setHeader('tus-resumable', '1.0.0');
    if (request.headers['tus-resumable'] !== '1.0.0') return void response.writeHead(412).end();
    if (request.method === 'POST') return this.#create(request, response);
    const id = url.pathname.split('/').at(-1) ?? '';
    const one = this.uploads.get(id);
    if (!one) return void response.writeHead(404).end();
    one.turn++;
    if (request.method === 'HEAD') return void response.writeHead(200, { 'upload-offset': one.got, 'upload-length': one.length, 'cache-control': 'no-store', ...one.carried }).end();
    if (request.method === 'DELETE') {
      this.uploads.delete(id);
      return void response.writeHead(204).end();
    }
    void this.#append(one, request, response);
  }

  #create(request: IncomingMessage, response: ServerResponse): void {
    const meta = metaIn(String(request.headers['upload-metadata'] ?? ''));
    const refused = this.refuse ?? this.#judge(meta);
    this.refuse = null;
    if (refused) {
      const [status, body, headers = {}] = refused;
      return void response.writeHead(status, { 'content-type': 'application/problem+json', ...headers }).end(JSON.stringify(body));
    }
    const id = `u${this.#next++}`;
    this.uploads.set(id, { meta, length: Number(request.headers['upload-length']), bytes: [], got: 0, key: String(request.headers['idempotency-key'] ?? ''), turn: 0 });
    response.writeHead(201, { location: `${this.#at}${id}` }).end();
  }

  async #append(one: Arriving, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (Number(request.headers['upload-offset']) !== one.got) return void response.writeHead(409).end();
    const turn = one.turn;
    try {
      for await (const piece of request) {
        if (turn !== one.turn) return;
        one.bytes.push(piece as Buffer);
        one.got += (piece as Buffer).length;
        if (this.cuts[0] !== undefined && one.got >= this.cuts[0]) {
          this.cuts.shift();
          return void request.socket.destroy();
        }
        while (one.got >= this.holdAt && turn === one.turn) await new Promise((done) => setTimeout(done, 20));
      }
    } catch {
      return; // the page went away
    }
    if (one.got < one.length) return void response.writeHead(204, { 'upload-offset': one.got }).end();
    one.carried = this.#take(one.meta, one.key, one.length);
    if (this.loseAnswer) {
      this.loseAnswer = false;
      return void request.socket.destroy();
    }
    response.writeHead(204, { 'upload-offset': one.got, ...one.carried }).end();
  }
}

function metaIn(header: string): Json {
  const pairs = header.split(',').filter(Boolean).map((pair) => pair.trim().split(' '));
  return Object.fromEntries(pairs.map(([name, value = '']) => [name, Buffer.from(value, 'base64').toString('utf8')]));
}
