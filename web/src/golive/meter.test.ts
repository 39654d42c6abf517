import { describe, expect, it } from 'vitest';
import { dbfs, place, Watch } from './meter';

/** Looks twenty times a second at a level for so many milliseconds; answers the time after. */
function listen(watch: Watch, peak: number, from: number, ms: number): number {
  for (let at = from; at < from + ms; at += 50) watch.take(peak, at);
  return from + ms;
}

describe('the watch over the microphone', () => {
  it('calls it silent after five seconds without a sound, and not before', () => {
    const watch = new Watch();
    expect(watch.silent(0)).toBe(false);
    let at = listen(watch, 0.2, 0, 1000);
    at = listen(watch, 0.0005, at, 4900);
    expect(watch.silent(at)).toBe(false);
    at = listen(watch, 0.0005, at, 100);
    expect(watch.silent(at)).toBe(true);
    watch.take(0.1, at);
    expect(watch.silent(at)).toBe(false);
  });

  it('does not count a silence that was meant', () => {
    const watch = new Watch();
    const at = listen(watch, 0, 0, 8000);
    watch.forget();
    expect(watch.silent(at)).toBe(false);
    expect(watch.silent(listen(watch, 0, at, 4000))).toBe(false);
  });

  it('warns of a level that clips, not of one knock, and forgets it', () => {
    const watch = new Watch();
    watch.take(1, 0);
    expect(watch.clips).toBe(false);
    let at = listen(watch, 0.5, 50, 1000);
    at = listen(watch, 1, at, 150);
    expect(watch.clips).toBe(true);
    listen(watch, 0.5, at, 3100);
    expect(watch.clips).toBe(false);
  });
});

describe('the meter', () => {
  it('gives each decibel the same room', () => {
    expect(dbfs(1)).toBe(0);
    expect(dbfs(0.5)).toBeCloseTo(-6.02, 2);
    expect(dbfs(0)).toBe(-100);
    expect([-100, -54, -27, 0, 6].map(place)).toEqual([0, 0, 0.5, 1, 1]);
  });
});
