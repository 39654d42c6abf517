import { describe, expect, it } from 'vitest';
import { Pages, rowAfter, scrollFor, spanOf } from './pages';

describe('the window of a long list', () => {
  it('holds what is in sight and a margin, at both ends and in between', () => {
    expect(spanOf(0, 500, 50, 100_000)).toEqual({ from: 0, to: 16 });
    expect(spanOf(50 * 1000 + 20, 500, 50, 100_000)).toEqual({ from: 994, to: 1017 });
    expect(spanOf(50 * 100_000 - 500, 500, 50, 100_000)).toEqual({ from: 99_984, to: 100_000 });
  });

  it('is empty without rows, and survives a list that became shorter', () => {
    expect(spanOf(0, 500, 50, 0)).toEqual({ from: 0, to: 0 });
    expect(spanOf(5_000_000, 500, 50, 10)).toEqual({ from: 9, to: 10 });
    expect(spanOf(-80, 500, 50, 10)).toEqual({ from: 0, to: 10 }); // a rubber band
  });

  it('scrolls no further than a row needs, and not under the head', () => {
    expect(scrollFor(3, 0, 500, 50, 40)).toBe(0);
    expect(scrollFor(9, 0, 500, 50, 40)).toBe(40);
    expect(scrollFor(2, 400, 500, 50, 40)).toBe(100);
  });

  it('follows the keys and stays within the list', () => {
    expect(['ArrowDown', 'ArrowUp', 'PageDown', 'PageUp', 'Home', 'End'].map((key) => rowAfter(key, 5, 100, 10))).toEqual([6, 4, 15, 0, 0, 99]);
    expect([rowAfter('ArrowDown', 99, 100, 10), rowAfter('x', 5, 100, 10), rowAfter('End', 0, 0, 10)]).toEqual([99, null, null]);
  });
});

describe('the pages of a long list', () => {
  const rows = (from: number, n = 10) => Array.from({ length: n }, (_, i) => from + i);

  it('are asked for where they are looked at and not known', () => {
    const pages = new Pages<number>(10);
    pages.take(0, rows(0), 95, 1);
    expect(pages.lacks({ from: 0, to: 30 })).toEqual([10, 20]);
    expect(pages.lacks({ from: 88, to: 120 })).toEqual([80, 90]);
    expect([pages.row(7), pages.row(17)]).toEqual([7, undefined]);
  });

  it('stay in sight when the library changes, and are asked for again', () => {
    const pages = new Pages<number>(10);
    pages.take(0, rows(0), 95, 1);
    pages.take(10, rows(10), 95, 1);
    expect(pages.take(0, rows(100), 96, 2)).toBe(true);
    expect([pages.row(0), pages.row(12), pages.total]).toEqual([100, 12, 96]);
    expect(pages.lacks({ from: 0, to: 20 })).toEqual([10]);
    pages.age();
    expect(pages.lacks({ from: 0, to: 20 })).toEqual([0, 10]);
  });

  it('are forgotten from the oldest on when they are many', () => {
    const pages = new Pages<number>(10);
    for (let i = 0; i < 500; i++) pages.take(i * 10, rows(i * 10), 5000, 1);
    expect(pages.kept).toBe(60);
    expect([pages.row(0), pages.row(4999)]).toEqual([undefined, 4999]);
  });
});
