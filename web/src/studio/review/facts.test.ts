import { describe, expect, it } from 'vitest';
import { linksIn, offWindow, peaksIn, spectrumOf, wavePath } from './facts';

describe('links in names', () => {
  it.each([
    ['قمر على الكورنيش', []],
    ['Follow https://buy.example/now!', ['https://buy.example/now!']],
    ['www.spam.example', ['www.spam.example']],
    ['my song (myshop.com)', ['myshop.com']],
    ['تابعوني @nile_singer', ['@nile_singer']],
    ['a.b.c', []],
    ['Mr. Com & Dr. Net', []],
    ['mail me: nour@nile.example', []],
  ])('%s', (text, links) => expect(linksIn(text)).toEqual(links));
});

describe('a length in its window', () => {
  const window = { min: 2, max: 20 };
  it.each([[1999, -1], [2000, 0], [20_000, 0], [20_001, 1]])('%i ms: %i', (ms, off) => expect(offWindow(ms, window)).toBe(off));
  it('is not judged without one', () => expect(offWindow(1, undefined)).toBe(0));
});

describe('a spectrum', () => {
  it('is columns of levels of a byte', () => expect(spectrumOf([[0, 51], [255, 102]])?.at(0, 1)).toBeCloseTo(0.2));
  it.each([[null], [undefined], [[]], [[[]]], [[[1], [1, 2]]]])('is not made of %j', (raw) => expect(spectrumOf(raw)).toBeNull());
});

describe('the peaks of a sound', () => {
  it('are the highest of each part, whichever way it swings', () => {
    expect(peaksIn(Float32Array.of(0, 0.5, -0.75, 0.25, 0, 0), 3)).toEqual([0.5, 0.75, 0]);
    expect(peaksIn(Float32Array.of(2), 1)).toEqual([1]);
  });
  it('of nothing are none', () => expect(peaksIn(new Float32Array(), 200)).toEqual([]));
});

describe('a waveform', () => {
  it('stays in its box whatever the peaks are', () => {
    const numbers = wavePath([0, 1, 7, -3]).match(/-?[\d.]+/g)!.map(Number);
    expect(Math.min(...numbers)).toBeGreaterThanOrEqual(-180); // back over a bar
    expect(Math.max(...numbers)).toBeLessThanOrEqual(1000);
  });
  it('of nothing is nothing', () => expect(wavePath([])).toBe(''));
});
