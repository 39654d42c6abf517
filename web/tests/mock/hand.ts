import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Planned, Schedule } from '../../src/station/api';
import { isMusic } from '../../src/station/ear';
import type { Break, Coming, Order, QueueAnswer, Song } from '../../src/studio/byhand/answers';
import { placeOf, preview } from '../../src/studio/byhand/order';
import { scheduleOf, type Scene } from './data';

const artistGapMs = 15 * 60_000;
const onTimeMs = 15_000;
const mostHeld = 50;

interface Deed {
  id: string;
  what: Order['op'];
  title: string;
  at: number;
  before: { entries: Coming[]; held: number };
}

/**
 * The queue by hand as the station keeps it: versions, what is held, deeds, and
 * two rules that an order may break (an artist again within a quarter of an
 * hour, a timed event late).
 */
export class Hand {
  version = '1';
  held = 0;
  heldBy = '';
  /** Orders taken. */
  readonly taken: { order: string; body: Record<string, unknown> }[] = [];
  /** Checks asked for, and until when their answers wait. */
  checks: Order[] = [];
  gate: Promise<void> | null = null;
  /** Refuses every edit: nothing can be changed at the moment. */
  closed = false;
  #entries: Coming[] | null = null;
  #of = '';
  readonly #deeds: Deed[] = [];
  #next = 1;

  constructor(
    readonly scene: () => Scene,
    readonly key: () => string,
    readonly look: () => boolean,
  ) {}

  get entries(): Coming[] {
    const { index, startedAt, empty } = this.scene();
    const of = `${index} ${startedAt} ${empty}`;
    if (this.#entries === null || this.#of !== of) {
      if (this.#entries !== null) this.#renew();
      [this.#of, this.held] = [of, 0];
      this.#entries = (scheduleOf(this.scene()).rotation ?? []).filter(({ onAir, aired }) => !onAir && !aired).map(({ relaxed, ...entry }) => ({ ...entry, relaxed: (relaxed ?? []).map((rule) => ({ rule })) }));
    }
    return this.#entries;
  }

  /** The planner has made another rotation behind what is held, with other positions. */
  rebuild(change: (entries: Coming[]) => Coming[]): void {
    this.#put(change(this.entries));
  }

  files(n = 6): string[] {
    return this.entries.slice(0, n).map(({ title }) => title);
  }

  schedule(explain: boolean): Schedule {
    const plan = scheduleOf(this.scene(), explain);
    const why = new Map((plan.rotation ?? []).map((entry) => [entry.position, entry.why]));
    const past = (plan.rotation ?? []).filter(({ onAir, aired }) => onAir || aired);
    const ahead = this.entries.map(({ relaxed, ...entry }): Planned => ({ onAir: false, aired: false, votes: 0, ...entry, relaxed: (relaxed ?? []).map(({ rule }) => rule), ...(explain && why.get(entry.position) ? { why: why.get(entry.position)! } : {}) }));
    return { ...plan, rotation: [...past, ...ahead], length: past.length + ahead.length };
  }

  answer(request: IncomingMessage, url: URL, response: ServerResponse): boolean {
    const route = `${request.method} ${url.pathname}`;
    if (!/^\/api\/station\/queue(\/(check|edit|undo))?$/.test(url.pathname)) return false;
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const body = text ? (JSON.parse(text) as Record<string, unknown>) : {};
      const sent = Buffer.from(String(request.headers['x-station-key'] ?? ''), 'latin1').toString('utf8');
      const looks = request.method === 'GET' && this.look();
      if (this.key() && sent !== this.key() && !looks) return say(response, 401, { detail: 'send the station key' });
      void this.#route(route, body).then(([status, answer]) => say(response, status, answer));
    });
    return true;
  }

  async #route(route: string, body: Record<string, unknown>): Promise<[number, unknown]> {
    if (route === 'GET /api/station/queue') return [200, this.#answer()];
    if (route.endsWith('/check')) {
      this.checks.push(body as unknown as Order);
      await this.gate;
      const stale = this.#stale(body);
      return stale ?? [200, this.#verdict(body as unknown as Order)];
    }
    this.taken.push({ order: route.replace('/api/station/', ''), body });
    if (route.endsWith('/undo')) return this.#undo(String(body['id']));
    if (this.closed) return [409, { title: 'Conflict', detail: 'the rotation is being rebuilt' }];
    return this.#stale(body) ?? this.#edit(body as unknown as Order);
  }

  #stale(body: Record<string, unknown>): [number, unknown] | null {
    void this.entries; // it may be another one by now
    return body['version'] === this.version ? null : [409, { title: 'Conflict', detail: 'the queue has changed: look again' }];
  }

  #edit(order: Order): [number, unknown] {
    const { entries } = this;
    const place = placeOf(entries, order.position);
    if (order.op !== 'insert' && order.position !== undefined && place < 0) return [404, { title: 'Not Found', detail: 'no such entry is to come' }];
    const seen = order.op === 'lock' || order.op === 'release' ? { entries, at: place } : preview(entries, order, song(order));
    if (!seen) return [404, { title: 'Not Found', detail: 'no such file' }];
    const touched = order.op === 'remove' ? Math.max(place, this.held - (place < this.held ? 1 : 0)) : order.op === 'release' ? Math.max(0, place) : Math.max(this.held, seen.at + 1, place + 1); // the further of both places
    if (touched > mostHeld) return [409, { title: 'Conflict', detail: 'at most 50 entries are held' }];
    const { breaks } = this.#verdict(order);
    const whole = order.op === 'lock' || order.op === 'release'; // about no entry of its own
    const deed = { id: `d${this.#next++}`, what: order.op, title: whole ? '' : ((order.op === 'insert' ? seen.entries[seen.at] : entries[place])?.title ?? ''), at: Date.now(), before: { entries, held: this.held } };
    this.#deeds.push(deed);
    this.held = touched;
    this.#put(seen.entries);
    return [200, { ...this.#answer(), breaks, deed: { id: deed.id } }];
  }

  #undo(id: string): [number, unknown] {
    const at = this.#deeds.findIndex((deed) => deed.id === id);
    const [deed] = at < 0 ? [] : this.#deeds.splice(at);
    if (!deed) return [404, { title: 'Not Found', detail: 'no such deed' }];
    this.held = deed.before.held;
    this.#put(deed.before.entries);
    return [200, this.#answer()];
  }

  #renew(): void {
    this.version = String(Number(this.version) + 1);
  }

  /** A new version, whose positions are counted anew. */
  #put(entries: Coming[]): void {
    this.#renew();
    this.#entries = entries.map((entry, i) => ({ ...entry, position: 38 + i }));
  }

  #answer(): QueueAnswer {
    const entries = this.entries.map((entry, i) => ({ ...entry, locked: i < this.held }));
    const last = this.#deeds.at(-1);
    return { version: this.version, held: this.held, most: mostHeld, ...(this.heldBy ? { heldBy: this.heldBy } : {}), ...(last ? { undo: { id: last.id, what: last.what, ...(last.title ? { title: last.title } : {}), at: last.at, by: this.heldBy } } : {}), entries };
  }

  #verdict(order: Order): { breaks: Break[]; lifts: Break[] } {
    const before = this.#broken(this.entries);
    const after = this.#broken(preview(this.entries, order, song(order))?.entries ?? this.entries);
    const unlike = (all: Break[], others: Break[]) => all.filter((one) => !others.some((other) => other.rule === one.rule && other.file === one.file));
    return { breaks: unlike(after, before), lifts: unlike(before, after) };
  }

  #broken(entries: readonly Coming[]): Break[] {
    const on = (scheduleOf(this.scene()).rotation ?? []).find(({ onAir }) => onAir);
    const last = new Map<string, { at: number; title: string }>(on?.artist ? [[on.artist, { at: this.scene().startedAt, title: on.title }]] : []);
    return entries.flatMap(({ position, file, title, artist, category, type, expectedAt = 0, due }): Break[] => {
      const found: Break[] = [];
      const said = { position, file, title, ...(artist ? { artist } : {}) };
      const other = last.get(artist);
      if (artist && isMusic({ category, type }) && other && expectedAt - other.at < artistGapMs) found.push({ ...said, rule: 'artist-gap', afterMs: expectedAt - other.at, other: other.title, detail: 'another by the same artist is near' });
      if (artist) last.set(artist, { at: expectedAt, title });
      if (due && expectedAt - due > onTimeMs + 30_000) found.push({ ...said, rule: 'timed-event', lateMs: expectedAt - due, due });
      return found;
    });
  }
}

/** A track of the library, by its file alone. */
function song({ op, file = '' }: Order): Song | undefined {
  if (op !== 'insert') return undefined;
  const [category = '', base = ''] = file.split('/').slice(-2);
  return { file, title: base.replace(/(_\d+)?\.mp3$/, '').replaceAll('_', ' '), artist: /River/.test(base) ? 'Amal Haddad' : '', category, durationMs: 200_000 };
}

function say(response: ServerResponse, status: number, answer: unknown): void {
  response.writeHead(status, { 'content-type': status < 400 ? 'application/json' : 'application/problem+json' });
  response.end(JSON.stringify(status < 400 ? answer : { status, ...(answer as object) }));
}
