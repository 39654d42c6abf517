import { serversIn, serversOf } from './sdp';
import type { Facts } from './sign';
import type { Cause, Refusal } from './machine';

/** The publisher's key as it stands in the page's address: `#k=<id>.<secret>`. */
export function keyIn(text: string): string {
  const given = /[#&?]k=([^&\s]+)/.exec(text)?.[1] ?? text.trim();
  let key = given;
  try {
    key = decodeURIComponent(given);
  } catch {
    // a stray percent sign: it is no key, which the next line says
  }
  return /^[\w-]+\.[\w.~+/=-]{4,}$/.test(key) ? key : '';
}

/** What the station says of a presenter who says nothing. */
export interface Account {
  name: string;
  show: string;
}

/** What the presenter says of the show. */
export interface Show {
  title: string;
  name: string;
  /** Those who asked for it are sent a notification. */
  push: boolean;
}

/**
 * Why nothing came of a request. refused: the key is no good; busy: later, after what the
 * server asked for; away: nobody answered; gone: the answer is no, and asking the same
 * again changes nothing.
 */
export class Denied extends Error {
  constructor(readonly said: { kind: 'gone' | 'away' } | { kind: 'busy'; afterMs: number; cause: Cause } | { kind: 'refused'; why: Refusal; retryAt: number }) {
    super(said.kind);
  }
}

const answerMs = 8000;

/** What the server's refusal means: 401 and 403 carry a code and perhaps a time (RFC 9457), 429 and 503 when to come again. */
async function deny(answer: Response): Promise<Denied> {
  if (answer.status === 429 || answer.status === 503) {
    const wait = Number(answer.headers.get('retry-after')) || 10;
    return new Denied({ kind: 'busy', afterMs: Math.min(Math.max(wait, 1), 600) * 1000, cause: answer.status === 429 ? 'full' : 'unready' });
  }
  if (answer.status !== 401 && answer.status !== 403) return new Denied({ kind: 'gone' });
  const { code, retryAt } = ((await answer.json().catch(() => null)) ?? {}) as { code?: string; retryAt?: number };
  const known = (['unknown', 'revoked', 'early', 'late'] as const).find((c) => c === code);
  return new Denied({ kind: 'refused', why: known ?? (answer.status === 401 ? 'unknown' : 'forbidden'), retryAt: Number(retryAt) || 0 });
}

/** The first signal that aborts; browsers of 2023 lack AbortSignal.any. */
function either(...signals: AbortSignal[]): AbortSignal {
  const first = new AbortController();
  for (const signal of signals) {
    if (signal.aborted) first.abort();
    else signal.addEventListener('abort', () => first.abort(), { signal: first.signal });
  }
  return first.signal;
}

/** One WHIP session's resource over HTTP (RFC 9725). Every call throws Denied where the server says no or is away. */
export class Resource {
  private constructor(
    readonly url: string,
    readonly answer: string,
    private etag: string,
    private readonly key: string,
  ) {}

  /** The ICE servers of the endpoint, those of an operator's TURN included; none if it cannot be asked. */
  static async servers(key: string): Promise<RTCIceServer[]> {
    try {
      const told = await fetch('/whip', { method: 'OPTIONS', headers: { authorization: `Bearer ${key}` }, signal: AbortSignal.timeout(answerMs) });
      const servers = serversOf(told.headers.get('link') ?? '');
      if (servers.length) return servers;
      const info = await fetch('/whip-info', { cache: 'no-store', signal: AbortSignal.timeout(answerMs) });
      return serversIn(await info.json());
    } catch {
      return []; // whoever needs none gets through all the same, and the offer tells who is away
    }
  }

  /** Whose key it is; nothing where that cannot be had now. */
  static async account(key: string): Promise<Account> {
    try {
      const told = await fetch('/whip-account', { cache: 'no-store', headers: { authorization: `Bearer ${key}` }, signal: AbortSignal.timeout(answerMs) });
      const { name, show } = (told.ok ? await told.json() : {}) as Partial<Account>;
      return { name: typeof name === 'string' ? name : '', show: typeof show === 'string' ? show : '' };
    } catch {
      return { name: '', show: '' };
    }
  }

  static async begin(key: string, offer: string, { title, name, push }: Show, signal: AbortSignal): Promise<Resource> {
    const query = new URLSearchParams({ title, name, ...(push ? { push: '1' } : {}) });
    const answer = await ask(`/whip?${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/sdp' },
      body: offer,
      signal: either(signal, AbortSignal.timeout(answerMs)),
    });
    if (answer.status !== 201) throw await deny(answer);
    const url = new URL(answer.headers.get('location') ?? '', answer.url);
    const sdp = await answer.text().catch(() => '');
    const made = new Resource(url.href, sdp, answer.headers.get('etag') ?? '', key);
    if (signal.aborted || !sdp) {
      void made.end(); // given up meanwhile, or cut off: nobody else would end it
      throw new Denied({ kind: 'away' });
    }
    return made;
  }

  /** Tells of candidates that were found after the offer had gone. */
  async trickle(fragment: string): Promise<void> {
    const answer = await this.#patch(fragment, this.etag || '*');
    if (!answer.ok) throw await deny(answer);
  }

  /** Asks for an ICE restart; answers the server's fragment. */
  async restart(fragment: string): Promise<string> {
    const answer = await this.#patch(fragment, '*');
    if (answer.status !== 200) throw await deny(answer);
    this.etag = answer.headers.get('etag') ?? this.etag;
    return answer.text();
  }

  #patch(body: string, match: string): Promise<Response> {
    return ask(this.url, {
      method: 'PATCH',
      headers: { ...this.#headers, 'content-type': 'application/trickle-ice-sdpfrag', 'if-match': match },
      body,
      signal: AbortSignal.timeout(answerMs),
    });
  }

  /** Says that the presenter is silent on purpose, which is given more time than a fault. */
  async muted(muted: boolean): Promise<void> {
    const answer = await ask(`${this.url}/state`, {
      method: 'POST',
      headers: { ...this.#headers, 'content-type': 'application/json' },
      body: JSON.stringify({ muted }),
      signal: AbortSignal.timeout(answerMs),
    });
    if (!answer.ok) throw await deny(answer);
  }

  /** Ends it, even as the page goes away; until that was heard, or cannot be. */
  async end(): Promise<void> {
    await fetch(this.url, { method: 'DELETE', keepalive: true, headers: this.#headers }).catch(() => undefined);
  }

  /**
   * Follows what the station tells, until the signal ends it, the session is not there any
   * more (answers 'gone') or the stream breaks off (answers 'lost'). Silence of 15 s is a
   * break: something is said every 5 s.
   */
  async follow(tell: (facts: Facts) => void, signal: AbortSignal): Promise<'gone' | 'lost'> {
    const silence = new AbortController();
    let watch = setTimeout(() => silence.abort(), 15_000);
    try {
      const answer = await fetch(`${this.url}/facts`, { headers: { ...this.#headers, accept: 'text/event-stream' }, cache: 'no-store', signal: either(signal, silence.signal) });
      if (answer.status === 404 || answer.status === 410) return 'gone';
      if (!answer.ok || !answer.body) return 'lost';
      const events = new Events(tell);
      const text = new TextDecoder();
      for (const reader = answer.body.getReader(); ; ) {
        const { done, value } = await reader.read();
        if (done) return 'lost';
        clearTimeout(watch);
        watch = setTimeout(() => silence.abort(), 15_000);
        events.take(text.decode(value, { stream: true }));
      }
    } catch {
      return 'lost';
    } finally {
      clearTimeout(watch);
    }
  }

  get #headers(): Record<string, string> {
    return { authorization: `Bearer ${this.key}` };
  }
}

async function ask(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...init, cache: 'no-store' });
  } catch {
    throw new Denied({ kind: 'away' });
  }
}

/** Reads Server-Sent Events as their bytes come. EventSource cannot say who asks, nor tell a session that ended from a network that went. */
export class Events {
  #rest = '';
  #data: string[] = [];

  constructor(private readonly tell: (facts: Facts) => void) {}

  take(text: string): void {
    const lines = (this.#rest + text).split(/\r?\n/);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('data:')) this.#data.push(line.slice(5).trimStart());
      else if (line === '') this.#dispatch();
    }
  }

  #dispatch(): void {
    const data = this.#data.join('\n');
    this.#data = [];
    if (!data) return;
    let facts: Facts;
    try {
      facts = JSON.parse(data) as Facts;
    } catch {
      return; // the next one is sent in some seconds
    }
    if (facts && typeof facts === 'object') this.tell(facts);
  }
}
