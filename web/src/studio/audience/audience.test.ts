import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { listenersWords } from '../../i18n/listeners';
import type { Airing } from './answers';
import { barsOf, curveOf, topOf } from './curve';
import { folded, listed, written } from './words';

describe('the word list', () => {
  it('is written as it is read, whatever marks stand before a word', () => {
    const list = [{ word: 'سيئ', action: 'block' }, { word: 'two words', action: 'star' }, { word: 'spam', action: 'star', stem: true }] as const;
    expect(written(list)).toBe('سيئ\ntwo words\n*~spam'.replace('two', '*two'));
    expect(listed(written(list))).toEqual(list);
    expect(listed('\n  *~ x \n\nx\n~y\n*\n')).toEqual([{ word: 'x', action: 'star', stem: true }, { word: 'y', action: 'block', stem: true }]);
  });
});

it('every event that a webhook can ask for has words in both languages', () => {
  const source = readFileSync(new URL('../../../../internal/web/outward/outward.go', import.meta.url), 'utf8');
  const names = [...source.matchAll(/^\tevent\w+\s*= "([a-z_.]+)"$/gm)].map(([, name]) => name as string);
  expect(names.length).toBeGreaterThan(5);
  for (const { hooks } of Object.values(listenersWords)) expect(Object.keys(hooks.docs).sort()).toEqual(names.toSorted());
});

describe('the listeners’ curve', () => {
  const point = (at: number, n: number) => ({ at, listeners: { average: n, min: n, max: n + 1 }, tuneIns: 0, tuneOuts: 0 });

  it('breaks where nothing was counted, and stands under a round number', () => {
    const curve = curveOf([point(0, 3), point(60, 5), point(300, 9)], { from: 0, to: 600 }, 90);
    expect(curve.average).toBe('M0.00 70.00L10.00 50.00M50.00 10.00h0'); // what is alone is a dot
    expect(curve.range).toBe('M0.00 60.00L10.00 40.00L10.00 50.00L0.00 70.00ZM50.00 0.00L50.00 10.00Z');
    expect([curve.top, Math.round(curve.mean), curve.peak?.at]).toEqual([10, 6, 300]);
    expect([0, 1, 3, 17, 100, 101].map(topOf)).toEqual([1, 1, 5, 20, 100, 200]);
    expect(curveOf([], { from: 0, to: 1 }, 1)).toMatchObject({ average: '', peak: null, mean: 0 });
  });
});

describe('what aired', () => {
  const airing = (startedAt: number, seconds: number, average?: number) => ({ startedAt, seconds, ...(average === undefined ? {} : { listeners: { start: 0, average, end: 0 } }) }) as Airing;

  it('is as wide as it lasted within the day, and absent where nobody counted', () => {
    const { bars, top, most } = barsOf([airing(-10_000, 20, 3), airing(50_000, 100, 8), airing(20_000, 5), airing(100_000, 5, 99)], 0, 100_000);
    expect(bars.map(({ x, width, height }) => [x, width, height])).toEqual([[0, 10, 30], [50, 50, 80]]);
    expect([top, most?.startedAt]).toEqual([10, 50_000]);
    expect(barsOf([], 0, 1)).toEqual({ bars: [], top: 1, most: null });
  });

  it('is found without vowel marks, hamza or case', () => {
    expect(folded('أُغْنِيَة الـنيل')).toBe(folded('اغنية النيل'));
    expect(folded('Café')).toBe('cafe');
  });
});
