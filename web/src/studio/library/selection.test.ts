import { describe, expect, it } from 'vitest';
import { everything, inParts, isSelected, nothing, retotalled, sizeOf, toggledPath, withPaths } from './selection';

describe('a selection', () => {
  it('takes tracks in and out', () => {
    const some = withPaths(nothing, ['a', 'b', 'c']);
    expect([sizeOf(some), isSelected(some, 'b')]).toEqual([3, true]);
    const fewer = toggledPath(some, 'b');
    expect([sizeOf(fewer), isSelected(fewer, 'b'), sizeOf(some)]).toEqual([2, false, 3]);
  });

  it('of all that match leaves some out, and grows with the library', () => {
    const all = everything(100_000);
    expect([sizeOf(all), isSelected(all, 'whatever')]).toEqual([100_000, true]);
    const but = toggledPath(toggledPath(all, 'a'), 'b');
    expect([sizeOf(but), isSelected(but, 'a')]).toEqual([99_998, false]);
    expect(sizeOf(toggledPath(but, 'a'))).toBe(99_999);
    expect(sizeOf(retotalled(but, 100_010))).toBe(100_008);
    expect(sizeOf(withPaths(but, ['a', 'b']))).toBe(100_000);
  });

  it('is sent in parts that the station takes', () => {
    expect(inParts([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
    expect(inParts([])).toEqual([]);
  });
});

it('a range of a hundred thousand is selected, and taken out of all', () => {
  const paths = Array.from({ length: 100_000 }, (_, i) => `${i}.mp3`);
  expect(sizeOf(withPaths(nothing, paths))).toBe(100_000);
  expect(sizeOf(withPaths(everything(100_001), paths, false))).toBe(1);
});
