/** Orders to the station, and how it refuses them (RFC 9457). */

export interface FieldError {
  /** Path in what was sent: body.ROTATION.BUFFER_MAX. */
  location: string;
  message: string;
  /** The message in Arabic, where the station has it. */
  arabic?: string;
}

/** Why something was refused, in words of both languages. */
export interface Spoken {
  code: string;
  en: string;
  ar: string;
  /** Epoch milliseconds: from when it may be asked again, or when what was asked for comes; missing while that is unknown. */
  at?: number;
}

/** A refusal in the station's own words; status 0 is no answer at all. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly detail: string,
    readonly fields: readonly FieldError[] = [],
    /** How long the station asks to wait, milliseconds; 0 where it does not say. */
    readonly waitMs = 0,
    /** Where the station has a reason of both languages for it. */
    readonly reason: Spoken | null = null,
  ) {
    super(detail || `status ${status}`);
  }
}

export type Method = 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';

export interface Manner {
  key?: string;
  /** Of the moderators of listeners' posts. */
  adminKey?: string;
  timeoutMs?: number;
  headers?: Record<string, string>;
  /** Reads an answer that is not JSON. */
  read?: (answer: Response) => Promise<unknown>;
  /** The order outlives the page. */
  keepalive?: boolean;
  /** Gives the request up before its time. */
  signal?: AbortSignal;
}

/** Sends one request; rejects with a Problem, whatever goes wrong. */
export async function ask<T>(method: Method, path: string, body?: unknown, how: Manner = {}): Promise<T> {
  const { key, adminKey, timeoutMs = 20_000, read = (answer: Response) => answer.json(), keepalive = false } = how;
  const headers: Record<string, string> = { accept: 'application/json', ...how.headers };
  if (key) headers['x-station-key'] = encodeHeader(key);
  if (adminKey) headers['x-admin-key'] = encodeHeader(adminKey);
  const whole = body instanceof Blob; // a picture, as it is
  if (body !== undefined) headers['content-type'] = whole ? body.type : 'application/json';
  try {
    const answer = await fetch(path, {
      method,
      headers,
      cache: 'no-store',
      keepalive,
      body: body === undefined ? null : whole ? body : JSON.stringify(body),
      signal: until(AbortSignal.timeout(timeoutMs), how.signal),
    });
    if (!answer.ok) throw await refusal(answer);
    return (answer.status === 204 ? undefined : await read(answer)) as T;
  } catch (failure) {
    throw failure instanceof Problem ? failure : new Problem(0, '');
  }
}

/** Whichever comes first; AbortSignal.any is younger than some browsers we serve. */
function until(time: AbortSignal, told?: AbortSignal): AbortSignal {
  if (!told) return time;
  const either = new AbortController();
  for (const signal of [time, told]) {
    if (signal.aborted) either.abort();
    signal.addEventListener('abort', () => either.abort(), { once: true });
  }
  return either.signal;
}

/** Headers carry bytes: a key in any script travels as UTF-8. */
export function encodeHeader(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}

async function refusal(answer: Response): Promise<Problem> {
  return problemOf(answer.status, await answer.text().catch(() => ''), answer.headers.get('retry-after'), answer.statusText);
}

/** A refusal as it is written (RFC 9457). */
export function problemOf(status: number, body: string, retryAfter: string | null, fallback = ''): Problem {
  const { detail, title, errors, reason } = objectOf(body);
  const words = typeof detail === 'string' && detail ? detail : typeof title === 'string' ? title : fallback;
  return new Problem(status, words, fieldsOf(errors), waitOf(retryAfter, Date.now()), spokenOf(reason));
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const said: unknown = JSON.parse(text);
    return said !== null && typeof said === 'object' ? (said as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function spokenOf(reason: unknown): Spoken | null {
  const { code, en, ar, at } = (reason ?? {}) as Record<string, unknown>;
  if (typeof code !== 'string' || typeof en !== 'string' || typeof ar !== 'string' || !en || !ar) return null;
  return { code, en, ar, ...(typeof at === 'number' ? { at } : {}) };
}

/** The faulty fields of a problem, where it names any. */
export function fieldsOf(errors: unknown): FieldError[] {
  return Array.isArray(errors) ? errors.filter(isFieldError) : [];
}

function isFieldError(e: unknown): e is FieldError {
  const { location, message } = (e ?? {}) as Record<string, unknown>;
  return typeof location === 'string' && typeof message === 'string';
}

/** Retry-After, seconds or a date, as milliseconds from now. */
export function waitOf(header: string | null, now: number): number {
  if (!header) return 0;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}
