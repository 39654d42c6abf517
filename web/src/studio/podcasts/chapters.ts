import { inDigits, latinDigits, type Language } from '../../text/format';
import type { Chapter } from './answers';

/** A chapter as it is edited: its time as it is typed. */
export interface Row {
  /** Of its row on this page, and nothing of the station's. */
  key: number;
  time: string;
  title: string;
  artist: string;
}

/** A time as it is typed, 1:02:03, 62:03, 90 or ٢:٠٥, in milliseconds; null: it is no time. */
export function msOf(text: string): number | null {
  const found = /^(?:(?:(\d{1,3}):)?(\d{1,4}):)?(\d{1,6})(?:[.,٫](\d{1,3}))?$/.exec(latinDigits(text.trim()).replaceAll('：', ':'));
  if (!found) return null;
  const [, h, m, s = '0', rest = ''] = found;
  const [minutes, seconds] = [Number(m ?? 0), Number(s)];
  if ((m !== undefined && seconds > 59) || (h !== undefined && minutes > 59)) return null;
  return (Number(h ?? 0) * 3600 + minutes * 60 + seconds) * 1000 + Number(rest.padEnd(3, '0'));
}

/** The same as it is shown: 1:02:03, and tenths where there are any. */
export function timeOf(ms: number, language: Language = 'en'): string {
  const whole = Math.max(0, Math.round(ms));
  const [h, m, s, rest] = [Math.floor(whole / 3_600_000), Math.floor(whole / 60_000) % 60, Math.floor(whole / 1000) % 60, whole % 1000];
  const two = (n: number): string => String(n).padStart(2, '0');
  return inDigits(`${h > 0 ? `${h}:${two(m)}` : m}:${two(s)}${rest ? `.${String(rest).padStart(3, '0').replace(/0+$/, '')}` : ''}`, language);
}

export function rowsOf(chapters: readonly Chapter[], next: () => number, language: Language): Row[] {
  return chapters.map(({ startMs, title, artist }) => ({ key: next(), time: timeOf(startMs, language), title, artist }));
}

/** Nobody wrote anything into it. */
export const blank = ({ time, title, artist }: Row): boolean => `${time}${title}${artist}`.trim() === '';

/** The chapters as they are sent, in the order of their times. */
export function chaptersOf(rows: readonly Row[]): Chapter[] {
  return sorted(rows.filter((row) => !blank(row))).map(({ time, title, artist }) => ({ startMs: msOf(time) ?? 0, title: title.trim(), artist: artist.trim() }));
}

/** By time; what is no time yet stays at the end. */
export function sorted(rows: readonly Row[]): Row[] {
  const at = ({ time }: Row): number => msOf(time) ?? Infinity;
  return [...rows].sort((a, b) => (at(a) === at(b) ? 0 : at(a) - at(b)));
}

export type ChapterFault = 'time' | 'late' | 'same' | 'title';

/** What is wrong with rows, by their keys. */
export function chapterFaults(rows: readonly Row[], durationMs: number): Map<number, ChapterFault> {
  const found = new Map<number, ChapterFault>();
  const taken = new Set<number>();
  for (const row of rows) {
    if (blank(row)) continue;
    const ms = msOf(row.time);
    if (ms === null) found.set(row.key, 'time');
    else if (durationMs > 0 && ms >= durationMs) found.set(row.key, 'late');
    else if (taken.has(ms)) found.set(row.key, 'same');
    else if (row.title.trim() === '') found.set(row.key, 'title');
    if (ms !== null) taken.add(ms);
  }
  return found;
}

/** Moves a row one place: the two change their times, so that what stands there is sorted still. */
export function moved(rows: readonly Row[], key: number, by: -1 | 1): Row[] {
  const list = sorted(rows);
  const from = list.findIndex((row) => row.key === key);
  const [here, there] = [list[from], list[from + by]];
  if (!here || !there) return list;
  [list[from], list[from + by]] = [{ ...there, time: here.time }, { ...here, time: there.time }];
  return list;
}

/** The chapter that is heard at a moment; -1: none yet. */
export function heardAt(rows: readonly Row[], ms: number): number {
  let key = -1;
  for (const row of sorted(rows)) if ((msOf(row.time) ?? Infinity) <= ms) ({ key } = row);
  return key;
}
