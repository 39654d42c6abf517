import type { Episode } from './answers';
import { sound, type Of } from './sound.svelte';

/** What the lock screen, the headset and the keyboard's media keys see of an episode, and do. */

const actions: Partial<Record<MediaSessionAction, (details: MediaSessionActionDetails) => void>> = {
  play: () => sound.resume(),
  pause: () => sound.pause(),
  stop: () => sound.close(),
  seekbackward: ({ seekOffset }) => sound.skip(-(seekOffset ?? 15)),
  seekforward: ({ seekOffset }) => sound.skip(seekOffset ?? 30),
  seekto: ({ seekTime }) => seekTime !== undefined && sound.seek(seekTime),
};

function handle(action: MediaSessionAction, heed: ((details: MediaSessionActionDetails) => void) | null): void {
  try {
    navigator.mediaSession.setActionHandler(action, heed);
  } catch {
    // a browser that does not know this key
  }
}

/** Takes the keys; the returned function gives them back. */
export function takeKeys(): () => void {
  if (!('mediaSession' in navigator)) return () => undefined;
  const all = Object.entries(actions) as [MediaSessionAction, (details: MediaSessionActionDetails) => void][];
  for (const [action, heed] of all) handle(action, heed);
  return () => {
    for (const [action] of all) handle(action, null);
    takeSteps(false);
    navigator.mediaSession.metadata = null;
    navigator.mediaSession.playbackState = 'none';
    navigator.mediaSession.setPositionState?.();
  };
}

/** The keys of the next and the last song go from chapter to chapter. */
export function takeSteps(chapters: boolean): void {
  if (!('mediaSession' in navigator)) return;
  handle('nexttrack', chapters ? () => sound.step(1) : null);
  handle('previoustrack', chapters ? () => sound.step(-1) : null);
}

export function showEpisode(episode: Episode, show: Of, chapter: number): void {
  if (!('mediaSession' in navigator)) return;
  const here = episode.chapters[chapter];
  const artwork = [{ src: new URL(episode.cover || show.cover, location.origin).href }];
  const heard = here ? [here.title, here.artist].filter(Boolean).join(' – ') : episode.creator || episode.artist;
  const what = {
    title: episode.title,
    artist: heard || show.title,
    album: show.title,
    artwork,
    chapterInfo: episode.chapters.map(({ startMs, title }) => ({ title, startTime: startMs / 1000, artwork: [] })),
  };
  navigator.mediaSession.metadata = new MediaMetadata(what);
}

export function showPlace(playing: boolean, at: number, length: number, speed: number): void {
  if (!('mediaSession' in navigator)) return;
  navigator.mediaSession.playbackState = playing ? 'playing' : 'paused';
  if (!(length > 0)) return;
  try {
    navigator.mediaSession.setPositionState?.({ duration: length, position: Math.min(at, length), playbackRate: speed });
  } catch {
    // a place that the browser does not take
  }
}
