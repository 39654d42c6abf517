import { describe, expect, it } from 'vitest';
import { directionOf, isolate, plain } from './bidi';
import { clock, count, rounded, timeOfDay } from './format';
import { bitrate, dayOf, hours, percent, relative } from './measure';

describe('text from outside', () => {
  it('has the direction of its first letter', () => {
    expect(directionOf('شاي بالنعناع (Remix)')).toBe('rtl');
    expect(directionOf('DJ Zein × مريم')).toBe('ltr');
    expect(directionOf('"3" – ليل')).toBe('rtl');
    expect(directionOf('1999 !')).toBeNull();
  });

  it('is isolated only where it runs against the page', () => {
    expect(isolate('Slow River', 'rtl')).toBe('\u2068Slow River\u2069');
    expect(isolate('Slow River', 'ltr')).toBe('Slow River');
    expect(isolate('ليل', 'ltr')).toBe('\u2068ليل\u2069');
    expect(isolate('1999', 'rtl')).toBe('1999');
  });

  it('cannot turn its surroundings with overrides, marks or control characters', () => {
    expect(plain('evil\u202etxt.mp3')).toBe('evil txt.mp3');
    expect(plain('a\u0000b\nc\u2067d\u200fe')).toBe('a b c d e');
    expect(isolate('x\u2069y', 'rtl')).toBe('\u2068x y\u2069');
    expect(plain('لا\u200cنهاية')).toBe('لا\u200cنهاية'); // the zero-width non-joiner is spelling
  });
});

describe('numbers and times', () => {
  it('are written in the digits of the language', () => {
    expect(count(1234, 'ar')).toBe('١٬٢٣٤');
    expect(count(1234, 'en')).toBe('1,234');
    expect([rounded(12.345, 'en'), rounded(12.04, 'ar')]).toEqual(['12.3', '١٢']);
    expect([percent(0.64, 'ar'), percent(0.645, 'en'), percent(0.034, 'en'), percent(1, 'ar')]).toEqual(['٦٤٪', '65%', '3.4%', '١٠٠٪']);
    expect(clock(185_900, 'ar')).toBe('٣:٠٥');
    expect(clock(3_725_000, 'en')).toBe('1:02:05');
  });

  it('read as nothing when unknown or past', () => {
    for (const odd of [-5, Number.NaN, Number.POSITIVE_INFINITY]) expect(clock(odd, 'en')).toBe('0:00');
  });

  it('follow the station’s zone, and survive a zone the browser does not know', () => {
    const noon = Date.UTC(2026, 0, 15, 12, 0);
    expect(timeOfDay(noon, 'en', 'Africa/Cairo')).toBe('14:00');
    expect(timeOfDay(noon, 'ar', 'Africa/Cairo')).toContain('٢:٠٠');
    expect(timeOfDay(noon, 'en', 'Not/AZone')).toMatch(/^\d\d:\d\d$/);
  });

  it('choose the unit that fits', () => {
    const now = 1_700_000_000_000;
    expect(relative(now - 110_000, now, 'en')).toMatch(/2 min/);
    expect(relative(now - 2 * 86_400_000, now, 'en')).toBe('2 days ago');
    expect(relative(now - 7_200_000, now, 'ar')).toContain('ساعتين');
    expect(hours(3_600_000, 'en')).toMatch(/^1 h/);
    expect(hours(43_500_000, 'en')).toMatch(/^12 h\D* 5 min/);
    expect(hours(4000, 'en')).toMatch(/^4 s/);
    expect(bitrate(256_000, 'en')).toBe('256 kb/s');
    expect(bitrate(34_100_000, 'en')).toBe('34 Mb/s');
  });
});

it('yesterday is the day before, were it of 25 hours', () => {
  const words = { today: 'Today', yesterday: 'Yesterday' };
  const was = process.env.TZ;
  try {
    process.env.TZ = 'Africa/Cairo';
    const now = new Date(2026, 9, 30, 12).getTime(); // the clocks went back as the 29th ended
    expect([dayOf(new Date(2026, 9, 29, 0, 15).getTime(), 'en', words, now), dayOf(new Date(2026, 9, 28, 23).getTime(), 'en', words, now)]).toEqual(['Yesterday', 'Wednesday 28 October']);
  } finally {
    if (was === undefined) delete process.env.TZ;
    else process.env.TZ = was;
  }
});
