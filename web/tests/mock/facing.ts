import type { IncomingMessage, ServerResponse } from 'node:http';
import { deflateSync } from 'node:zlib';
import type { Both } from '../../src/station/face';
import type { FaceAnswer, Texts } from '../../src/studio/face/answers';

type Json = Record<string, unknown>;

const either = ({ ar, en }: Both, none = ''): Both => ({ ar: ar || en || none, en: en || ar || none });

/** What the operator of the Nile has made of it. */
export function nile(): Texts {
  return {
    name: { ar: 'إذاعة النيل', en: 'Nile Radio' },
    tagline: { ar: 'طرب الليل من قلب القاهرة', en: 'Night songs from the heart of Cairo' },
    about: { ar: 'محطة مستقلة تبث الطرب والجديد على مدار اليوم.', en: 'An independent station with tarab and what is new, all day.' },
    languages: ['ar', 'en'],
    accent: '#0f8f9c',
    links: [
      { label: { ar: 'فيسبوك', en: 'Facebook' }, url: 'https://www.facebook.com/nile' },
      { label: { ar: 'يوتيوب', en: 'YouTube' }, url: 'https://youtube.com/@nile' },
      { label: { ar: 'موقعنا', en: '' }, url: 'https://nile.example' },
    ],
    contact: { email: 'studio@nile.example', phone: '', whatsapp: '+201001234567', address: { ar: 'كورنيش النيل، القاهرة', en: '' } },
    credit: true,
    css: '',
  };
}

const nothing = (): Texts => ({
  name: { ar: '', en: '' }, tagline: { ar: '', en: '' }, about: { ar: '', en: '' }, languages: ['ar', 'en'], accent: '', links: [],
  contact: { email: '', phone: '', whatsapp: '', address: { ar: '', en: '' } }, credit: true, css: '',
});

/** The operator's side of the station's own face: what they say of it, its pictures, and what is served of them. */
export class Facing {
  version = 0;
  texts: Texts = nothing();
  pictures: { logo: Buffer | null; icon: Buffer | null } = { logo: null, icon: null };
  /** The route is there. */
  offered = true;
  defaults = { name: 'إذاعة النيل', language: 'ar' as const };
  /** An answer to give instead of the next order's. */
  refusal: { status: number; body: Json } | null = null;
  /** Ends the connection of the next order after it was taken. */
  lost = false;
  /** Orders taken: method, path below /api/station/face, body. */
  readonly taken: { order: string; body: unknown }[] = [];
  readonly #key: () => string;

  constructor(key: () => string) {
    this.#key = key;
  }

  /** A station that was given a face before. */
  set(texts: Texts = nile(), logo: Buffer | null = picture(480, 200, [15, 143, 156])): void {
    [this.version, this.texts, this.pictures] = [7, texts, { logo, icon: null }];
  }

  /** Somebody else saves. */
  change(more: Partial<Texts>): void {
    this.texts = { ...this.texts, ...more };
    this.version++;
  }

  answer(request: IncomingMessage, url: URL, response: ServerResponse): boolean {
    const path = /^\/api\/station\/face(?:\/(logo|icon))?$/.exec(url.pathname);
    if (!path || !this.offered) return false;
    const parts: Buffer[] = [];
    request.on('data', (chunk: Buffer) => parts.push(chunk));
    request.on('end', () => this.#route(request, path[1] as 'logo' | 'icon' | undefined, Buffer.concat(parts), response));
    return true;
  }

  /** Files of a face that was given; true where it was one. */
  file(path: string, response: ServerResponse): boolean {
    if (this.version === 0) return false;
    const body = path === '/face/logo.png' ? this.pictures.logo : path.startsWith('/face/icon-') ? (this.pictures.icon ?? this.pictures.logo ?? picture(64, 64, [255, 180, 63])) : path === '/card/now.png' ? picture(600, 315, [9, 58, 64]) : null;
    if (!body) return false;
    response.writeHead(200, { 'content-type': 'image/png', 'cache-control': 'no-store' }).end(body);
    return true;
  }

  /** A page with the face in it, as listeners and the studio get it. */
  within(page: string): string {
    const { name, tagline, about, contact, links, ...rest } = this.texts;
    const face = { version: this.version, ...rest, css: undefined, name: either(name, this.defaults.name), tagline: either(tagline), about: either(about), links, contact, logo: this.pictures.logo ? `/face/logo.png?v=${this.version}` : '' };
    return page.replace('</head>', `<script type="application/json" id="face">${JSON.stringify(face).replaceAll('<', '\\u003c')}</script></head>`);
  }

  #route(request: IncomingMessage, which: 'logo' | 'icon' | undefined, sent: Buffer, response: ServerResponse): void {
    const say = (status: number, answer: unknown) => void response.writeHead(status, { 'content-type': status < 400 ? 'application/json' : 'application/problem+json' }).end(JSON.stringify(answer));
    const key = Buffer.from(String(request.headers['x-station-key'] ?? ''), 'latin1').toString('utf8');
    if (this.#key() && key !== this.#key()) return say(401, { title: 'Unauthorized', status: 401, detail: 'send the station key' });
    if (request.method === 'GET') return say(200, this.#shown());
    const body: unknown = which ? { type: request.headers['content-type'], bytes: sent.length } : JSON.parse(sent.toString() || '{}');
    this.taken.push({ order: `${request.method} ${which ?? ''}`.trim(), body });
    if (this.refusal) {
      const { status, body: said } = this.refusal;
      this.refusal = null;
      return say(status, { title: 'Problem', status, ...said });
    }
    if (which) this.pictures = { ...this.pictures, [which]: request.method === 'PUT' ? sent : null };
    else {
      const { version, face } = body as { version: number; face: Texts };
      if (version !== this.version) return say(409, { title: 'Conflict', status: 409, detail: `the station's face was changed meanwhile: load version ${this.version} and make the change again` });
      this.texts = face;
    }
    this.version++;
    if (this.lost) {
      this.lost = false;
      return void request.socket.destroy();
    }
    say(200, this.#shown());
  }

  #shown(): FaceAnswer {
    const at = (which: 'logo' | 'icon', path: string) => (this.pictures[which] ? `${path}?v=${this.version}` : '');
    return { version: this.version, face: this.texts, logo: at('logo', '/face/logo.png'), icon: at('icon', '/face/icon-512.png'), defaults: this.defaults };
  }
}

/** What a station says of a field, in both languages. */
export function wrongField(location: string, want: string, arabic: string): { status: number; body: Json } {
  return { status: 422, body: { detail: 'validation failed', errors: [{ location: `body.face.${location}`, message: want }], reason: { code: 'field', en: `${location} ${want}`, ar: arabic } } };
}

/** A PNG: a mark of a colour on a transparent ground. */
export function picture(width: number, height: number, [r, g, b]: readonly [number, number, number]): Buffer {
  const rows = Buffer.alloc(height * (1 + width * 4));
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [dx, dy] = [Math.abs(x - width / 2) / (width / 2), Math.abs(y - height / 2) / (height / 2)];
      const inside = dx + dy < 1 && !(dx + dy < 0.62 && dx + dy > 0.4);
      rows.set(inside ? [r, g, b, 255] : [0, 0, 0, 0], y * (1 + width * 4) + 1 + x * 4);
    }
  }
  const chunk = (name: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const out = Buffer.alloc(body.length + 8);
    out.writeUInt32BE(data.length, 0);
    body.copy(out, 4);
    out.writeUInt32BE(crc(body), body.length + 4);
    return out;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 6, 0, 0, 0], 8);
  return Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]);
}

function crc(data: Buffer): number {
  let c = ~0;
  for (const byte of data) {
    c ^= byte;
    for (let i = 0; i < 8; i++) c = (c >>> 1) ^ (c & 1 ? 0xedb88320 : 0);
  }
  return ~c >>> 0;
}
