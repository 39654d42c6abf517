import { expect, it } from 'vitest';
import { dayOf, lengthOf, speedOf } from './when';

it('lengths are said as one would say them', () => {
  const minute = 60_000;
  expect([0, -5, Number.NaN].map((ms) => lengthOf(ms, 'en'))).toEqual(['', '', '']);
  expect([12_000, minute, 62 * minute, 120 * minute].map((ms) => lengthOf(ms, 'en'))).toEqual(['12\u00a0sec', '1\u00a0min', '1\u00a0hr\u00a02\u00a0min', '2\u00a0hr']);
  expect([5000, minute, 2 * minute, 33 * minute, 62 * minute, 125 * minute].map((ms) => lengthOf(ms, 'ar'))).toEqual(['٥ ثوانٍ', 'دقيقة واحدة', 'دقيقتان', '٣٣ دقيقة', 'ساعة ودقيقتان', 'ساعتان و٥ دقائق']);
});

it('days are those of the listener, with the year where it is another', () => {
  const now = new Date(2026, 10, 29, 13, 0).getTime();
  const say = (...day: [number, number, number, number]) => dayOf(new Date(...day).getTime(), now, 'en', { today: 'Today', yesterday: 'Yesterday' });
  expect([say(2026, 10, 29, 0), say(2026, 10, 28, 23), say(2026, 10, 27, 23), say(2025, 10, 27, 12)]).toEqual(['Today', 'Yesterday', '27 November', '27 November 2025']);
});

it('speeds are in the digits of the language', () => {
  expect([speedOf(1.75, 'en'), speedOf(1.5, 'ar')]).toEqual(['1.75×', '١٫٥×']);
});
