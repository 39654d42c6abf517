import type { Item, Played, Status } from './api';

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
  const played = [...ear, ...(status.history ?? []), ...(status.track ? [status.track] : [])];
  for (const track of played) {
    if (track.startedAt > 0) seen.set(`${track.startedAt} ${track.file}`, track);
  }
  return [...seen.values()].sort((a, b) => a.startedAt - b.startedAt).slice(-depth);
}

/** The track that was on at the moment (epoch ms, station's clock), or the oldest known. */
export function heardAt(ear: Ear, moment: number): Played | null {
  return ear.findLast((track) => track.startedAt <= moment) ?? ear[0] ?? null;
}

/** Imaging is short and nameless; the listener's page shows what surrounds it instead. */
export function isImaging(item: Pick<Item, 'type' | 'category'>): boolean {
  return ['jingles', 'sweepers', 'sfx'].includes(item.category || item.type);
}

/** Songs and their like: everything a listener would call a track. */
export function isMusic(item: Pick<Item, 'type' | 'category'>): boolean {
  return !isImaging(item) && !['ads', 'news'].includes(item.category || item.type);
}
