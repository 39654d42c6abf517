import { expect, it } from 'vitest';
import { ticksOf } from './scale';

it('marks any length with few ticks, in order, and names whole minutes', () => {
  for (const seconds of [1, 9, 36, 227, 254, 1800, 7200, 86_400]) {
    const ticks = ticksOf(seconds * 1000);
    expect(ticks.length, `${seconds}s`).toBeLessThanOrEqual(73);
    expect(ticks[0]).toEqual({ at: 0, minute: 0 });
    for (const [i, tick] of ticks.entries()) {
      expect(tick.at).toBeLessThanOrEqual(1);
      if (i) expect(tick.at).toBeGreaterThan(ticks[i - 1]?.at ?? 1);
      if (tick.minute) expect(tick.at * seconds).toBeCloseTo(tick.minute * 60);
    }
  }
  expect(ticksOf(227_000).filter((tick) => tick.minute).map((tick) => tick.minute)).toEqual([1, 2, 3]);
});

it('is empty where the length is unknown', () => {
  for (const odd of [0, -1, Number.NaN]) expect(ticksOf(odd)).toEqual([]);
});
