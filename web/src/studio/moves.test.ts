import { describe, expect, it } from 'vitest';
import { isIdle, joined, landed, movedList, placeAfter, placeWithout, step, type Move } from './moves';

const letters = [...'abcdefgh'];
/** Every set of places of a list of six with every aim, so that nothing hangs on an example. */
const everyMove: Move[] = Array.from({ length: 62 }, (_, i) => [0, 1, 2, 3, 4, 5].filter((place) => ((i + 1) >> place) & 1)).flatMap((places) => [0, 1, 2, 3, 4, 5, 6].map((to) => ({ places, to })));

describe('a move', () => {
  it('puts entries before a place that is counted before it', () => {
    expect(movedList(letters, { places: [0], to: 3 }).join('')).toBe('bcadefgh');
    expect(movedList(letters, { places: [5, 6], to: 1 }).join('')).toBe('afgbcdeh');
    expect(movedList(letters, { places: [0, 7], to: 4 }).join('')).toBe('bcdahefg');
    expect(movedList(letters, { places: [2], to: 8 }).join('')).toBe('abdefghc');
  });

  it('loses nothing, doubles nothing, and tells where each entry stands', () => {
    const list = [0, 1, 2, 3, 4, 5];
    for (const move of everyMove) {
      const after = movedList(list, move);
      expect([...after].sort()).toEqual(list);
      expect(list.map((place) => after[placeAfter(place, move)])).toEqual(list);
      expect(landed(move).map((place) => after[place])).toEqual(move.places);
      expect(isIdle(move)).toBe(after.every((one, i) => one === list[i]));
    }
  });

  it('of the keyboard goes one place, gathers what lies apart, and ends at the ends', () => {
    expect(movedList(letters, step([2], 1, 8)!).join('')).toBe('abdcefgh');
    expect(movedList(letters, step([2, 3], -1, 8)!).join('')).toBe('acdbefgh');
    expect(movedList(letters, step([1, 4], 1, 8)!).join('')).toBe('acdbefgh');
    expect([step([0], -1, 8), step([6, 7], 1, 8), step([], 1, 8)]).toEqual([null, null, null]);
  });

  it('takes the next step in, so that many are sent as one', () => {
    for (const move of everyMove) {
      for (const by of [-1, 1] as const) {
        const next = step(landed(move), by, 6);
        if (!next) continue;
        const one = joined(move, next, 6);
        expect(movedList([0, 1, 2, 3, 4, 5], one!)).toEqual(movedList(movedList([0, 1, 2, 3, 4, 5], move), next));
      }
    }
    expect(joined({ places: [0], to: 3 }, { places: [5], to: 0 }, 8)).toBeNull();
  });
});

it('a place is found again where others are gone', () => {
  expect([0, 1, 2, 3, 4].map((place) => placeWithout(place, [1, 3]))).toEqual([0, -1, 1, -1, 2]);
});
