import type { Words } from '../i18n/en';
import { isImaging } from '../station/ear';
import type { Played, Status } from '../station/api';
import { plain } from '../text/bidi';
import { count, type Language } from '../text/format';

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
  /** The listener's post that it is. */
  post: { id: number; by: string } | null;
}

/** How much of a library that is taken in for the first time is ready. */
export function beginning(status: Status, words: Words, language: Language): string {
  const { ready = 0, unready = 0 } = status.library;
  return ready + unready > 0 ? words.beginning.count(count(ready, language), count(ready + unready, language)) : '';
}

/** Words for what is on: the track at the ear, or what the station does instead of tracks. */
export function describe(status: Status | null, track: Played | null, words: Words, language: Language): Heard {
  const name = plain(status?.station.name ?? '') || words.appName;
  const nothing: Heard = { title: name, artist: '', singer: '', seed: name, license: '', startedAt: 0, durationMs: 0, post: null };
  if (!status) return nothing;
  if (status.state === 'live') {
    const { title = '', artist = '' } = status.nowPlaying ?? {};
    return { ...nothing, title: plain(title) || words.live, artist: plain(artist), seed: title + artist + name };
  }
  if (status.reason === 'empty_library') return { ...nothing, title: words.emptyTitle, artist: name };
  if (status.reason === 'beginning') return { ...nothing, title: words.beginning.title, artist: beginning(status, words, language) };
  if (status.state !== 'music' || !track) return nothing;
  const timed = { license: plain(track.license ?? ''), startedAt: track.startedAt, durationMs: track.durationMs, post: track.post ? { id: track.post.id, by: plain(track.post.by) } : null };
  const imaging = isImaging(track);
  if (imaging && !timed.post) return { ...nothing, ...timed, title: words.quietTitle, artist: name };
  if (track.category === 'news') return { ...nothing, ...timed, title: words.nextNews, artist: name };
  return {
    ...timed,
    title: plain(track.title) || words.category[track.category] || name,
    artist: plain(track.artist),
    singer: imaging ? '' : plain(track.artist), // the voice of a greeting is nobody to follow
    seed: track.artist + track.title || track.file,
  };
}
