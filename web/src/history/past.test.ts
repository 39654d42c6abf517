import { afterEach, expect, it, vi } from 'vitest';
import { Past } from './history.svelte';

afterEach(() => vi.unstubAllGlobals());

it('what could not be fetched is asked for again in the same direction, though there is more in both', async () => {
  const asked: string[] = [];
  let down = false;
  vi.stubGlobal('fetch', (path: string) => {
    asked.push(path);
    return Promise.resolve(down ? new Response('', { status: 503 }) : Response.json({ tracks: [{ startedAt: 5, file: 'a', title: 'a' }], next: 3, from: 1 }));
  });
  const past = new Past();
  past.show('', 5);
  await vi.waitFor(() => expect(past.phase).toBe('found'));
  expect([past.older, past.newer]).toEqual([true, true]);
  down = true;
  await past.more();
  expect(past.short).toBe(true);
  down = false;
  past.again();
  await vi.waitFor(() => expect(past.extending).toBe(''));
  expect(asked.at(-1)).toContain('before=3');
});
