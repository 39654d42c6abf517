import type { PlaylistWords } from '../../../i18n/playlists.en';
import { weekdays } from '../../config';
import { isolate } from '../../../text/bidi';
import { count, inDigits, type Language } from '../../../text/format';
import { dayMinutes, textOf } from '../../programme/day';
import type { Song } from '../../byhand/answers';
import { fileWords, namesOf } from '../../names';
import { songOf } from '../answers';
import type { Item, Settings, Window } from './answers';
import { isOverMidnight, isWholeDay, type Stretch } from './windows';

const directionIn = (language: Language) => (language === 'ar' ? 'rtl' : 'ltr') as 'rtl' | 'ltr';

/** How a playlist plays, in a few words. */
export function playsWords(list: Pick<Settings, 'plays' | 'share' | 'everySongs' | 'minute'>, words: PlaylistWords, language: Language, counted: (n: number, forms: PlaylistWords['afterSongs']) => string): string {
  if (list.plays === 'share') return words.short.share(count(list.share, language));
  if (list.plays === 'songs') return counted(list.everySongs, words.afterSongs);
  if (list.plays === 'hourly') return words.short.hourly(minuteOf(list.minute, language));
  return words.short[list.plays];
}

/** :05, or the figure alone where it is said after the word for minute. */
export const minuteOf = (minute: number, language: Language): string => (language === 'ar' ? count(minute, language) : `:${String(minute).padStart(2, '0')}`);

/** A day of the calendar, 2026-12-01, as it is said. */
export function dateOf(day: string, language: Language): string {
  const at = Date.parse(`${day}T12:00:00Z`);
  return Number.isNaN(at) ? day : new Intl.DateTimeFormat(language === 'ar' ? 'ar-EG-u-nu-arab' : 'en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' }).format(at);
}

/** A window in words: Fri, Sat · 22:00–02:00 · until 31 Dec 2026. */
export function windowWords(window: Window, words: PlaylistWords, dayNames: Record<string, string>, daypartOf: (name: string) => string, language: Language): string {
  const days = window.days && window.days.length > 0 ? weekdays.filter((day) => window.days?.includes(day)).map((day) => dayNames[day] ?? day).join(language === 'ar' ? '، ' : ', ') : words.when.everyDay;
  const hours = isWholeDay(window) ? (window.daypart ? [] : [words.when.allDay]) : [`\u2066${inDigits(`${window.start}–${window.end}`, language)}\u2069${isOverMidnight(window) ? ` ${words.when.nextDay}` : ''}`];
  const part = window.daypart ? [isolate(daypartOf(window.daypart), directionIn(language))] : [];
  const from = window.from ? [words.when.fromDay(dateOf(window.from, language))] : [];
  const until = window.until ? [words.when.untilDay(dateOf(window.until, language))] : [];
  return [days, ...part, ...hours, ...from, ...until].join(' · ');
}

/** Minutes of the day, 20:00–22:00. */
export const spanWords = ({ from, to }: Stretch, language: Language): string => `\u2066${inDigits(`${textOf(from)}–${to === dayMinutes ? '24:00' : textOf(to)}`, language)}\u2069`;

/** What an entry is called: by its file's name where the file is gone. */
export function itemNames({ path, track }: Pick<Item, 'path' | 'track'>, language: Language): { title: string; artist: string } {
  return track ? namesOf({ ...track, file: path }, language) : { title: fileWords(path, language) || path, artist: '' };
}

/** An entry as it is put on the air; null where its file is gone. */
export const itemSong = ({ path, track, missing }: Item): Song | null => (track && !missing ? songOf({ ...track, path }) : null);
