import { describe, expect, it } from 'vitest';
import { arPlaylists } from '../../../i18n/playlists.ar';
import { enPlaylists } from '../../../i18n/playlists.en';
import { plural } from '../../../i18n/choose';
import { weekdays } from '../../config';
import { builtInDayparts } from '../../programme/knobs';
import { itemNames, playsWords, spanWords, windowWords } from './say';
import { isOverMidnight, minutesCovered, spanned, spanOf, tidyWindow, toggledDay, weekOf } from './windows';

const dayNames = Object.fromEntries(weekdays.map((day) => [day, day]));
const bare = (text: string): string => text.replace(/[\u2066-\u2069]/g, '');

describe('the week', () => {
  it('is open all of the time without a window', () => {
    expect(minutesCovered(weekOf([], builtInDayparts))).toBe(7 * 1440);
  });

  it('shows a window over midnight on both days, also from the last day of the week to the first', () => {
    const week = weekOf([{ days: ['fri'], start: '22:00', end: '02:00' }], []);
    expect(week.fri).toEqual([{ from: 1320, to: 1440 }]);
    expect(week.sat).toEqual([{ from: 0, to: 120 }]);
    expect(minutesCovered(week)).toBe(240);
  });

  it('takes equal ends for the whole day, and an end at midnight for that day alone', () => {
    expect(weekOf([{ days: ['mon'], start: '06:00', end: '06:00' }], []).tue).toEqual([{ from: 0, to: 360 }]);
    const evening = weekOf([{ days: ['mon'], start: '20:00', end: '00:00' }], []);
    expect([evening.mon, evening.tue]).toEqual([[{ from: 1200, to: 1440 }], []]);
    expect(isOverMidnight({ start: '20:00', end: '00:00' })).toBe(false);
  });

  it('counts what two windows share once, and joins those that touch', () => {
    const week = weekOf([{ days: ['sun'], start: '08:00', end: '10:00' }, { days: ['sun'], start: '09:00', end: '11:00' }, { days: ['sun'], start: '11:00', end: '12:00' }], []);
    expect(week.sun).toEqual([{ from: 480, to: 720 }]);
  });

  it('knows the hours of a daypart; of one that is not there, none', () => {
    expect(weekOf([{ days: ['tue'], daypart: 'morning', start: '00:00', end: '00:00' }], builtInDayparts).tue).toEqual([{ from: 300, to: 660 }]);
    expect(minutesCovered(weekOf([{ daypart: 'gone', start: '00:00', end: '00:00' }], builtInDayparts))).toBe(0);
  });
});

describe('a window', () => {
  it('turns days on and off; all of them is every day', () => {
    const six = toggledDay({ days: ['sat', 'sun', 'mon', 'tue', 'wed', 'thu'], start: '00:00', end: '00:00' }, 'fri');
    expect(six.days).toBeUndefined();
    expect(toggledDay({ days: ['fri'], start: '00:00', end: '00:00' }, 'sat').days).toEqual(['sat', 'fri']);
    expect(toggledDay({ days: ['fri'], start: '00:00', end: '00:00' }, 'fri').days).toBeUndefined();
  });

  it('is said by its hours, its daypart or the day, and back', () => {
    const hours = spanned({ start: '00:00', end: '00:00' }, 'hours', '');
    expect([spanOf(hours), hours.start === hours.end]).toEqual(['hours', false]);
    const part = spanned(hours, 'daypart', 'evening');
    expect(part).toEqual({ daypart: 'evening', start: '00:00', end: '00:00' });
    expect(spanOf(spanned(part, 'day', ''))).toBe('day');
    expect(tidyWindow({ days: [], daypart: '', start: '01:00', end: '02:00', from: '', until: '' })).toEqual({ start: '01:00', end: '02:00' });
  });

  it('is said in words of both languages', () => {
    const night = { days: ['fri' as const, 'sat' as const], start: '22:00', end: '02:00', until: '2026-12-31' };
    expect(bare(windowWords(night, enPlaylists, dayNames, (name) => name, 'en'))).toBe('sat, fri · 22:00–02:00 (into the next day) · until 31 Dec 2026');
    expect(bare(windowWords({ start: '00:00', end: '00:00' }, arPlaylists, dayNames, (name) => name, 'ar'))).toBe('كل يوم · طوال اليوم');
    expect(bare(spanWords({ from: 1200, to: 1440 }, 'ar'))).toBe('٢٠:٠٠–٢٤:٠٠');
  });
});

it('how a playlist plays is said in words', () => {
  const said = (language: 'en' | 'ar', list: { plays: 'share' | 'songs' | 'hourly' | 'once'; share?: number; everySongs?: number; minute?: number }) => bare(playsWords({ share: 0, everySongs: 1, minute: 0, ...list }, language === 'en' ? enPlaylists : arPlaylists, language, (n, forms) => plural(n, forms, language, String(n))));
  expect(said('en', { plays: 'share', share: 30 })).toBe('30% of the songs');
  expect(said('en', { plays: 'songs', everySongs: 1 })).toBe('one after every song');
  expect(said('ar', { plays: 'songs', everySongs: 2 })).toBe('مرة بعد كل أغنيتين');
  expect(said('en', { plays: 'hourly', minute: 5 })).toBe('every hour at :05');
});

it('an entry whose file is gone is called by its file', () => {
  expect(itemNames({ path: 'old/Slow_River.mp3' }, 'en')).toEqual({ title: 'Slow River', artist: '' });
});

it('both languages say every way of playing and every order', () => {
  for (const words of [enPlaylists, arPlaylists]) {
    expect(Object.keys(words.fields.say)).toEqual(['only', 'share', 'songs', 'hourly', 'once', 'clock']);
    expect(Object.keys(words.fields.orders)).toEqual(['sequence', 'turns', 'shuffle']);
  }
});
