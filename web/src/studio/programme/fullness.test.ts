import { describe, expect, it } from 'vitest';
import { fullness, hourMs, offsetMs } from './fullness';

const minute = 60_000;
const mean = (category: string) => ({ news: 2, music: 4, jingles: 0.5 })[category]! * minute;

describe('the fullness of an hour', () => {
  it('adds the positions up by their mean length', () => {
    const { filledMs, segments, beyond } = fullness([{ category: 'jingles' }, { category: 'music', count: 5 }], mean);
    expect(filledMs).toBe(20.5 * minute);
    expect(segments.map((s) => s.from / minute)).toEqual([0, 0.5, 4.5, 8.5, 12.5, 16.5]);
    expect(beyond).toEqual([]);
  });

  it('keeps a timed event at its time: a gap before it is the planner’s to fill', () => {
    const { segments, filledMs } = fullness([{ category: 'music' }, { category: 'news', at: '30:00' }, { category: 'music' }], mean);
    expect(segments.map((s) => [s.category, s.from / minute, s.to / minute])).toEqual([
      ['music', 0, 4], ['', 4, 30], ['news', 30, 32], ['music', 32, 36],
    ]);
    expect(filledMs).toBe(10 * minute);
  });

  it('leaves out what finds no room, before an event and before the hour ends', () => {
    const before = fullness([{ category: 'music', count: 2 }, { category: 'jingles' }, { category: 'news', at: '06:00' }], mean);
    expect(before.beyond).toEqual([1]);
    expect(before.segments.map((s) => s.to / minute)).toEqual([4, 6, 8]);
    const over = fullness([{ category: 'music', count: 15 }, { category: 'jingles' }], mean);
    expect(over.filledMs).toBeGreaterThan(hourMs);
    expect(over.beyond).toEqual([1]);
    expect(over.segments.at(-1)?.to).toBe(hourMs);
  });

  it('names times it cannot read, and events out of order', () => {
    const { unread } = fullness([{ category: 'news', at: '30:00' }, { category: 'news', at: 'soon' }, { category: 'news', at: '10:00' }], mean);
    expect(unread).toEqual([1, 2]);
  });

  it('reads the times that the station reads', () => {
    expect([':30', '30:00', '59:59', '00:00'].map(offsetMs)).toEqual([30 * minute, 30 * minute, hourMs - 1000, 0]);
    for (const odd of ['', '30', '60:00', '1:5', ':30:00', '12:60']) expect(offsetMs(odd), odd).toBeNaN();
  });
});
