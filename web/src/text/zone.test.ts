import { describe, expect, it } from 'vitest';
import { beginOf, dayAfter, dayIn } from './zone';

describe('a day of the station', () => {
  const length = (day: string, zone: string) => (beginOf(dayAfter(day, 1), zone) - beginOf(day, zone)) / 3_600_000;

  it('begins at its own midnight, winter and summer', () => {
    expect(new Date(beginOf('2026-11-21', 'Africa/Cairo')).toISOString()).toBe('2026-11-20T22:00:00.000Z');
    expect(new Date(beginOf('2026-07-01', 'Africa/Cairo')).toISOString()).toBe('2026-06-30T21:00:00.000Z');
    expect(dayIn(Date.UTC(2026, 10, 20, 21, 59), 'Africa/Cairo')).toBe('2026-11-20');
    expect(dayIn(Date.UTC(2026, 10, 20, 22, 0), 'Africa/Cairo')).toBe('2026-11-21');
    expect(dayIn(Date.UTC(2026, 10, 21, 4, 59), 'America/New_York')).toBe('2026-11-20');
  });

  it('has 23 hours when summer begins and 25 when it ends, midnight skipped or not', () => {
    expect([length('2026-04-24', 'Africa/Cairo'), length('2026-10-29', 'Africa/Cairo')]).toEqual([23, 25]); // Cairo turns at midnight
    expect([length('2026-03-29', 'Europe/Berlin'), length('2026-10-25', 'Europe/Berlin'), length('2026-11-21', 'UTC')]).toEqual([23, 25, 24]);
  });
});
