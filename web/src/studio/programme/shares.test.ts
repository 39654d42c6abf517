import { describe, expect, it } from 'vitest';
import { defaults } from '../../../tests/mock/control';
import { hourShares, meanMs, musicShares, withShare } from './shares';

const of = (shares: { category: string; part: number }[]) => Object.fromEntries(shares.map((s) => [s.category, Math.round(s.part * 1000) / 1000]));

describe('the mix', () => {
  it('is the split beside the mashups', () => {
    expect(of(musicShares(defaults))).toEqual({ arabic_hits: 0.611, english: 0.282, social: 0.047, mashups: 0.06 });
    expect(of(musicShares({ ...defaults, GENRE_SPLIT: { arabic_hits: 13, english: 6, social: 1 } }))).toEqual(of(musicShares(defaults)));
  });

  it('is bent by a daypart’s weights, and shut by its gate', () => {
    const late = { start: '23:00', end: '02:00', weights: { arabic_hits: 0, mashups: 2 } };
    const shares = of(musicShares(defaults, late));
    expect(shares.arabic_hits).toBeUndefined();
    expect(shares.mashups).toBeCloseTo(0.12 / (0.12 + 0.282 + 0.047), 3);
    expect(of(musicShares(defaults, { start: '02:00', end: '05:00', hard: 'english' }))).toEqual({ english: 1 });
  });

  it('keeps the others’ proportions when one is moved, and always comes to one', () => {
    const split = withShare({ arabic_hits: 0.65, english: 0.3, social: 0.05 }, 'arabic_hits', 0.3);
    expect(split).toEqual({ arabic_hits: 0.3, english: 0.6, social: 0.1 });
    expect(withShare({ arabic_hits: 1, english: 0, social: 0 }, 'arabic_hits', 0.5)).toEqual({ arabic_hits: 0.5, english: 0.25, social: 0.25 });
    expect(withShare(split, 'social', 1)).toEqual({ social: 1, arabic_hits: 0, english: 0 });
  });
});

describe('an hour without a clock', () => {
  it('is whole, mostly music, and without ads where there are none', () => {
    const shares = hourShares(defaults, {});
    expect(shares.reduce((sum, s) => sum + s.part, 0)).toBeCloseTo(1, 9);
    expect((of(shares).arabic_hits ?? 0) + (of(shares).english ?? 0)).toBeGreaterThan(0.75);
    expect(of(hourShares({ ...defaults, AD_EVERY: 0 }, {})).ads).toBeUndefined();
  });

  it('is measured by the decks’ own lengths', () => {
    expect(meanMs('news', { news: { tracks: 2, durationMs: 240_000 } })).toBe(120_000);
    const long = hourShares(defaults, { ads: { tracks: 1, durationMs: 600_000 } });
    expect(of(long).ads).toBeGreaterThan(0.2);
  });
});
