import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Guard } from '../../src/station/api';
import type { Airing, By, Deed, Found, Hook, Point, Sanction, Word } from '../../src/studio/audience/answers';
import type { Audience } from './audience';
import { Figures } from './figures';

type Json = Record<string, unknown>;

const minute = 60_000;

/** What an operator sees and does of the listeners: who listens, what aired, the guard, and the chat's order. */
export class Operator {
  guard: Guard = { state: 'watching', kind: '', since: Date.now() - 9_000_000, level: -16.2, lastAlarm: null };
  /** Of each kind; oldest first. */
  points: Record<By, Point[]> = pointsOf(Date.now());
  readonly figures = new Figures();
  /** Newest first. */
  airings: Airing[] = airingsOf(Date.now());
  sanctions: Sanction[] = [];
  words: Word[] = [{ word: 'سبام', action: 'block' }];
  deeds: Deed[] = [];
  hooks: Hook[] = [];
  /** Orders taken: method, path below /api/station, body. */
  readonly taken: { order: string; body: Json }[] = [];
  readonly #audience: Audience;
  readonly #key: () => string;
  readonly #deleted: Found[] = [];
  #next = 1;

  constructor(audience: Audience, key: () => string) {
    this.#audience = audience;
    this.#key = key;
  }

  /** Raises a dead-air alarm. */
  raise(kind: string, step?: string, began = Date.now() - 4000): void {
    this.guard = { state: step ? 'recovering' : 'alarm', kind, since: Date.now(), level: -90, ...(step ? { step } : {}), lastAlarm: { id: 7, kind, began, raised: began + 4000, steps: step ? [step] : [], cause: 'the engine does not answer' } };
    this.#audience.tellAlert(kind, 'raised');
  }

  clear(): void {
    const { kind } = this.guard;
    this.guard = { ...this.guard, state: 'watching', kind: '', level: -16, lastAlarm: { ...this.guard.lastAlarm!, heard: Date.now(), cleared: Date.now() } };
    this.#audience.tellAlert(kind, 'cleared');
  }

  answer(request: IncomingMessage, url: URL, response: ServerResponse): boolean {
    if (url.pathname === '/api/telemetry/listeners') {
      const by = (url.searchParams.get('by') ?? 'minute') as By;
      const [from, to] = [Number(url.searchParams.get('from') ?? 0), Number(url.searchParams.get('to') ?? Infinity)];
      return json(response, 200, { by, timezone: 'Africa/Cairo', points: this.points[by].filter(({ at }) => at >= from && at < to) });
    }
    const path = /^\/api\/station\/((?:guard|telemetry|chat|webhooks).*)$/.exec(url.pathname)?.[1];
    if (!path) return false;
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const sent = Buffer.from(String(request.headers['x-station-key'] ?? ''), 'latin1').toString('utf8');
      if (this.#key() && sent !== this.#key()) return json(response, 401, { title: 'Unauthorized', status: 401, detail: 'send the station key' });
      const body = text ? (JSON.parse(text) as Json) : {};
      if (request.method !== 'GET') this.taken.push({ order: `${request.method} ${path}`, body });
      const figures = this.figures.answer(path, url.searchParams);
      if (figures) return figures(response);
      if (url.searchParams.get('format') === 'csv') return table(response, this.#aired(url.searchParams));
      const said = this.#route(`${request.method} ${path}`, body, url.searchParams);
      return said === null ? json(response, 404, { title: 'Not Found', status: 404, detail: 'no such route' }) : json(response, 200, said);
    });
    return true;
  }

  #route(order: string, body: Json, query: URLSearchParams): unknown {
    const [, kind, id] = /^DELETE chat\/(messages|comments)\/(\w+)$/.exec(order) ?? [];
    if (kind) return this.#bury([id as string]);
    const answers: Record<string, () => unknown> = {
      'GET guard': () => ({ guard: this.guard, alarms: this.guard.lastAlarm ? [this.guard.lastAlarm] : [] }),
      'GET telemetry/airings': () => ({ airings: this.#aired(query) }),
      'GET chat/messages': () => ({ messages: this.#found(query) }),
      'GET chat/sanctions': () => ({ sanctions: this.sanctions }),
      'GET chat/words': () => ({ words: this.words }),
      'PUT chat/words': () => ({ words: (this.words = body.words as Word[]) }),
      'GET chat/audit': () => ({ deeds: this.deeds }),
      'POST chat/mute': () => this.#sanction('mute', body),
      'POST chat/ban': () => this.#sanction('ban', body),
      'POST chat/lift': () => ((this.sanctions = this.sanctions.filter((one) => one.id !== body.id)), {}),
      'POST chat/purge': () => this.#purge(body),
      'GET webhooks': () => ({ webhooks: this.hooks, events: [{ name: 'track.change', doc: 'Something else is on air' }, { name: 'dead_air.raised', doc: 'Dead air, or what leads to it' }, { name: 'of.tomorrow', doc: 'Something of a later version' }] }),
    };
    return answers[order]?.() ?? null;
  }

  #aired(query: URLSearchParams): Airing[] {
    const [from, to] = [Number(query.get('from') ?? 0), Number(query.get('to') ?? Infinity)];
    return this.airings.filter(({ startedAt }) => startedAt >= from && startedAt < to).slice(0, Number(query.get('limit') ?? 100));
  }

  /** Everything of one name is of one device. */
  #found(query: URLSearchParams): Found[] {
    const all = [...this.#shown(), ...this.#deleted].sort((a, b) => b.at - a.at || Number(b.id.slice(1)) - Number(a.id.slice(1)));
    const of = all.find(({ id }) => id === query.get('of'));
    const text = query.get('text') ?? '';
    return all.filter((found) => (!of || found.device === of.device) && `${found.user} ${found.text}`.includes(text)).slice(0, Number(query.get('limit') ?? 50));
  }

  #shown(): Found[] {
    const { messages, comments } = this.#audience;
    const said = comments.map(({ id, name, text, at, staff }) => ({ id, user: name, text, room: 'comments', type: 'text' as const, at, ...(staff ? { staff } : {}) }));
    return [...messages, ...said].map((message) => ({ ...message, state: 'shown' as const, device: Buffer.from(message.user).toString('hex').slice(0, 16) }));
  }

  #bury(ids: readonly string[]): object {
    for (const found of this.#shown().filter(({ id }) => ids.includes(id))) {
      this.#deleted.push({ ...found, text: '', state: 'deleted' });
      this.#audience.remove(found.id);
    }
    return {};
  }

  #sanction(kind: 'mute' | 'ban', body: Json): Sanction {
    const name = [...this.#shown(), ...this.#deleted].find(({ id }) => id === body.of)?.user ?? '';
    const one: Sanction = { id: this.#next++, kind: body.shadow ? 'shadow' : kind, name, reason: String(body.reason ?? ''), at: Date.now(), until: body.minutes ? Date.now() + Number(body.minutes) * minute : 0 };
    this.sanctions = [one, ...this.sanctions];
    this.deeds = [{ id: this.#next++, at: Date.now(), who: '203.0.113.1', action: kind, target: name }, ...this.deeds];
    return one;
  }

  #purge({ of, minutes, dryRun }: Json): { deleted: number } {
    const all = [...this.#shown(), ...this.#deleted];
    const device = all.find(({ id }) => id === of)?.device;
    const gone = this.#shown().filter((found) => found.device === device && !found.staff && found.at >= Date.now() - Number(minutes) * minute);
    if (!dryRun) this.#bury(gone.map(({ id }) => id));
    return { deleted: gone.length };
  }
}

/** Of a day by minute, but for half an hour in which nobody counted; of sixty days by hour, and of two years by day. */
function pointsOf(now: number): Record<By, Point[]> {
  const point = (at: number, i: number): Point => {
    const n = Math.max(0, Math.round(90 + 55 * Math.sin(at / 4_000_000) + 22 * Math.sin(at / 13_000_000) + 6 * Math.sin(i / 3)));
    return { at, listeners: { average: n, min: Math.max(0, n - 3 - (i % 5)), max: n + 4 + (i % 7) }, tuneIns: i % 6, tuneOuts: (i * 7) % 5 };
  };
  const made = (step: number, n: number) => Array.from({ length: n }, (_, i) => point(Math.floor(now / step) * step - (n - 1 - i) * step, i));
  return { minute: made(minute, 1440).filter(({ at }) => now - at < 3 * 60 * minute || now - at > 3.5 * 60 * minute), hour: made(60 * minute, 1440), day: made(1440 * minute, 730) };
}

/** Songs with imaging between them, back to the day before yesterday; the oldest were counted by nobody. */
function airingsOf(now: number): Airing[] {
  const songs: [string, string, string, number][] = [
    ['ليل القاهرة', 'فرقة النيل', 'arabic_hits', 227], ['هوية المحطة', '', 'jingles', 6], ['Harbour Lights', 'The Paper Lanterns', 'english', 198],
    ['يا مسافر وحدك', 'سلمى الحديدي', 'arabic_hits', 254], ['نشرة', '', 'news', 36], ['=SUM(A1) <b>Slow River</b>', 'Amal Haddad', 'english', 241], ['أُغنية الصعيد', 'طارق عبد الرحيم', 'social', 263],
  ];
  const airings: Airing[] = [];
  let at = now - 60_000;
  for (let i = 0; airings.length < 1000; i++) {
    const [title, artist, category, seconds] = songs[i % songs.length]!;
    const average = Math.max(0, 80 + 60 * Math.sin(i / 90) + 9 * Math.sin(i));
    const listeners = { start: Math.round(average) + 2, average: Math.round(average * 10) / 10, end: Math.max(0, Math.round(average) - 1) };
    const counted = i < 900 ? { listeners, listenerHours: (average * seconds) / 3600 } : { listenerHours: 0 };
    airings.push({
      startedAt: at, ...(i ? { endedAt: at + seconds * 1000 } : {}), seconds: i ? seconds : 60, title, artist, file: `music/${category}/${i}.mp3`, category, type: category === 'jingles' ? 'jingles' : 'music',
      kind: i % 61 === 60 ? 'live' : 'rotation', tuneIns: i % 5, tuneOuts: i % 4, ...counted,
    });
    at -= (songs[(i + 1) % songs.length]![3]) * 1000;
  }
  return airings;
}

function table(response: ServerResponse, airings: readonly Airing[]): true {
  response.writeHead(200, { 'content-type': 'text/csv; charset=utf-8', 'content-disposition': 'attachment; filename="airings.csv"' });
  response.end(`\ufeffstarted,title\n${airings.map(({ startedAt, title }) => `${new Date(startedAt).toISOString()},"${title}"`).join('\n')}\n`);
  return true;
}

function json(response: ServerResponse, status: number, body: unknown): true {
  response.writeHead(status, { 'content-type': status < 400 ? 'application/json' : 'application/problem+json' });
  response.end(JSON.stringify(body));
  return true;
}
