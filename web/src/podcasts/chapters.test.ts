import { expect, it } from 'vitest';
import { chapterAt, chapterBeside } from './chapters';

const chapters = [0, 15_000, 30_500].map((startMs) => ({ startMs, title: '', artist: '' }));

it('a second is in the chapter that began last', () => {
  expect([0, 14.9, 15, 30.4, 30.5, 9999].map((at) => chapterAt(chapters, at))).toEqual([0, 0, 1, 1, 2, 2]);
  expect([chapterAt([], 5), chapterAt(chapters.slice(1), 5)]).toEqual([-1, -1]);
});

it('a step back leads to the beginning of a chapter, then to the one before; none leads past the last', () => {
  expect([chapterBeside(chapters, 20, -1), chapterBeside(chapters, 16, -1), chapterBeside(chapters, 1, -1)]).toEqual([15, 0, 0]);
  expect([chapterBeside(chapters, 20, 1), chapterBeside(chapters, 40, 1), chapterBeside([], 3, 1)]).toEqual([30.5, null, null]);
});
