import { describe, expect, it } from 'vitest';
import { defaults } from '../../../tests/mock/control';
import { hourShares, meanMs, movedShares, musicShares, withShare } from './shares';

const of = (shares: { category: string; part: number }[]) => Object.fromEntries(shares.map((s) => [s.category, Math.round(s.part * 1000) / 1000]));

describe('the mix', () => {
  it('is the split beside the mashups', () => {
    expect(of(musicShares(defaults, {}))).toEqual({ arabic_hits: 0.611, english: 0.282, social: 0.047, mashups: 0.06 });
    expect(of(musicShares({ ...defaults, GENRE_SPLIT: { arabic_hits: 13, english: 6, social: 1 } }, {}))).toEqual(of(musicShares(defaults, {})));
  });

  it('is bent by a daypart’s weights, and shut by its gate', () => {
    const late = { start: '23:00', end: '02:00', weights: { arabic_hits: 0, mashups: 2 } };
    const shares = of(musicShares(defaults, {}, late));
    expect(shares.arabic_hits).toBeUndefined();
    expect(shares.mashups).toBeCloseTo(0.12 / (0.12 + 0.282 + 0.047), 3);
    expect(of(musicShares(defaults, {}, { start: '02:00', end: '05:00', hard: 'english' }))).toEqual({ english: 1 });
  });

  it('keeps the others’ proportions when one is moved, and always comes to one', () => {
    const split = withShare({ arabic_hits: 0.65, english: 0.3, social: 0.05 }, 'arabic_hits', 0.3);
    expect(split).toEqual({ arabic_hits: 0.3, english: 0.6, social: 0.1 });
    expect(withShare({ arabic_hits: 1, english: 0, social: 0 }, 'arabic_hits', 0.5)).toEqual({ arabic_hits: 0.5, english: 0.25, social: 0.25 });
    expect(withShare(split, 'social', 1)).toEqual({ social: 1, arabic_hits: 0, english: 0 });
  });
});

/** As many tracks of four minutes. */
const deck = (tracks: number) => ({ tracks, durationMs: tracks * 240_000 });

describe('a mix of decks that are short', () => {
  const full = { arabic_hits: deck(40), english: deck(40), social: deck(40), mashups: deck(40) };

  it('gives the share of an empty deck to Arabic songs, as the planner does', () => {
    expect(of(musicShares(defaults, { ...full, english: deck(0), mashups: deck(0) }))).toEqual({ arabic_hits: 0.953, social: 0.047 });
    expect(of(musicShares(defaults, { arabic_hits: deck(40) }))).toEqual({ arabic_hits: 1 });
    expect(movedShares(defaults, { ...full, english: deck(0) })).toEqual([{ category: 'english', tracks: 0, to: 'arabic_hits' }]);
    expect(movedShares(defaults, full)).toEqual([]);
  });

  it('keeps a fifteenth of a share for each track of a deck that has fewer', () => {
    const shares = of(musicShares(defaults, { ...full, english: deck(5) }));
    expect([shares.english, shares.arabic_hits]).toEqual([0.094, 0.799]);
    expect(movedShares(defaults, { ...full, english: deck(5) })).toEqual([{ category: 'english', tracks: 5, to: 'arabic_hits' }]);
  });

  it('leaves the others to themselves where there are no Arabic songs', () => {
    const decks = { ...full, arabic_hits: deck(0), english: deck(3) };
    const shares = of(musicShares(defaults, decks));
    expect(shares.arabic_hits).toBeUndefined();
    expect(shares.english).toBeCloseTo(0.282 / 0.389, 2);
    expect(movedShares(defaults, decks)).toEqual([{ category: 'arabic_hits', tracks: 0, to: '' }]);
  });

  it('opens a window whose only deck is empty, and keeps one that has a song', () => {
    const night = { start: '02:00', end: '05:00', hard: 'english' };
    expect(of(musicShares(defaults, { ...full, english: deck(0) }, night))).toEqual(of(musicShares(defaults, { ...full, english: deck(0) })));
    expect(movedShares(defaults, { ...full, english: deck(0) }, night)[0]).toEqual({ category: 'english', tracks: 0, to: '' });
    expect(of(musicShares(defaults, { ...full, english: deck(2) }, night))).toEqual({ english: 1 });
    expect(movedShares(defaults, { ...full, english: deck(2) }, night)).toEqual([]);
  });

  it('has no time for imaging, ads or news of which there are none', () => {
    const shares = of(hourShares(defaults, { ...full, jingles: deck(3) }));
    expect(Object.keys(shares).sort()).toEqual(['arabic_hits', 'english', 'jingles', 'mashups', 'social']);
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
    const long = hourShares(defaults, { ads: { tracks: 1, durationMs: 600_000 }, arabic_hits: deck(40) });
    expect(of(long).ads).toBeGreaterThan(0.2);
  });
});
