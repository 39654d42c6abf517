import { expect, test } from 'vitest';
import { pauseOf, type Footing } from './pace';

const polls: Footing = { told: false, confirms: false, visible: true, failures: 0 };

test('often while it is looked at, seldom while hidden, slower while nobody answers, never slower than 20 s', () => {
  expect(pauseOf(polls, 1)).toBe(3000);
  expect(pauseOf({ ...polls, visible: false }, 1)).toBe(12_000);
  expect(pauseOf({ ...polls, confirms: true }, 1)).toBe(20_000);
  expect([1, 2, 3, 5, 50].map((failures) => pauseOf({ ...polls, failures }, 1))).toEqual([3000, 3000, 3000, 9000, 20_000]);
});

test('those who lost the station together do not ask together', () => {
  const pauses = Array.from({ length: 1000 }, (_, i) => pauseOf(polls, i / 1000));
  const busiest = Math.max(...Array.from({ length: 10 }, (_, i) => pauses.filter((ms) => ms >= 2250 + i * 75 && ms < 2250 + (i + 1) * 75).length));
  expect(busiest).toBeLessThan(110);
});
