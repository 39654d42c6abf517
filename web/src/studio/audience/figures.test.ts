import { describe, expect, it } from 'vitest';
import type { Airing, TrackFigures } from './answers';
import { csvOf } from './csv';
import { airingAt, bandOf, pointAt } from './curve';
import { keptOf, lackingIn, sorted, soughtIn } from './figures';
import { byOf, day, hour, minute, monthAfter, monthIn, panned, spanOf, ticksOf, zoomed } from './ranges';

const now = Date.parse('2026-11-28T20:00:00Z');
const cairo = 'Africa/Cairo';

describe('a span of time', () => {
  it('is looked at as finely as it is kept and can be drawn', () => {
    const last = (ms: number) => byOf({ from: now - ms, to: now }, now);
    expect([hour, day, 7 * day, 30 * day, 365 * day].map(last)).toEqual(['minute', 'minute', 'hour', 'hour', 'day']);
    expect(byOf({ from: now - 3 * day, to: now - 2 * day }, now)).toBe('hour'); // minutes are gone by then
    expect(byOf({ from: now - 100 * day, to: now - 99 * day }, now)).toBe('day');
  });

  it('of one day is that of the station’s clock, also where it is put forward', () => {
    const spring = spanOf({ day: '2026-04-24' }, now, cairo); // summer time begins at midnight
    expect((spring.to - spring.from) / hour).toBe(23);
    expect(spanOf({ day: '2026-11-28' }, now, cairo).to).toBe(now); // today ends now
  });

  it('stays within what has been and what is kept, and about what was pointed at', () => {
    const span = { from: now - 4 * hour, to: now };
    expect(zoomed(span, 0.5, now - 2 * hour, now)).toEqual({ from: now - 3 * hour, to: now - hour });
    expect(zoomed(span, 2, now, now)).toEqual({ from: now - 8 * hour, to: now });
    expect(zoomed(span, 0.0001, now, now)).toEqual({ from: now - 10 * minute, to: now });
    expect(zoomed(span, 1e6, now, now)).toEqual({ from: now - 730 * day, to: now });
    expect(panned(span, 5 * hour, now)).toEqual(span);
    expect(panned(span, -hour, now)).toEqual({ from: now - 5 * hour, to: now - hour });
    expect(panned(span, -1e6 * day, now).from).toBe(now - 730 * day);
  });

  it('is marked at full hours and days of the station’s clock, however narrow', () => {
    const ticks = ticksOf({ from: now - day, to: now }, 8, 'en', cairo);
    expect(ticks.map(({ text }) => text)).toEqual(expect.arrayContaining(['28 Nov', '3:00', '21:00']));
    expect(ticks.filter((tick) => tick.day)).toHaveLength(1);
    expect(ticks.length).toBeLessThanOrEqual(8);
    const year = ticksOf({ from: now - 365 * day, to: now }, 4, 'ar', cairo);
    expect(year.length).toBeLessThanOrEqual(4);
    expect(year[0]?.text).toMatch(/[٠-٩]/);
    const moved = ticksOf({ from: now - 30 * day - hour, to: now - hour }, 5, 'en', cairo).map(({ at }) => at);
    for (const { at } of ticksOf({ from: now - 30 * day, to: now }, 5, 'en', cairo)) expect(moved).toContain(at); // what is dragged keeps its marks
  });

  it('is marked without a clock made for each of its days', () => {
    const Own = Intl.DateTimeFormat;
    let made = 0;
    Intl.DateTimeFormat = class extends Own {
      constructor(...of: ConstructorParameters<typeof Own>) {
        super(...of);
        made++;
      }
    } as unknown as typeof Own;
    try {
      const ticks = ticksOf({ from: now - 730 * day, to: now }, 7, 'en', cairo);
      expect(ticks.length).toBeGreaterThan(3);
      expect(made).toBeLessThanOrEqual(ticks.length + 1);
      expect(ticks.map(({ at }) => monthIn(at, cairo))).toEqual([...new Set(ticks.map(({ at }) => monthIn(at, cairo)))]);
    } finally {
      Intl.DateTimeFormat = Own;
    }
  });

  it('has months that end where years do', () => {
    expect(monthIn(Date.parse('2026-12-31T23:00:00Z'), cairo)).toBe('2027-01');
    expect([monthAfter('2027-01', -1), monthAfter('2026-12', 1), monthAfter('2026-11', -13)]).toEqual(['2026-12', '2027-01', '2025-10']);
  });
});

describe('what stands beneath the curve', () => {
  const airing = (startedAt: number, seconds: number, category = 'english', kind: Airing['kind'] = 'rotation') => ({ startedAt, seconds, category, type: 'music', kind, title: '', artist: '', file: '', tuneIns: 0, tuneOuts: 0, listenerHours: 0 }) as Airing;

  it('is told by kind, cut at the ends, and left out where it is too narrow but for what is live', () => {
    const blocks = bandOf([airing(-50_000, 60, 'news'), airing(10_000, 40), airing(50_000, 1, 'jingles'), airing(60_000, 1, '', 'live'), airing(200_000, 60)], { from: 0, to: 100_000 }, 2);
    expect(blocks.map(({ left, width, kind }) => [left, width, kind])).toEqual([[0, 10, 'news'], [10, 40, 'music'], [60, 2, 'live']]);
  });

  it('is found by its moment, and what was not counted is nothing', () => {
    const two = [airing(100, 0.1, 'news'), airing(0, 0.1)];
    expect([airingAt(two, 150)?.category, airingAt(two, 99)?.category, airingAt(two, 250)]).toEqual(['news', 'english', null]);
    const point = (at: number) => ({ at, listeners: { average: 1, min: 1, max: 1 }, tuneIns: 0, tuneOuts: 0 });
    expect([pointAt([point(0), point(60)], 70, 60)?.at, pointAt([point(0), point(60)], 200, 60), pointAt([], 0, 60)]).toEqual([60, null, null]);
  });
});

describe('tracks', () => {
  const track = (title: string, more: Partial<TrackFigures>): TrackFigures => ({ file: title, title, artist: '', category: 'english', plays: 1, seconds: 200, counted: 1, listenerHours: 1, startAverage: 10, tuneIns: 0, tuneOuts: 0, reached: 10, kept: 0.5, ...more });

  it('of too few listeners claim nothing, and stand last in either order', () => {
    const few = track('few', { startAverage: 20, tuneIns: 20, reached: 4, kept: 1 }); // forty are listening to it now: that does not count yet
    const [good, bad] = [track('good', { kept: 0.9 }), track('bad', { kept: 0.2, tuneIns: 1 })];
    const { kept: _, ...none } = track('nobody', { counted: 0 });
    expect([few, good, none].map(keptOf)).toEqual([null, 0.9, null]);
    expect(sorted([few, bad, good], 'kept', true).map(({ title }) => title)).toEqual(['good', 'bad', 'few']);
    expect(sorted([few, bad, good], 'kept', false).map(({ title }) => title).at(-1)).toBe('few');
    expect(sorted([good, bad], 'title', false).map(({ title }) => title)).toEqual(['bad', 'good']);
  });

  it('are found without marks and hamza, and those that lack something are listed', () => {
    expect(soughtIn([track('أُغنية', {}), track('b', {})], 'اغنية', ({ title }) => title)).toHaveLength(1);
    const row = { title: 'a', artist: 'x', album: ' ', isrc: '', label: 'l', plays: 1, seconds: 1, listenerHours: 1, performances: 1 };
    expect([lackingIn([row], 'album'), lackingIn([row], 'artist'), lackingIn([row], null)].map(({ length }) => length)).toEqual([1, 0, 1]);
  });
});

it('a table’s text is no formula, and numbers are numbers', () => {
  expect(csvOf(['a', 'b'], [['=1+1', -2.5], ['say "hi", you', NaN], ['@x', 3]])).toBe('\ufeffa,b\r\n\'=1+1,-2.5\r\n"say ""hi"", you",\r\n\'@x,3\r\n');
});
