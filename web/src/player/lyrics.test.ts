import { expect, it } from 'vitest';
import { lineAt } from './lyrics';

it('finds the line that is sung, and none before the first', () => {
  const lines = [{ atMs: 1000, text: 'a' }, { atMs: 2000, text: '' }, { atMs: 2000, text: 'b' }];
  expect([0, 1000, 1999, 2000, 99_999].map((at) => lineAt(lines, at))).toEqual([-1, 0, 0, 2, 2]);
  expect(lineAt([], 5)).toBe(-1);
});
