import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { columnsIn, crosses, moved, outlineOf, placeOf, pressed, sought } from './cues';

const length = 200_040;
const cues = { in: 2000, out: 198_000 };

describe('the cue handles', () => {
  it('stay within the file, a second apart, at tenths of a second', () => {
    expect(moved(cues, 'in', 12_345, length)).toEqual({ in: 12_300, out: 198_000 });
    expect(moved(cues, 'in', 199_000, length)).toEqual({ in: 197_000, out: 198_000 });
    expect(moved(cues, 'in', -50, length).in).toBe(0);
    expect(moved(cues, 'out', 0, length).out).toBe(3000);
    expect(moved(cues, 'out', 200_030, length).out).toBe(length); // the end is the file's own, not a tenth near it
  });

  it('move by a tenth, by a second with Shift, and to the ends; right is later in either language', () => {
    expect(pressed(cues, 'in', 'ArrowRight', false, length)?.in).toBe(2100);
    expect(pressed(cues, 'in', 'ArrowLeft', true, length)?.in).toBe(1000);
    expect(pressed(cues, 'out', 'ArrowLeft', false, length)?.out).toBe(197_900);
    expect(pressed(cues, 'out', 'End', false, length)?.out).toBe(length);
    expect(pressed(cues, 'in', 'Home', false, length)?.in).toBe(0);
    expect(pressed(cues, 'in', 'PageUp', true, length)?.in).toBe(7000);
    expect(pressed(cues, 'in', 'a', false, length)).toBeNull();
  });
});

it('listening follows the keys within the sound', () => {
  expect([sought(10_000, 'ArrowRight', false, length), sought(10_000, 'ArrowLeft', true, length), sought(1000, 'ArrowLeft', false, length), sought(0, 'End', false, length)]).toEqual([15_000, 9000, 0, length]);
  expect(sought(0, 'x', false, length)).toBeNull();
});

it('a pointer is at a time, and outside the lane at its ends', () => {
  expect([placeOf(150, 100, 200, 1000), placeOf(50, 100, 200, 1000), placeOf(900, 100, 200, 1000), placeOf(0, 0, 0, 1000)]).toEqual([250, 0, 1000, 0]);
});

it('peaks are pairs of bytes, and make an outline', () => {
  expect(columnsIn(btoa(String.fromCharCode(100, 200, 0, 255)))).toEqual([[100, 200], [0, 255]]);
  expect(outlineOf([[100, 200], [0, 255]])).toBe('M0.0 55L500.0 0L500.0 255L0.0 155z');
  expect(outlineOf([])).toBe('');
});

it('the longest cross is the station’s own', () => {
  const note = readFileSync(new URL('../../../../internal/library/overlay/note.go', import.meta.url), 'utf8');
  const [, seconds] = /longestCross\s*=\s*(\d+) \* time\.Second/.exec(note) ?? [];
  expect(crosses.most).toBe(Number(seconds) * 1000);
});
