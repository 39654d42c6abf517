import { describe, expect, it } from 'vitest';
import { postOf, type Sent } from './answers';
import { linksIn, offWindow, spectrumOf, wavePath } from './facts';

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
  it('is read as bytes in base64, column after column', () => {
    const spectrum = spectrumOf({ columns: 2, bands: 3, power: btoa(String.fromCharCode(0, 51, 102, 153, 204, 255)) });
    expect([0, 1].map((column) => [0, 1, 2].map((band) => Math.round((spectrum?.at(column, band) ?? -1) * 5)))).toEqual([[0, 1, 2], [3, 4, 5]]);
  });
  it('is read as shares or as bytes', () => {
    expect(spectrumOf([[0, 0.5], [1, 0.25]])?.at(0, 1)).toBe(0.5);
    expect(spectrumOf([[0, 51], [255, 102]])?.at(0, 1)).toBeCloseTo(0.2);
  });
  it.each([null, undefined, '', [], [[]], [[1], [1, 2]], [['x']], [[Number.NaN]], { columns: 3 }, { columns: 2, bands: 2, power: 'AAAA' }, { columns: 1, bands: 3, power: '!' }])('is not made of %j', (raw) => expect(spectrumOf(raw)).toBeNull());
});

describe('a waveform', () => {
  it('stays in its box whatever the peaks are', () => {
    const numbers = wavePath([0, 1, 7, -3]).match(/-?[\d.]+/g)!.map(Number);
    expect(Math.min(...numbers)).toBeGreaterThanOrEqual(-180); // back over a bar
    expect(Math.max(...numbers)).toBeLessThanOrEqual(1000);
  });
  it('of nothing is nothing', () => expect(wavePath([])).toBe(''));
});

describe('a post as it travels', () => {
  const shown = { id: 1, type: 'song', title: 'x', status: 'pending' } as unknown as Sent;
  const levels = { integrated: -14, truePeak: -1.5, gain: 5, source: -19 };
  it('is one, in parts or in one piece', () => {
    const whole = { ...shown, appeal: 'please', rights: 'mine', loudness: levels };
    const parts = { ...shown, private: { appeal: 'please', levels }, review: { rights: 'mine' } };
    expect(postOf(parts)).toEqual(postOf(whole));
    expect(postOf(parts)).toMatchObject({ appeal: 'please', rights: 'mine', loudness: levels });
  });
  it('has no loudness before it is mastered', () => expect(postOf({ ...shown, private: { levels: { integrated: 0, truePeak: 0, gain: 0, source: 0 } } }).loudness).toBeNull());
});
