import { describe, expect, it } from 'vitest';
import type { Aired } from './answers';
import { byHour, joined, lastDays, momentOf, sayDay } from './days';

const row = (startedAt: number, title = 'x'): Aired => ({ startedAt, title, artist: '', file: `${title}.mp3`, category: 'english', type: 'music', durationMs: 1 });
const at = (text: string) => Date.parse(text);
const words = { today: 'Today', yesterday: 'Yesterday' };

describe('the list by the station’s clock', () => {
  it('has its days and hours, whatever the listener’s zone', () => {
    const days = byHour([row(at('2026-11-21T22:30:00Z')), row(at('2026-11-21T21:59:00Z')), row(at('2026-11-21T21:01:00Z')), row(at('2026-11-21T20:59:00Z'))], 'Africa/Cairo');
    expect(days.map(({ day, hours }) => [day, hours.map(({ rows }) => rows.length)])).toEqual([['2026-11-22', [1]], ['2026-11-21', [2, 1]]]);
    expect(new Date(days[1]!.hours[0]!.at).toISOString()).toBe('2026-11-21T21:00:00.000Z');
  });

  it('has an hour twice where the clock is set back', () => {
    const days = byHour([row(at('2026-10-25T01:30:00Z')), row(at('2026-10-25T00:30:00Z'))], 'Europe/Berlin');
    expect(days.map(({ hours }) => hours.length)).toEqual([2]);
  });

  it('finds a moment of a day, and says days as people do', () => {
    expect(new Date(momentOf('2026-11-21', '22:00', 'Africa/Cairo')).toISOString()).toBe('2026-11-21T20:00:00.000Z');
    const now = at('2026-11-21T22:30:00Z');
    expect(lastDays(now, 'Africa/Cairo').slice(0, 2)).toEqual(['2026-11-22', '2026-11-21']);
    expect(sayDay('2026-11-22', now, 'Africa/Cairo', 'en', words)).toBe('Today');
    expect(sayDay('2026-11-21', now, 'Africa/Cairo', 'en', words)).toBe('Yesterday');
    expect(sayDay('2026-11-19', now, 'Africa/Cairo', 'en', words)).toBe('Thursday 19 November');
    expect(sayDay('2026-11-19', now, 'Africa/Cairo', 'ar', words)).toMatch(/١٩/);
  });
});

it('parts that overlap are one list', () => {
  expect(joined([row(3), row(2)], [row(2), row(1)], [row(2, 'y')]).map(({ startedAt, title }) => `${startedAt}${title}`)).toEqual(['3x', '2x', '2y', '1x']);
});
