import type { Config, Daypart } from '../config';

/** Estimates of what a configuration makes of an hour. They follow the planner's arithmetic and its usual pace; the planner has the last word. */

export const musicCategories = ['arabic_hits', 'english', 'mashups', 'social'] as const;
export const splitCategories = ['arabic_hits', 'english', 'social'] as const;

export type Decks = Readonly<Record<string, { tracks: number; durationMs: number }>>;

export interface Share {
  category: string;
  /** Of the whole: 0 to 1. */
  part: number;
}

// The usual length where a deck is empty, milliseconds.
const usual: Record<string, number> = {
  arabic_hits: 225_000, english: 215_000, mashups: 220_000, social: 210_000, shorts: 45_000,
  news: 90_000, ads: 25_000, jingles: 8000, sweepers: 6000, sfx: 2000,
};

export function meanMs(category: string, decks: Decks): number {
  const deck = decks[category];
  return deck && deck.tracks > 0 ? deck.durationMs / deck.tracks : (usual[category] ?? 200_000);
}

function whole(parts: Record<string, number>): Share[] {
  const sum = Object.values(parts).reduce((a, b) => a + b, 0);
  return Object.entries(parts)
    .filter(([, part]) => part > 0)
    .map(([category, part]) => ({ category, part: part / sum }));
}

/** A deck with fewer tracks is supplemented from arabic_hits, as the planner does. */
export const fewestTracks = 15;

/** Tracks of a deck; without end before the station has said how many there are. */
export function sizeOf(category: string, decks: Decks): number {
  return Object.keys(decks).length === 0 ? Infinity : (decks[category]?.tracks ?? 0);
}

/** A hard window whose deck is empty is open: the mix goes on. */
const opened = (daypart: Daypart | undefined, decks: Decks): Daypart | undefined => (daypart?.hard && sizeOf(daypart.hard, decks) === 0 ? undefined : daypart);

/** What is asked for: GENRE_SPLIT beside MASHUP_CHANCE, by a daypart's weights; a hard window leaves one. */
function weightsOf(config: Config, daypart?: Daypart): Record<string, number> {
  if (daypart?.hard) return { [daypart.hard]: 1 };
  const parts: Record<string, number> = {};
  const sum = splitCategories.reduce((total, c) => total + Math.max(0, config.GENRE_SPLIT[c] ?? 0), 0);
  for (const c of splitCategories) {
    if (sum > 0) parts[c] = (Math.max(0, config.GENRE_SPLIT[c] ?? 0) / sum) * (1 - config.MASHUP_CHANCE);
  }
  parts.mashups = config.MASHUP_CHANCE;
  for (const [c, weight] of Object.entries(daypart?.weights ?? {})) parts[c] = (parts[c] ?? 0) * Math.max(0, weight);
  return parts;
}

/** Shares of the music entries: what is asked for, as far as the decks have tracks. */
export function musicShares(config: Config, decks: Decks, daypart?: Daypart): Share[] {
  const parts = weightsOf(config, opened(daypart, decks));
  const hard = Boolean(opened(daypart, decks)?.hard);
  const arabic = sizeOf('arabic_hits', decks) > 0;
  for (const [c, part] of Object.entries(parts)) {
    const kept = Math.min(1, sizeOf(c, decks) / fewestTracks);
    if (hard || c === 'arabic_hits' || part <= 0) continue;
    if (!arabic) parts[c] = kept > 0 ? part : 0;
    else {
      parts[c] = part * kept;
      parts.arabic_hits = (parts.arabic_hits ?? 0) + part * (1 - kept);
    }
  }
  if (!arabic) delete parts.arabic_hits;
  return whole(parts);
}

/** A deck that cannot give what is asked of it, and the one that gives it instead; empty where all others do. */
export interface Moved {
  category: string;
  tracks: number;
  to: string;
}

/** The decks whose share goes to others, all of it or a part: those that are empty first. */
export function movedShares(config: Config, decks: Decks, daypart?: Daypart): Moved[] {
  const moved: Moved[] = [];
  if (daypart?.hard && !opened(daypart, decks)) moved.push({ category: daypart.hard, tracks: 0, to: '' });
  const arabic = sizeOf('arabic_hits', decks) > 0;
  if (opened(daypart, decks)?.hard) return moved;
  for (const [category, part] of Object.entries(weightsOf(config, opened(daypart, decks)))) {
    const tracks = sizeOf(category, decks);
    if (part <= 0 || moved.some((other) => other.category === category)) continue;
    if (category === 'arabic_hits' ? tracks === 0 : tracks === 0 || (arabic && tracks < fewestTracks)) moved.push({ category, tracks, to: arabic ? 'arabic_hits' : '' });
  }
  return moved.sort((a, b) => a.tracks - b.tracks);
}

// The pace of a rotation without a clock, as the planner lays 120 entries out.
const entries = 120;
const breaks = 25;
const musicEntries = 69;
const newsEvery = 22;

/** Shares of an hour's time where no clock is set. */
export function hourShares(config: Config, decks: Decks, daypart?: Daypart): Share[] {
  const { SIG_JINGLE_MIN_SLOTS: least, SIG_JINGLE_MAX_SLOTS: most } = config.ROTATION;
  const counts: Record<string, number> = {};
  for (const { category, part } of musicShares(config, decks, daypart)) counts[category] = part * musicEntries;
  counts.news = entries / newsEvery;
  counts.ads = config.AD_EVERY > 0 ? entries / config.AD_EVERY : 0;
  counts.jingles = breaks / Math.max(1, (least + most) / 2);
  counts.sfx = breaks * config.STOCHASTIC_SFX_CHANCE;
  counts.sweepers = Math.max(0, entries - musicEntries - counts.news - counts.ads - counts.jingles - counts.sfx);
  for (const [category, n] of Object.entries(counts)) counts[category] = sizeOf(category, decks) > 0 ? n * meanMs(category, decks) : 0;
  return whole(counts);
}

/** Mean length of a music entry under the mix. */
export function meanMusicMs(config: Config, decks: Decks, daypart?: Daypart): number {
  const shares = musicShares(config, decks, daypart);
  return shares.reduce((sum, { category, part }) => sum + part * meanMs(category, decks), 0) || meanMs('arabic_hits', decks);
}

/** The split with one category at a share of the whole; the others keep their proportions in the rest. */
export function withShare(split: Readonly<Record<string, number>>, category: string, share: number): Record<string, number> {
  const others = splitCategories.filter((c) => c !== category);
  const sum = others.reduce((total, c) => total + Math.max(0, split[c] ?? 0), 0);
  const out: Record<string, number> = { [category]: tidy(share) };
  for (const c of others) out[c] = tidy((1 - share) * (sum > 0 ? Math.max(0, split[c] ?? 0) / sum : 1 / others.length));
  return out;
}

const tidy = (n: number) => Math.round(n * 10_000) / 10_000;
