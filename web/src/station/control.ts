/** Orders to the station, and how it refuses them (RFC 9457). */

export interface FieldError {
  /** Path in what was sent: body.ROTATION.BUFFER_MAX. */
  location: string;
  message: string;
}

/** A refusal in the station's own words; status 0 is no answer at all. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly detail: string,
    readonly fields: readonly FieldError[] = [],
    /** How long the station asks to wait, milliseconds; 0 where it does not say. */
    readonly waitMs = 0,
  ) {
    super(detail || `status ${status}`);
  }
}

export type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';

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
}

/** Sends one request; rejects with a Problem, whatever goes wrong. */
export async function ask<T>(method: Method, path: string, body?: unknown, how: Manner = {}): Promise<T> {
  const { key, adminKey, timeoutMs = 20_000, read = (answer: Response) => answer.json(), keepalive = false } = how;
  const headers: Record<string, string> = { accept: 'application/json', ...how.headers };
  if (key) headers['x-station-key'] = encodeHeader(key);
  if (adminKey) headers['x-admin-key'] = encodeHeader(adminKey);
  if (body !== undefined) headers['content-type'] = 'application/json';
  try {
    const answer = await fetch(path, {
      method,
      headers,
      cache: 'no-store',
      keepalive,
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!answer.ok) throw await refusal(answer);
    return (answer.status === 204 ? undefined : await read(answer)) as T;
  } catch (failure) {
    throw failure instanceof Problem ? failure : new Problem(0, '');
  }
}

/** Headers carry bytes: a key in any script travels as UTF-8. */
function encodeHeader(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}

async function refusal(answer: Response): Promise<Problem> {
  const said: unknown = await answer.json().catch(() => null);
  const { detail, title, errors } = (said ?? {}) as { detail?: unknown; title?: unknown; errors?: unknown };
  const words = typeof detail === 'string' && detail ? detail : typeof title === 'string' ? title : answer.statusText;
  return new Problem(answer.status, words, fieldsOf(errors), waitOf(answer.headers.get('retry-after'), Date.now()));
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
