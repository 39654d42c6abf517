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
  /** Id of the real cover; empty where there is none. */
  cover: string;
  license: string;
  startedAt: number;
  durationMs: number;
  /** The listener's post that it is. */
  post: { id: number; by: string } | null;
  kind: Kind;
  /** In addresses, /track/{id}; empty of what is no song, and where the station names none. */
  id: string;
  /** Whether its words can be asked for. */
  lyrics: boolean;
}

/** song: all that a listener would call a track. rest: the station's name, or what stands in for music. */
export type Kind = 'song' | 'ad' | 'news' | 'imaging' | 'live' | 'rest';

/** How much of a library that is taken in for the first time is ready. */
export function beginning(status: Status, words: Words, language: Language): string {
  const { ready = 0, unready = 0 } = status.library;
  return ready + unready > 0 ? words.beginning.count(count(ready, language), count(ready + unready, language)) : '';
}

/** The title of a track that somebody gave it; empty where it is only the file's name. */
function titled({ title, file }: Played): string {
  const base = file.replace(/^.*\//, '').replace(/\.[^.]*$/, '');
  const bare = (text: string) => plain(text.replace(/[_-]+/g, ' ')).toLowerCase();
  return bare(title) === bare(base) ? '' : plain(title);
}

/** Words for what is on: the track at the ear, or what the station does instead of tracks. called: the station's name in this language. */
export function describe(status: Status | null, track: Played | null, words: Words, language: Language, called = ''): Heard {
  const name = called || plain(status?.station.name ?? '') || words.appName;
  const nothing: Heard = { title: name, artist: '', singer: '', seed: name, cover: '', license: '', startedAt: 0, durationMs: 0, post: null, kind: 'rest', id: '', lyrics: false };
  if (!status) return nothing;
  if (status.state === 'live') {
    const { title = '', artist = '' } = status.nowPlaying ?? {};
    return { ...nothing, kind: 'live', title: plain(title) || words.live, artist: plain(artist), seed: title + artist + name };
  }
  if (status.reason === 'empty_library') return { ...nothing, title: words.emptyTitle, artist: name };
  if (status.reason === 'beginning') return { ...nothing, title: words.beginning.title, artist: beginning(status, words, language) };
  if (status.state !== 'music' || !track) return nothing;
  const timed = { license: plain(track.license ?? ''), startedAt: track.startedAt, durationMs: track.durationMs, post: track.post ? { id: track.post.id, by: plain(track.post.by) } : null };
  const imaging = isImaging(track);
  if (imaging && !timed.post) return { ...nothing, ...timed, kind: 'imaging', title: words.quietTitle, artist: name };
  if (track.category === 'news') return { ...nothing, ...timed, kind: 'news', title: words.nextNews, artist: name };
  if (track.category === 'ads') return { ...nothing, ...timed, kind: 'ad', title: titled(track) || words.adTitle };
  return {
    ...timed,
    kind: 'song',
    id: imaging ? '' : (track.id ?? ''),
    lyrics: track.lyrics ?? false,
    title: plain(track.title) || words.category[track.category] || name,
    artist: plain(track.artist),
    singer: imaging ? '' : plain(track.artist), // the voice of a greeting is nobody to follow
    seed: track.artist + track.title || track.file,
    cover: track.cover ?? '',
  };
}
