import { describe, expect, it } from 'vitest';
import { lostBetween, minutesAt, minutesOf, moved, stretches, textOf } from './day';

describe('the day', () => {
  it('is read and written in minutes, around midnight too', () => {
    expect([minutesOf('06:30'), minutesOf('24:00')]).toEqual([390, 1440]);
    for (const odd of ['', '6', '25:00', '12:60', '24:01']) expect(minutesOf(odd), odd).toBeNaN();
    expect([textOf(390), textOf(1440), textOf(-15)]).toEqual(['06:30', '00:00', '23:45']);
  });

  it('parts a window that runs over midnight', () => {
    expect(stretches('23:00', '02:00')).toEqual([{ from: 1380, to: 1440 }, { from: 0, to: 120 }]);
    expect(stretches('16:00', '00:00')).toEqual([{ from: 960, to: 1440 }]);
    expect(stretches('05:00', '11:00')).toEqual([{ from: 300, to: 660 }]);
    expect(stretches('00:00', '00:00')).toEqual([{ from: 0, to: 1440 }]);
  });

  it('runs from the right on a page that does', () => {
    const box = { left: 100, width: 960 };
    expect(minutesAt(100 + 240, box, 'ltr')).toBe(360);
    expect(minutesAt(100 + 240, box, 'rtl')).toBe(1080);
    expect(minutesAt(-50, box, 'ltr')).toBe(0);
    expect(minutesAt(100 + 243, box, 'ltr')).toBe(360); // in quarters of an hour
  });

  it('names what a list of windows takes away', () => {
    const gate = { name: 'gate', start: '02:00', end: '05:00', hard: 'english' };
    const late = { name: 'late', start: '23:00', end: '02:00' };
    expect(lostBetween([gate, late], [gate, late])).toEqual([]);
    expect(lostBetween([gate, late], [late])).toEqual([{ ...gate, index: 0 }]);
    expect(lostBetween([gate, late], [gate])).toEqual([{ ...late, hard: undefined, index: 1 }]);
    expect(lostBetween([gate, late], [{ ...gate, start: '03:00' }, { start: '23:00', end: '03:00' }])).toEqual([{ ...gate, end: '03:00', index: 0 }]);
    expect(lostBetween([gate, late], [{ start: '00:00', end: '24:00', hard: 'mashups' }])).toEqual([{ ...gate, index: 0 }]);
    expect(lostBetween([], [gate])).toEqual([]);
  });

  it('moves the bound that two windows share as one', () => {
    const windows = [{ start: '05:00', end: '11:00' }, { start: '11:00', end: '16:00' }];
    expect(moved(windows, 0, 'end', 600)).toEqual([{ start: '05:00', end: '10:00' }, { start: '10:00', end: '16:00' }]);
    expect(moved(windows, 0, 'start', 240)[0]).toEqual({ start: '04:00', end: '11:00' });
  });
});
