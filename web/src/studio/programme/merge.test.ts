import { describe, expect, it } from 'vitest';
import { at, difference, merged, same, size } from './merge';

const config = { ROTATION: { A: 1, B: 2 }, SPLIT: { x: 0.5, y: 0.5 }, DAYPARTS: null, CLOCKS: [{ name: 'a', hour: [{ category: 'music' }] }] };

describe('merge patches', () => {
  it('make one document of another, whatever changed', () => {
    for (const to of [
      { ...config, ROTATION: { A: 1, B: 3 } },
      { ...config, SPLIT: { x: 1 } },
      { ...config, DAYPARTS: [] },
      { ...config, CLOCKS: null },
      { ...config, CLOCKS: [...config.CLOCKS, { name: 'b', hour: [] }] },
    ]) {
      expect(same(merged(config, difference(config, to)), to)).toBe(true);
    }
  });

  it('hold nothing but what changed, lists whole and removals as null', () => {
    expect(difference(config, { ...config, ROTATION: { A: 1, B: 3 }, SPLIT: { x: 0.5 } })).toEqual({ ROTATION: { B: 3 }, SPLIT: { y: null } });
    expect(difference(config, structuredClone(config))).toEqual({});
    expect(size({ ROTATION: { A: 1, B: 2 }, CLOCKS: [1, 2, 3], X: null })).toBe(4);
    expect(size({})).toBe(0);
  });

  it('put a draft over a configuration that changed meanwhile: only what the draft touched is its own', () => {
    const draft = difference(config, { ...config, ROTATION: { A: 9, B: 2 } });
    expect(merged({ ...config, ROTATION: { A: 1, B: 7 } }, draft).ROTATION).toEqual({ A: 9, B: 7 });
  });

  it('change nothing they are given', () => {
    const before = structuredClone(config);
    merged(config, { ROTATION: { A: 5 }, SPLIT: null });
    expect(config).toEqual(before);
  });

  it('take no path for another', () => {
    expect(at(config, 'CLOCKS[0].hour[0].category')).toBe('music');
    expect(at(config, 'CLOCKS[7].hour[0].category')).toBeUndefined();
    expect(at(config, 'DAYPARTS[0].start')).toBeUndefined();
  });
});
