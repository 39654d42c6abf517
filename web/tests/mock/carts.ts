import type { IncomingMessage, ServerResponse } from 'node:http';
import { colours, type CartPage, type Playing, type ShownCart } from '../../src/studio/live/carts/wall';

type Json = Record<string, unknown>;

/** A cart of the wall. */
export function cart(slot: number, label: string, more: Partial<ShownCart> = {}): ShownCart {
  return { slot, file: `jingles/${slot}.mp3`, label, colour: '', gainDb: 0, key: '', loop: false, title: label, durationMs: 4000, ...more };
}

/** A wall of two pages as a station has it after a while. */
export const wall = (): CartPage[] => [
  {
    name: 'سهرة الخميس',
    carts: [
      cart(0, 'الافتتاح', { colour: 'teal', key: '1', durationMs: 8200 }), cart(1, 'تصفيق', { colour: 'amber', key: '2', gainDb: -3 }), cart(2, 'Wrong answer <b>buzzer</b>', { colour: 'red', key: 'x', durationMs: 900 }),
      cart(4, 'خلفية المسابقة', { colour: 'blue', key: '4', loop: true, durationMs: 32_000 }), cart(6, 'ضحك', { colour: 'violet', key: '6' }), cart(7, 'A rather long label of forty characters!', { colour: 'pink' }),
      cart(9, 'جرس', { colour: 'green', key: 'b', missing: true }), cart(12, '', { title: 'Station ID 3', colour: 'grey', key: '9', problem: 'there is no sound in it' }),
    ],
  },
  { name: 'Effects', carts: [cart(0, 'Thunder', { key: '1' })] },
];

/** What a station refuses of a wall; '' where that is nothing. */
function wrongIn(pages: readonly CartPage[]): string {
  if (pages.length > 8) return 'pages must be at most 8';
  for (const [i, { name, carts }] of pages.entries()) {
    if (!name.trim() || [...name.trim()].length > 40) return `pages[${i}].name must have 1 to 40 characters`;
    for (const [j, { slot, file, label, gainDb, key, colour, loop, ...more }] of carts.entries()) {
      const at = `pages[${i}].carts[${j}]`;
      if (carts.some((other, k) => k !== j && (other.slot === slot || (key && other.key === key)))) return `${at}: slot ${slot} or key ${key} is there twice`;
      if (!(slot >= 0 && slot < 20) || !file || [...label].length > 40 || !(gainDb >= -24 && gainDb <= 12) || !/^[0-9a-z]?$/.test(key) || !(colours as readonly string[]).includes(colour) || typeof loop !== 'boolean') return `${at} is wrong`;
      if (Object.keys(more).length > 0) return `${at}: unexpected property ${Object.keys(more).join(', ')}`;
    }
  }
  return '';
}

/** The cart wall of a station: what it keeps, and what is heard. */
export class Carts {
  version = 0;
  pages: CartPage[] = [];
  playing: Playing[] = [];
  desk = true;
  /** An answer to give instead of the next order's. */
  refusal: { status: number; detail: string } | null = null;
  /** Ends the connection of so many presses after they were taken. */
  lost = 0;
  /** Orders taken: method, path below /api/station/carts, body. */
  readonly taken: { order: string; body: Json }[] = [];
  readonly #named = new Map<string, Playing>();
  readonly #key: () => string;
  readonly #live: () => boolean;

  constructor(key: () => string, live: () => boolean) {
    this.#key = key;
    this.#live = live;
  }

  answer(request: IncomingMessage, url: URL, response: ServerResponse): boolean {
    const path = /^\/api\/station\/carts(?:\/(.*))?$/.exec(url.pathname);
    if (!path) return false;
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => this.#route(request, path[1] ?? '', text ? (JSON.parse(text) as Json) : {}, response));
    return true;
  }

  #route(request: IncomingMessage, path: string, body: Json, response: ServerResponse): void {
    const say = (status: number, answer: unknown) => void response.writeHead(status, { 'content-type': status < 400 ? 'application/json' : 'application/problem+json' }).end(JSON.stringify(answer));
    const problem = (status: number, detail: string) => say(status, { title: 'Problem', status, detail });
    const sent = Buffer.from(String(request.headers['x-station-key'] ?? ''), 'latin1').toString('utf8');
    if (this.#key() && sent !== this.#key()) return problem(401, 'send the station key');
    if (request.method === 'GET') return say(200, this.#shown());
    this.taken.push({ order: `${request.method} ${path}`, body });
    if (this.refusal) {
      const { status, detail } = this.refusal;
      this.refusal = null;
      return problem(status, detail);
    }
    if (request.method === 'PUT') {
      const wrong = wrongIn(body.pages as CartPage[]);
      if (wrong) return problem(422, wrong);
      if (body.version !== this.version) return problem(409, `the cart wall was changed meanwhile: load version ${this.version} and make the change again`);
      this.version++;
      this.pages = (body.pages as CartPage[]).map((page) => ({ ...page, carts: page.carts.map((one) => ({ ...one, title: one.label || one.file, durationMs: 4000 })) }));
      return say(200, this.#shown());
    }
    if (path === 'stop') {
      const before = this.playing.length;
      this.playing = body.id ? this.playing.filter(({ id }) => id !== body.id) : [];
      return say(200, { stopped: before - this.playing.length });
    }
    if (!(Number(body.page) >= 0 && Number(body.page) < 8 && Number(body.slot) >= 0 && Number(body.slot) < 20) || String(body.request ?? '').length > 64) return problem(422, 'validation failed');
    const named = this.#named.get(String(body.request));
    if (named && (named.page !== body.page || named.slot !== body.slot)) return problem(422, 'request: another cart was pressed by that name: choose a new one for each press');
    if (!this.#live()) return problem(409, 'nothing live is on the air: put a source on the air first');
    const one = this.pages[Number(body.page)]?.carts.find(({ slot }) => slot === body.slot);
    if (!one) return problem(404, 'no such cart');
    const heard = named ?? { id: `C${this.taken.length}`, page: Number(body.page), slot: one.slot, startedAt: Date.now(), durationMs: one.durationMs, positionMs: 0, loop: one.loop };
    if (!named) this.playing = [...this.playing, heard];
    this.#named.set(String(body.request), heard);
    if (this.lost > 0) {
      this.lost--;
      request.socket.destroy();
      return;
    }
    say(200, { id: heard.id, startedAt: heard.startedAt, durationMs: heard.durationMs });
  }

  #shown() {
    if (!this.#live()) this.playing = [];
    const now = Date.now();
    this.playing = this.playing.filter(({ loop, startedAt, durationMs }) => loop || now < startedAt + durationMs);
    return { version: this.version, pages: this.pages, live: this.#live(), desk: this.desk, playing: this.playing, now };
  }
}
