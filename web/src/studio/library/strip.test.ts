import { describe, expect, it } from 'vitest';
import { allDay, hourAfter, hoursOf, isAllDay, painted, stripOf } from './strip';

describe('the strip of hours', () => {
  it('reads and writes ranges, over midnight too', () => {
    const strip = stripOf([[6, 10], [22, 2]]);
    expect(strip.flatMap((on, hour) => (on ? [hour] : []))).toEqual([0, 1, 6, 7, 8, 9, 22, 23]);
    expect(hoursOf(strip)).toEqual([[6, 10], [22, 2]]);
    expect(hoursOf(stripOf([[6, 8], [8, 10]]))).toEqual([[6, 10]]);
    expect(hoursOf(stripOf([[23, 0]]))).toEqual([[23, 0]]);
  });

  it('limits nothing when all hours or none are on', () => {
    expect([hoursOf(allDay), hoursOf(allDay.map(() => false)), isAllDay(stripOf(undefined)), isAllDay(stripOf([[5, 5]]))]).toEqual([undefined, undefined, true, true]);
    expect(hoursOf(painted(allDay, 5, false))).toEqual([[6, 5]]);
  });

  it('is walked by the keys', () => {
    expect([hourAfter('ArrowRight', 23, 12), hourAfter('ArrowLeft', 0, 12), hourAfter('ArrowDown', 3, 12), hourAfter('ArrowDown', 15, 12), hourAfter('Home', 9, 12), hourAfter(' ', 1, 12)]).toEqual([0, 23, 15, 15, 0, null]);
    expect([hourAfter('ArrowRight', 0, 12, 'rtl'), hourAfter('ArrowLeft', 3, 12, 'rtl'), hourAfter('End', 3, 12, 'rtl')]).toEqual([23, 4, 23]);
  });
});
