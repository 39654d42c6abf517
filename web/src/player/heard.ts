import type { Words } from '../i18n/en';
import { isImaging } from '../station/ear';
import type { Played, Status } from '../station/api';
import { plain } from '../text/bidi';

/** What the page names as heard now. */
export interface Heard {
  title: string;
  artist: string;
  /** The artist alone, where one is named; empty where the line says something else. */
  singer: string;
  seed: string;
  license: string;
  startedAt: number;
  durationMs: number;
}

/** Words for what is on: the track at the ear, or what the station does instead of tracks. */
export function describe(status: Status | null, track: Played | null, words: Words): Heard {
  const name = plain(status?.station.name ?? '') || words.appName;
  const nothing: Heard = { title: name, artist: '', singer: '', seed: name, license: '', startedAt: 0, durationMs: 0 };
  if (!status) return nothing;
  if (status.state === 'live') {
    const { title = '', artist = '' } = status.nowPlaying ?? {};
    return { ...nothing, title: plain(title) || words.live, artist: plain(artist), seed: title + artist + name };
  }
  if (status.reason === 'empty_library') return { ...nothing, title: words.emptyTitle, artist: name };
  if (status.state !== 'music' || !track) return nothing;
  const timed = { license: plain(track.license ?? ''), startedAt: track.startedAt, durationMs: track.durationMs };
  if (isImaging(track)) return { ...nothing, ...timed, title: words.quietTitle, artist: name };
  if (track.category === 'news') return { ...nothing, ...timed, title: words.nextNews, artist: name };
  return {
    ...timed,
    title: plain(track.title) || words.category[track.category] || name,
    artist: plain(track.artist),
    singer: plain(track.artist),
    seed: track.artist + track.title || track.file,
  };
}
