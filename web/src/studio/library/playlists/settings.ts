import type { Problem } from '../../../station/control';
import type { Language } from '../../../text/format';
import { tidy } from '../query';
import type { Kind, Playlist, Said, Settings } from './answers';
import { tidyWindow } from './windows';

/** What was typed over a playlist's settings and not saved. */
export type Draft = Partial<Settings>;

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

/** A new playlist is one that plays nowhere yet: naming a clock's position is the most careful way. */
export function fresh(kind: Kind, name: string): Settings {
  return {
    name, note: '', kind, order: kind === 'hand' ? 'sequence' : 'turns', plays: 'clock', share: 30, everySongs: 4, minute: 0, when: [], on: true,
    ...(kind === 'smart' ? { query: {} } : kind === 'remote' ? { address: '', everyMinutes: 60 } : {}),
  };
}

/** A playlist with what the station leaves out: figures of other ways of playing, and empty texts. */
export function wholeOf(said: Said): Playlist {
  const { note, share, everySongs, minute } = fresh(said.kind, said.name);
  return { note, minute, ...said, share: said.share || share, everySongs: said.everySongs || everySongs, ...(said.kind === 'remote' ? { everyMinutes: said.everyMinutes || 60 } : {}) };
}

/** The settings alone, as they are sent; with a draft over them. Once from its beginning is in order. */
export function settingsOf(list: Settings, draft: Draft = {}): Settings {
  const { name, note, kind, query, address, everyMinutes, order, plays, share, everySongs, minute, when, on } = { ...list, ...draft };
  return {
    name, note, kind, order: plays === 'once' ? 'sequence' : order, plays, share, everySongs, minute, when: when.map(tidyWindow), on,
    ...(kind === 'smart' ? { query: tidy(query ?? {}) } : {}),
    ...(kind === 'remote' ? { address: address ?? '', everyMinutes: everyMinutes ?? 60 } : {}),
  };
}

/** Puts a value into the draft, which holds only what saving would change. */
export function drafted<F extends keyof Settings>(list: Playlist, draft: Draft, field: F, value: Settings[F]): Draft {
  const { [field]: _, ...rest } = draft;
  return same(value, list[field]) ? rest : { ...rest, [field]: value };
}

/** The draft over what the station says by now. */
export function keptOf(list: Playlist, draft: Draft): Draft {
  return Object.fromEntries(Object.entries(draft).filter(([field, value]) => !same(value, list[field as keyof Settings]))) as Draft;
}

/** What is wrong, by field: name, when[0].start. Where the station has Arabic words for a fault, those are said. */
export function faultsOf(problem: Problem, language: Language): Record<string, string> {
  const own = problem.reason?.[language];
  const { fields } = problem;
  if (fields.length === 0) return { '': own ?? problem.detail };
  return Object.fromEntries(fields.map(({ location, message, arabic }) => [location.replace(/^body\.?/, ''), (language === 'ar' && (arabic || (fields.length === 1 && own))) || message]));
}

/** A playlist file by its name. */
export const isPlaylistFile = (name: string): boolean => /\.(m3u8?|pls|xspf)$/i.test(name);

export const playlistFiles = '.m3u,.m3u8,.pls,.xspf';
export const mostFileBytes = 4 * 1024 * 1024;

/** Why a file cannot be read as a playlist; empty where it may. */
export function fileFault({ name, size }: { name: string; size: number }): '' | 'type' | 'large' | 'empty' {
  if (!isPlaylistFile(name)) return 'type';
  return size === 0 ? 'empty' : size > mostFileBytes ? 'large' : '';
}
