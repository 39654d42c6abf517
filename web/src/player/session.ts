import { coverOf, coverSVG } from '../look/cover';
import { coverSizes, coverURL } from '../look/picture';

/** What the lock screen, the headset and the keyboard's media keys see and do. */
export interface Shown {
  title: string;
  artist: string;
  album: string;
  /** Seeds the cover. */
  seed: string;
  /** Id of the real cover, which comes before one that is painted; empty where there is none. */
  cover: string;
}

export function listenToKeys(play: () => void, pause: () => void): void {
  if (!('mediaSession' in navigator)) return;
  navigator.mediaSession.setActionHandler('play', play);
  navigator.mediaSession.setActionHandler('pause', pause);
  navigator.mediaSession.setActionHandler('stop', pause);
}

export function showPlaying(playing: boolean): void {
  if ('mediaSession' in navigator) navigator.mediaSession.playbackState = playing ? 'playing' : 'paused';
}

let drawn = '';
let latest = '';

/** Shows the names at once, and the cover as soon as it is painted. */
export function showNames(shown: Shown): void {
  if (!('mediaSession' in navigator)) return;
  const { seed, cover, ...names } = shown;
  // Every look at the station comes through here: the same names again must
  // not take the cover away, nor begin painting anew.
  const key = JSON.stringify(shown);
  if (key === latest) return;
  latest = key;
  navigator.mediaSession.metadata = new MediaMetadata(cover ? { ...names, artwork: artworkOf(cover) } : names);
  if (cover) return;
  void paint(seed).then((src) => {
    if (key !== latest || !src) return;
    if (drawn) URL.revokeObjectURL(drawn);
    drawn = src;
    navigator.mediaSession.metadata = new MediaMetadata({
      ...names,
      artwork: [{ src, sizes: '512x512', type: 'image/png' }],
    });
  });
}

/** What shows the artwork may be another program than the browser: it wants whole addresses. */
function artworkOf(cover: string): MediaImage[] {
  return coverSizes.map((size) => ({ src: new URL(coverURL(cover, size), location.origin).href, sizes: `${size}x${size}`, type: 'image/jpeg' }));
}

/** Lock screens want a bitmap: the drawn cover as a PNG, or null where it cannot be painted. */
async function paint(seed: string): Promise<string | null> {
  const vector = URL.createObjectURL(new Blob([coverSVG(coverOf(seed), 512)], { type: 'image/svg+xml' }));
  try {
    const image = new Image(512, 512);
    image.src = vector;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = 512;
    canvas.getContext('2d')?.drawImage(image, 0, 0, 512, 512);
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png'));
    return blob && URL.createObjectURL(blob);
  } catch {
    return null;
  } finally {
    URL.revokeObjectURL(vector);
  }
}
