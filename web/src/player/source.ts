import type { PlayerEvent, Transport } from './machine';

/** One loaded source of sound. */
export interface Source {
  /** The moment of the programme now heard, epoch ms of the station's clock; null where unknown. */
  moment(): number | null;
  /** Goes on with another rendition; false where the source has to be loaded anew for that. */
  choose(wish: Wish): boolean;
  /** Stops loading. Nothing is told afterwards. */
  close(): void;
}

/** The rendition that a listener wants, and all there are, in kbit/s. */
export interface Wish {
  kbps: number;
  renditions: readonly number[];
}

export type Tell = (event: PlayerEvent) => void;

export const urls = { hls: '/hls/main/index.m3u8', native: '/hls/main/index.m3u8', stream: '/stream' } as const;

/**
 * What this browser can play, best first. The plain stream is always the last resort. Safari plays HLS itself
 * wherever it runs: what Media Source Extensions play cannot be sent over AirPlay.
 */
export function transportsOf(audio: Pick<HTMLAudioElement, 'canPlayType'>): Transport[] {
  if ('webkitShowPlaybackTargetPicker' in audio && audio.canPlayType('application/vnd.apple.mpegurl')) return ['native', 'stream'];
  const source = (globalThis as { MediaSource?: { isTypeSupported?(type: string): boolean } }).MediaSource;
  if (source?.isTypeSupported?.('audio/mp4; codecs="mp4a.40.2"')) return ['hls', 'stream'];
  if (audio.canPlayType('application/vnd.apple.mpegurl')) return ['native', 'stream'];
  return ['stream'];
}

/** Plays a URL with the audio element alone: the browser's own HLS, or the plain stream. */
export function playDirect(audio: HTMLAudioElement, transport: Transport, now: () => number, { kbps }: Wish): Source {
  const chosen = kbps > 0 ? `?quality=${kbps}` : ''; // no player of a browser lets us choose
  audio.src = transport === 'stream' ? `${urls.stream}?${Date.now()}` : `${urls.native}${chosen}`;
  return {
    moment: () => (transport === 'stream' ? streamMoment(audio, now()) : nativeMoment(audio)),
    choose: () => transport === 'stream',
    close: () => {
      audio.removeAttribute('src');
      audio.load();
    },
  };
}

function nativeMoment(audio: HTMLAudioElement): number | null {
  const start = (audio as { getStartDate?(): Date }).getStartDate?.().getTime();
  return start && Number.isFinite(start) ? start + audio.currentTime * 1000 : null;
}

/** A plain stream carries no dates; what is buffered ahead is what the ear has still to hear. */
function streamMoment(audio: HTMLAudioElement, now: number): number | null {
  const last = audio.buffered.length - 1;
  return last < 0 ? null : now - Math.max(0, audio.buffered.end(last) - audio.currentTime) * 1000;
}
