import type { Config, Daypart, Knobs } from '../config';

/** How each knob of ROTATION is shown: in the unit an operator thinks in. */
export type Unit = 'minutes' | 'seconds' | 'percent' | 'entries' | 'plays' | 'breaks';

export interface Knob {
  key: Exclude<keyof Knobs, 'SAME_HOUR'>;
  unit: Unit;
  /** Of the knob's own value, which is milliseconds, a fraction or a count. */
  least: number;
  most: number;
}

const day3 = 72 * 3_600_000;

export const groups: readonly { name: 'again' | 'apart' | 'imaging' | 'listeners' | 'plan'; knobs: readonly Knob[]; sameHour?: true }[] = [
  {
    name: 'again',
    sameHour: true,
    knobs: [
      { key: 'MUSIC_FRESH_MS', unit: 'minutes', least: 0, most: day3 },
      { key: 'COOLDOWN_PERIOD', unit: 'minutes', least: 0, most: day3 },
      { key: 'MIN_REST_MS', unit: 'minutes', least: 0, most: day3 },
      { key: 'MAX_PLAYS_DAY', unit: 'plays', least: 0, most: 1000 },
    ],
  },
  {
    name: 'apart',
    knobs: [
      { key: 'ARTIST_GAP_MS', unit: 'minutes', least: 0, most: day3 },
      { key: 'TITLE_GAP_MS', unit: 'minutes', least: 0, most: day3 },
      { key: 'ALBUM_GAP_MS', unit: 'minutes', least: 0, most: day3 },
    ],
  },
  {
    name: 'imaging',
    knobs: [
      { key: 'ELEMENT_COOLDOWN', unit: 'minutes', least: 0, most: day3 },
      { key: 'SIG_JINGLE_MIN_SLOTS', unit: 'breaks', least: 1, most: 100 },
      { key: 'SIG_JINGLE_MAX_SLOTS', unit: 'breaks', least: 1, most: 100 },
    ],
  },
  {
    name: 'listeners',
    knobs: [
      { key: 'POST_EVERY', unit: 'entries', least: 0, most: 120 },
      { key: 'REQUEST_EVERY', unit: 'entries', least: 0, most: 120 },
    ],
  },
  {
    name: 'plan',
    knobs: [
      { key: 'BUFFER_MAX', unit: 'entries', least: 1, most: 1000 },
      { key: 'REFRESH_FRACTION', unit: 'percent', least: 0.01, most: 1 },
      { key: 'MUSIC_MIN_MS', unit: 'seconds', least: 0, most: day3 },
    ],
  },
];

const scale: Record<Unit, number> = { minutes: 60_000, seconds: 1000, percent: 0.01, entries: 1, plays: 1, breaks: 1 };

/** A knob's value in its unit, without the dust of binary fractions. */
export function shown(value: number, unit: Unit): number {
  return Math.round((value / scale[unit]) * 100) / 100;
}

/** What was typed in a unit, as the station keeps it. */
export function kept(typed: number, unit: Unit): number {
  return unit === 'percent' ? Math.round(typed * 100) / 10_000 : Math.round(typed * scale[unit]);
}

/** What the station comes with (rotation.DefaultConfig); a test holds the two together. */
export const defaultKnobs: Knobs = {
  BUFFER_MAX: 120,
  REFRESH_FRACTION: 0.85,
  MUSIC_FRESH_MS: 10_800_000,
  COOLDOWN_PERIOD: 5_400_000,
  ELEMENT_COOLDOWN: 600_000,
  SIG_JINGLE_MIN_SLOTS: 2,
  SIG_JINGLE_MAX_SLOTS: 5,
  MUSIC_MIN_MS: 45_000,
  ARTIST_GAP_MS: 1_800_000,
  TITLE_GAP_MS: 3_600_000,
  ALBUM_GAP_MS: 1_200_000,
  MIN_REST_MS: 1_800_000,
  MAX_PLAYS_DAY: 6,
  SAME_HOUR: true,
  POST_EVERY: 3,
  REQUEST_EVERY: 3,
};

export const defaultMix: Pick<Config, 'GENRE_SPLIT' | 'MASHUP_CHANCE' | 'STOCHASTIC_SFX_CHANCE' | 'AD_EVERY'> = {
  GENRE_SPLIT: { arabic_hits: 0.65, english: 0.3, social: 0.05 },
  MASHUP_CHANCE: 0.06,
  STOCHASTIC_SFX_CHANCE: 0.45,
  AD_EVERY: 16,
};

/** The station's own windows, which hold while DAYPARTS is null. */
export const builtInDayparts: readonly Daypart[] = [
  { name: 'overnight', start: '02:00', end: '05:00', hard: 'english' },
  { name: 'morning', start: '05:00', end: '11:00', weights: { arabic_hits: 1.2, english: 0.5, mashups: 0.6 } },
  { name: 'midday', start: '11:00', end: '16:00', weights: { arabic_hits: 1.1, english: 0.65, mashups: 1 } },
  { name: 'evening', start: '16:00', end: '23:00', weights: { arabic_hits: 1.15, english: 0.6, mashups: 1.25 } },
  { name: 'late', start: '23:00', end: '02:00', weights: { arabic_hits: 0.95, english: 0.9, mashups: 1.5 } },
];
