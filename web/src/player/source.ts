import type { PlayerEvent, Transport } from './machine';

/** One loaded source of sound. */
export interface Source {
  /** The moment of the programme now heard, epoch ms of the station's clock; null where unknown. */
  moment(): number | null;
  /** Stops loading. Nothing is told afterwards. */
  close(): void;
}

export type Tell = (event: PlayerEvent) => void;

export const urls = { hls: '/hls/main/index.m3u8', native: '/hls/main/index.m3u8', stream: '/stream' } as const;

/** What this browser can play, best first. The plain stream is always the last resort. */
export function transportsOf(audio: HTMLAudioElement): Transport[] {
  const source = (globalThis as { MediaSource?: { isTypeSupported?(type: string): boolean } }).MediaSource;
  if (source?.isTypeSupported?.('audio/mp4; codecs="mp4a.40.2"')) return ['hls', 'stream'];
  if (audio.canPlayType('application/vnd.apple.mpegurl')) return ['native', 'stream'];
  return ['stream'];
}

/** Plays a URL with the audio element alone: the browser's own HLS, or the plain stream. */
export function playDirect(audio: HTMLAudioElement, transport: Transport, now: () => number): Source {
  audio.src = transport === 'stream' ? `${urls.stream}?${Date.now()}` : urls.native;
  return {
    moment: () => (transport === 'stream' ? streamMoment(audio, now()) : nativeMoment(audio)),
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
