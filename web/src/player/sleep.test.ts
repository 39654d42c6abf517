import { describe, expect, it } from 'vitest';
import { fadeOf, inMinutes, leftOf } from './sleep';

describe('the sleep timer', () => {
  it('goes by the clock, however seldom it is looked at', () => {
    const plan = inMinutes(15, 1_000);
    expect(plan).toEqual({ at: 901_000 });
    if (!plan) return;
    expect(leftOf(plan, { now: 1_000, heard: 0, began: 0 })).toBe(900_000);
    expect(leftOf(plan, { now: 5_000_000, heard: 0, began: 0 })).toBe(0);
  });

  it('fades over the last ten seconds', () => {
    const plan = { at: 0 };
    expect([60_000, 10_000, 5_000, 0].map((left) => fadeOf(plan, left))).toEqual([1, 1, 0.5, 0]);
  });

  it('ends with the song that is heard, not with the one on the air, and also when it is skipped', () => {
    const song = { song: 100_000, lasting: 200_000 };
    expect(leftOf(song, { now: 0, heard: 250_000, began: 100_000 })).toBe(50_000);
    expect(leftOf(song, { now: 0, heard: 300_500, began: 100_000 })).toBe(0);
    expect(leftOf(song, { now: 0, heard: 150_000, began: 149_000 })).toBe(0);
    expect(fadeOf(song, 10_000)).toBe(1); // its own end is heard
  });

  it.each([0, -5, NaN, Infinity, 601, 0.4])('takes no %s minutes', (minutes) => expect(inMinutes(minutes, 0)).toBeNull());
});
