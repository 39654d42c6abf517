import { describe, expect, it } from 'vitest';
import { curveOf, topOf } from './curve';
import { listed, written } from './words';

describe('the word list', () => {
  it('is written as it is read, whatever marks stand before a word', () => {
    const list = [{ word: 'سيئ', action: 'block' }, { word: 'two words', action: 'star' }, { word: 'spam', action: 'star', stem: true }] as const;
    expect(written(list)).toBe('سيئ\ntwo words\n*~spam'.replace('two', '*two'));
    expect(listed(written(list))).toEqual(list);
    expect(listed('\n  *~ x \n\nx\n~y\n*\n')).toEqual([{ word: 'x', action: 'star', stem: true }, { word: 'y', action: 'block', stem: true }]);
  });
});

describe('the listeners’ curve', () => {
  const point = (at: number, n: number) => ({ at, listeners: { average: n, min: n, max: n + 1 } });

  it('breaks where nothing was counted, and stands under a round number', () => {
    const curve = curveOf([point(0, 3), point(60, 5), point(300, 9)], 0, 600, 90);
    expect(curve.average).toBe('M0.00 70.00L10.00 50.00M50.00 10.00');
    expect([curve.top, Math.round(curve.mean), curve.peak?.at]).toEqual([10, 6, 300]);
    expect([0, 1, 3, 17, 100, 101].map(topOf)).toEqual([1, 1, 5, 20, 100, 200]);
    expect(curveOf([], 0, 1, 1)).toMatchObject({ average: '', peak: null, mean: 0 });
  });
});
