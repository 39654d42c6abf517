import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock, Config, Past, Position } from '../../src/studio/config';
import { scheduleOf, type Scene } from './data';

type Json = Record<string, unknown>;

export const defaults: Config = {
  ROTATION: {
    BUFFER_MAX: 120, REFRESH_FRACTION: 0.85, MUSIC_FRESH_MS: 10_800_000, COOLDOWN_PERIOD: 5_400_000, ELEMENT_COOLDOWN: 600_000,
    SIG_JINGLE_MIN_SLOTS: 2, SIG_JINGLE_MAX_SLOTS: 5, MUSIC_MIN_MS: 45_000, ARTIST_GAP_MS: 1_800_000, TITLE_GAP_MS: 3_600_000,
    ALBUM_GAP_MS: 1_200_000, MIN_REST_MS: 1_800_000, MAX_PLAYS_DAY: 6, SAME_HOUR: true, POST_EVERY: 3, REQUEST_EVERY: 3,
  },
  GENRE_SPLIT: { arabic_hits: 0.65, english: 0.3, social: 0.05 },
  MASHUP_CHANCE: 0.06, STOCHASTIC_SFX_CHANCE: 0.45, AD_EVERY: 16, DAYPARTS: null, CLOCKS: null, MOOD: '', SINGERS: {}, QUERIES: {},
};

/** Clocks of an operator: a morning of the week, and Friday's. */
export function morning(): Clock[] {
  const threes = (n: number): Position[] => Array.from({ length: n }, () => [{ category: 'arabic_hits', count: 2 }, { category: 'english' }, { category: 'break' }]).flat();
  return [
    {
      name: 'صباح النيل', days: ['sun', 'mon', 'tue', 'wed', 'thu'], daypart: 'morning', start: '06:00', end: '10:00',
      hour: [{ category: 'news', at: '00:00' }, { category: 'jingles' }, ...threes(2), { category: 'news', at: '30:00', tolerance: 20 }, { category: 'ads' }, ...threes(2), { category: 'mashups' }],
    },
    { name: 'Friday', days: ['fri'], start: '00:00', end: '00:00', hour: [{ category: 'jingles' }, { category: 'music', count: 12 }] },
  ];
}

/** Lines as slog writes them. */
export function logLines(n = 40): string[] {
  const begin = Date.UTC(2026, 10, 21, 12, 0);
  return Array.from({ length: n }, (_, i) => {
    const time = new Date(begin + i * 4321).toISOString();
    if (i % 9 === 7) return `time=${time} level=WARN msg="track is quarantined" role=control path="english/Broken_Download.mp3" reason="no audio stream found"`;
    if (i % 17 === 15) return `time=${time} level=ERROR msg="push playlist" role=control error="connection refused"`;
    if (i % 5 === 3) return `time=${time} level=DEBUG msg="marker" role=control title="<i>ليل القاهرة</i>"`;
    return `time=${time} level=INFO msg="now playing" role=control title="ليل القاهرة" artist="فرقة النيل" category=arabic_hits`;
  });
}

/** RFC 7396, where null brings a default back. */
function merge(into: unknown, patch: unknown, fallback: unknown): unknown {
  if (patch === null) return structuredClone(fallback);
  if (typeof patch !== 'object' || Array.isArray(patch)) return patch;
  const out = { ...(into as Json) };
  for (const [name, value] of Object.entries(patch as Json)) {
    if (value === null && (fallback as Json | undefined)?.[name] === undefined) delete out[name];
    else out[name] = merge(out[name] ?? {}, value, (fallback as Json | undefined)?.[name]);
  }
  return out;
}

/** The control routes of a station behind its key: what pages need to be refused, obeyed and kept waiting. */
export class Control {
  key = 'نهر-the-nile';
  config: Config = structuredClone(defaults);
  saved = true;
  /** Each change is saved as it is made. */
  keepsEdits = true;
  /** Why it cannot be; empty: it can. */
  unsaved = '';
  /** What was changed, the newest first, with what was in force before. */
  past: (Past & { before: Config })[] = [];
  /** Wrong keys until the station stops listening, and for how long it says so, seconds. */
  patience = 3;
  waitSeconds = 2;
  /** The programme: orders do nothing while it is live. */
  live = false;
  /** An answer to give instead, once. */
  refusal: { status: number; body: Json } | null = null;
  /** Orders taken: method, path and body. */
  readonly taken: { order: string; body: unknown }[] = [];
  log: string[] = [];
  #wrong = 0;
  #closedUntil = 0;

  constructor(readonly scene: () => Scene, readonly onAir: (index: number) => void) {}

  /** It listens again, its wait over. */
  forgive(): void {
    this.#closedUntil = 0;
  }

  answer(request: IncomingMessage, url: URL, response: ServerResponse): void {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => this.#route(request, url, response, text ? (JSON.parse(text) as Json) : {}));
  }

  #route(request: IncomingMessage, url: URL, response: ServerResponse, body: Json): void {
    const say = (status: number, answer: unknown, headers: Record<string, string> = {}) => {
      const type = status < 400 ? 'application/json' : 'application/problem+json';
      response.writeHead(status, { 'content-type': type, ...headers }).end(JSON.stringify(answer));
    };
    const problem = (status: number, detail: string, headers = {}) => say(status, { title: 'Problem', status, detail }, headers);

    const wait = Math.ceil((this.#closedUntil - Date.now()) / 1000);
    if (this.key && wait > 0) return problem(429, 'too many wrong keys', { 'retry-after': String(wait) });
    const sent = Buffer.from(String(request.headers['x-station-key'] ?? ''), 'latin1').toString('utf8');
    if (this.key && sent !== this.key) {
      if (sent && ++this.#wrong >= this.patience) {
        [this.#wrong, this.#closedUntil] = [0, Date.now() + this.waitSeconds * 1000];
      }
      return problem(401, 'send the station key', { 'www-authenticate': 'Bearer realm="athir station"' });
    }
    const route = `${request.method} ${url.pathname.replace('/api/station/', '')}`;
    if (request.method !== 'GET') {
      if (this.refusal) {
        const { status, body: said } = this.refusal;
        this.refusal = null;
        return say(status, said);
      }
      this.taken.push({ order: route, body });
    }
    const answer = this.#answers(url, body)[route];
    if (!answer) return problem(404, 'there is no such route: see /openapi.json');
    const [status, said] = answer();
    say(status, said);
  }

  #answers(url: URL, body: Json): Record<string, () => [number, unknown]> {
    const done = () => ({ plan: { length: 120, consumed: 37, daypart: 'evening', builtAt: Date.now(), reason: 'forced', problem: '' }, next: [] });
    const standing = () => ({ saved: this.saved, keepsEdits: this.keepsEdits, ...(this.unsaved && !this.saved ? { unsaved: this.unsaved } : {}) });
    const put = (config: Config, what: string[], more: Partial<Past> = {}): [number, unknown] => {
      const change = (this.past[0]?.id ?? 0) + 1;
      this.past.unshift({ id: change, at: Date.now(), by: 'salma', what, before: this.config, ...more });
      this.config = config;
      this.saved = this.keepsEdits && !this.unsaved;
      return [200, { config, ...standing(), rebuilt: true, change }];
    };
    const names = (patch: Json): string[] => Object.entries(patch).flatMap(([name, value]) => (name === 'ROTATION' ? Object.keys(value as Json).map((knob) => `${name}.${knob}`) : [name]));
    const change = (patch: Json, more: Partial<Past> = {}, what = names(patch)): [number, unknown] => put(merge(this.config, patch, defaults) as Config, what, more);
    const undo = (): [number, unknown] => {
      const one = this.past.find(({ id }) => id === body.id);
      if (!one || one.undone) return [409, { title: 'Conflict', status: 409, detail: `change ${String(body.id)} is undone already` }];
      const newer = this.past.filter(({ id }) => id > one.id).flatMap(({ what }) => what);
      const left = one.what.filter((name) => newer.includes(name));
      one.undone = (this.past[0]?.id ?? 0) + 1;
      const [status, said] = put(left.length > 0 ? this.config : one.before, one.what, { undoes: one.id });
      return [status, { ...(said as Json), ...(left.length > 0 ? { left } : {}) }];
    };
    const keep = (name: 'SINGERS' | 'QUERIES', texts: string[], at: string): [number, unknown] => {
      const errors = texts.flatMap((text, i) => (text.trim() === '' ? [{ location: `body.${at}[${i}]`, message: 'must not be empty' }] : []));
      if (errors.length > 0) return [422, { title: 'Unprocessable Entity', status: 422, detail: 'validation failed', errors }];
      const { [String(body.category)]: _, ...others } = this.config[name];
      this.config = { ...this.config, [name]: texts.length > 0 ? { ...others, [String(body.category)]: [...new Set(texts)] } : others };
      this.saved = this.keepsEdits && !this.unsaved;
      return [200, { [name.toLowerCase()]: this.config[name], ...standing() }];
    };
    const closed = (): [number, unknown] => [409, { title: 'Conflict', status: 409, detail: 'a live broadcast is on the air' }];
    return {
      'GET mood': () => [200, { mood: this.config.MOOD, moods: ['chill', 'romantic', 'tarab', 'party', 'energy', 'focus'] }],
      'PUT mood': () => change({ MOOD: body.mood, ...(body.mood === 'party' ? { GENRE_SPLIT: { arabic_hits: 0.5, english: 0.42, social: 0.08 }, MASHUP_CHANCE: 0.22 } : {}) }, { mood: String(body.mood) }, ['MOOD']),
      'GET config': () => [200, { config: this.config, ...standing() }],
      'GET config/history': () => [200, { changes: this.past.map(({ before: _, ...one }) => one) }],
      'POST config/undo': undo,
      'PUT config': () => change(body),
      'POST config/save': () => (this.unsaved ? [503, { title: 'Service Unavailable', status: 503, detail: this.unsaved }] : ((this.saved = true), [200, { saved: true }])),
      'POST config/reset': () => {
        const answer = put(structuredClone(defaults), names({ AD_EVERY: 0, DAYPARTS: 0, CLOCKS: 0 }));
        this.saved = true;
        return answer;
      },
      'GET singers': () => [200, { singers: this.config.SINGERS, ...standing() }],
      'POST singers': () => keep('SINGERS', body.replace as string[], 'replace'),
      'GET queries': () => [200, { queries: this.config.QUERIES, ...standing() }],
      'PUT queries': () => keep('QUERIES', body.queries as string[], 'queries'),
      'GET rules': () => [200, { rules: [{ rule: 'no-drums-before-noon', rank: 1, why: 'drums wait for noon', breakable: true }] }],
      'POST rotation/rebuild': () => [200, done()],
      'POST skip': () => (this.live ? closed() : (this.onAir(this.scene().index + 1), [200, done()])),
      'POST play': () => {
        if (this.live) return closed();
        const at = (scheduleOf(this.scene()).rotation ?? []).findIndex((e) => e.position > 37 && e.category === body.category);
        if (at < 0) return [404, { title: 'Not Found', status: 404, detail: 'no track of this category' }];
        this.onAir(this.scene().index + at - 37);
        return [200, { ...done(), track: {} }];
      },
      'GET log': () => [200, { file: url.searchParams.get('file'), lines: this.log }],
    };
  }
}
