import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Problem } from '../station/control';
import { Taps, type Batch } from './taps';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** A station that counts each id once, and one listener's taps on it. */
function rig(failures: Problem[] = []) {
  const sent: Batch[] = [];
  const refused: Problem[] = [];
  const seen = new Set<string>();
  let count = 100;
  let next = 0;
  const taps = new Taps({
    send: async (batch) => {
      sent.push(batch);
      const before = count;
      if (!seen.has(batch.id)) count += batch.delta;
      seen.add(batch.id);
      const failure = failures.shift();
      if (failure?.status === 0) throw failure; // taken, and the answer was lost
      if (failure) {
        count = before;
        seen.delete(batch.id);
        throw failure;
      }
      return { count };
    },
    changed: () => undefined,
    refused: (problem) => refused.push(problem),
    newId: () => `id${next++}`,
  });
  taps.take({ '🔥': count });
  return { taps, sent, refused, counted: () => count };
}

const tap = (taps: Taps, n: number) => Array.from({ length: n }, () => taps.tap('🔥'));

describe('taps', () => {
  it('show at once and leave in batches of at most ten within a second', async () => {
    const { taps, sent, counted } = rig();
    tap(taps, 23);
    expect(taps.shown('🔥')).toBe(123);
    expect(sent).toEqual([]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(sent.map(({ delta }) => delta)).toEqual([10, 10, 3]);
    expect(new Set(sent.map(({ id }) => id)).size).toBe(3);
    expect([taps.shown('🔥'), counted()]).toEqual([123, 123]);
  });

  it('keep each emoji apart', async () => {
    const { taps, sent } = rig();
    taps.tap('🔥');
    taps.tap('🌊');
    await vi.advanceTimersByTimeAsync(1000);
    expect(sent.map(({ emoji, delta }) => `${emoji}${delta}`)).toEqual(['🔥1', '🌊1']);
  });

  it('count once when the answer was lost, under the same id', async () => {
    const { taps, sent, counted } = rig([new Problem(0, ''), new Problem(0, '')]);
    tap(taps, 4);
    await vi.runAllTimersAsync();
    expect(sent.map(({ id }) => id)).toEqual(['id0', 'id0', 'id0']);
    expect([counted(), taps.shown('🔥')]).toEqual([104, 104]);
  });

  it('are taken off again when they are refused', async () => {
    const { taps, refused, counted } = rig([new Problem(422, 'no such emoji')]);
    tap(taps, 4);
    await vi.runAllTimersAsync();
    expect([refused.length, counted(), taps.shown('🔥')]).toEqual([1, 100, 100]);
  });

  it('wait as long as the station asks, and then count', async () => {
    const { taps, sent, counted } = rig([new Problem(429, '', [], 4000)]);
    tap(taps, 2);
    await vi.advanceTimersByTimeAsync(3000);
    expect([sent.length, taps.shown('🔥')]).toEqual([1, 102]);
    await vi.runAllTimersAsync();
    expect([sent.length, counted(), taps.shown('🔥')]).toEqual([2, 102, 102]);
  });

  it('know their own echo from other people’s reactions, whichever comes first', async () => {
    const { taps } = rig();
    tap(taps, 3);
    await vi.advanceTimersByTimeAsync(1000); // acknowledged; the event comes afterwards
    expect(taps.hear({ '🔥': 108 }, { '🔥': 8 })).toEqual({ '🔥': 5 });
    expect(taps.shown('🔥')).toBe(108);
    expect(taps.hear({ '🔥': 110 }, { '🔥': 2 })).toEqual({ '🔥': 2 });
  });

  it('are not shown twice when the event is faster than the answer', async () => {
    const { taps } = rig([new Problem(0, '')]);
    tap(taps, 3);
    await vi.advanceTimersByTimeAsync(810); // taken, its answer lost
    expect(taps.hear({ '🔥': 103 }, { '🔥': 3 })).toEqual({});
    expect(taps.shown('🔥')).toBe(103);
    await vi.runAllTimersAsync();
    expect(taps.shown('🔥')).toBe(103);
  });
});
