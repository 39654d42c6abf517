import type { AirState, Item, Played, Status } from './api';

/**
 * What the listener hears runs behind what the station plays: HLS by some
 * seconds, a plain stream by its buffer. The ear keeps the recent changes of
 * track with their start times and answers what was on at a given moment of
 * the programme.
 */
export type Ear = readonly Played[];

const depth = 24;

/** Adds what a status says to the ear's memory: oldest first, one entry per start. */
export function remember(ear: Ear, status: Status): Ear {
  const seen = new Map<string, Played>();
  const post = status.nowPlaying?.post;
  const now = status.track && post && status.nowPlaying?.file === status.track.file ? { ...status.track, post } : status.track;
  const played = [...ear, ...(status.history ?? []), ...(now ? [now] : [])];
  for (const track of played) {
    const key = `${track.startedAt} ${track.file}`;
    // The history does not say that a track is a listener's post.
    if (track.startedAt > 0) seen.set(key, { ...seen.get(key), ...track });
  }
  return [...seen.values()].sort((a, b) => a.startedAt - b.startedAt).slice(-depth);
}

/** The track that was on at the moment (epoch ms, station's clock), or the oldest known. */
export function heardAt(ear: Ear, moment: number): Played | null {
  return ear.findLast((track) => track.startedAt <= moment) ?? ear[0] ?? null;
}

/** What the station does from a moment of the programme on: songs, a live broadcast, silence. */
export interface Air {
  from: number;
  state: AirState;
  nowPlaying: Status['nowPlaying'];
}

/** Adds a change to the list, oldest first; a repeated state is no change. */
export function turned(airs: readonly Air[], air: Air): readonly Air[] {
  const last = airs.findLast(({ from }) => from <= air.from);
  if (last && last.state === air.state && (air.state !== 'live' || same(last, air))) return airs;
  return [...airs.filter(({ from }) => from !== air.from), air].sort((a, b) => a.from - b.from).slice(-depth);
}

function same(a: Air, b: Air): boolean {
  return a.nowPlaying?.title === b.nowPlaying?.title && a.nowPlaying?.artist === b.nowPlaying?.artist;
}

/** The state at a moment of the programme, or the oldest known one; null where none is known. */
export function airAt(airs: readonly Air[], moment: number): Air | null {
  return airs.findLast(({ from }) => from <= moment) ?? airs[0] ?? null;
}

/** Imaging is short and nameless; the listener's page shows what surrounds it instead. */
export function isImaging(item: Pick<Item, 'type' | 'category'>): boolean {
  return ['jingles', 'sweepers', 'sfx'].includes(item.category || item.type);
}

/** Songs and their like: everything a listener would call a track. */
export function isMusic(item: Pick<Item, 'type' | 'category'>): boolean {
  return !isImaging(item) && !['ads', 'news'].includes(item.category || item.type);
}
