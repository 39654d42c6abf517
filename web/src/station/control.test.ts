import { afterEach, describe, expect, it, vi } from 'vitest';
import { ask, Problem, waitOf } from './control';

afterEach(() => vi.unstubAllGlobals());

/** What an answer becomes for whoever asked. */
async function refusal(answer: Response | Error): Promise<Problem> {
  vi.stubGlobal('fetch', () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)));
  return ask('POST', '/api/station/skip').then(
    () => Promise.reject(new Error('it was taken')),
    (problem: unknown) => problem as Problem,
  );
}

describe('a refusal', () => {
  it('carries the station’s words and every field it names', async () => {
    const errors = [{ location: 'body.AD_EVERY', message: 'must be 0 (none) or more' }, { location: 7 }, null];
    const problem = await refusal(Response.json({ title: 'Unprocessable', detail: 'validation failed', errors }, { status: 422 }));
    expect([problem.status, problem.detail, problem.fields]).toEqual([422, 'validation failed', [errors[0]]]);
  });

  it('is one whatever comes back: no JSON, no answer, a wait', async () => {
    expect((await refusal(new Response('<html>', { status: 502, statusText: 'Bad Gateway' }))).detail).toBe('Bad Gateway');
    expect((await refusal(new TypeError('network'))).status).toBe(0);
    expect((await refusal(new Response('{}', { status: 429, headers: { 'retry-after': '6' } }))).waitMs).toBe(6000);
    expect(await refusal(new Response('no json', { status: 200 }))).toBeInstanceOf(Problem);
  });

  it('waits as its header says, in seconds or until a date', () => {
    const now = Date.UTC(2026, 10, 21, 13, 0, 0);
    expect([waitOf('4', now), waitOf('Sat, 21 Nov 2026 13:00:05 GMT', now)]).toEqual([4000, 5000]);
    expect([waitOf(null, now), waitOf('soon', now), waitOf('-3', now)]).toEqual([0, 0, 0]);
  });
});

describe('an order', () => {
  it('carries the key, in whatever script it is written, as the bytes of its UTF-8', async () => {
    const sent = vi.fn((_path: string, _init: RequestInit) => Promise.resolve(Response.json({})));
    vi.stubGlobal('fetch', sent);
    await ask('PUT', '/x', { a: 1 }, { key: 'نهر' });
    const { headers, body } = sent.mock.calls[0]![1];
    expect(Buffer.from((headers as Record<string, string>)['x-station-key']!, 'latin1').toString('utf8')).toBe('نهر');
    expect(body).toBe('{"a":1}');
  });
});
