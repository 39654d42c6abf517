import Hls, { type ErrorData, type LoaderCallbacks, type LoaderConfiguration, type PlaylistLoaderConstructor, type PlaylistLoaderContext } from 'hls.js/light';
import { renumbering } from './renumber';
import { playlistOf } from './quality';
import type { Source, Tell, Wish } from './source';

/**
 * HLS through hls.js. Short outages are ridden out on the buffer: while there
 * is sound left to play, loading is started again every second; only when it
 * runs out is the source given up as lost.
 */
export function playHls(audio: HTMLAudioElement, url: string, tell: Tell, wish: Wish): Source {
  if (!Hls.isSupported()) {
    queueMicrotask(() => tell('unplayable'));
    return { moment: () => null, choose: () => true, close: () => undefined };
  }
  const patience = (seconds: number, retries: number) => ({
    default: {
      maxTimeToFirstByteMs: seconds * 1000,
      maxLoadTimeMs: seconds * 2000,
      timeoutRetry: { maxNumRetry: retries, retryDelayMs: 0, maxRetryDelayMs: 0 },
      errorRetry: { maxNumRetry: retries, retryDelayMs: 500, maxRetryDelayMs: 2000 },
    },
  });
  const hls = new Hls({
    enableWorker: false, // the content security policy allows no blob: scripts, and audio needs none
    lowLatencyMode: false, // the relay refuses _HLS_msn
    backBufferLength: 15,
    maxBufferLength: 30,
    liveSyncDurationCount: 4, // the relay keeps seven segments of a second or so
    liveMaxLatencyDurationCount: 12,
    pLoader: renumberedLoader(),
    manifestLoadPolicy: patience(6, 1),
    playlistLoadPolicy: patience(6, 2),
    fragLoadPolicy: patience(8, 3),
  });

  let recoveredAt = 0;
  let again: ReturnType<typeof setTimeout> | undefined;

  function failed(_event: unknown, data: ErrorData): void {
    if (!data.fatal) return;
    if (data.type === Hls.ErrorTypes.NETWORK_ERROR) return networkFailed(data);
    if (data.type === Hls.ErrorTypes.MEDIA_ERROR && data.details !== Hls.ErrorDetails.MANIFEST_INCOMPATIBLE_CODECS_ERROR) {
      if (Date.now() - recoveredAt < 10_000) return tell('lost');
      recoveredAt = Date.now();
      hls.recoverMediaError();
      void audio.play().catch(() => undefined); // attaching anew pauses the element
      return;
    }
    tell('unplayable');
  }

  function networkFailed(data: ErrorData): void {
    const status = data.response?.code ?? 0;
    const manifest = data.details.startsWith('manifest');
    // 401 is an ended session: only loading the first playlist again opens a new one.
    if (manifest || status === 401 || status === 403 || bufferedAhead(audio) < 1) return tell('lost');
    clearTimeout(again);
    again = setTimeout(() => hls.startLoad(), 1000);
  }

  /** The place of a rendition among the levels; -1, which lets hls.js choose, where it is not there. */
  const level = ({ kbps, renditions }: Wish) => (kbps > 0 ? hls.levels.findIndex(({ url }) => url.some((one) => new URL(one).pathname.endsWith(`/${playlistOf(kbps, renditions)}`))) : -1);

  hls.on(Hls.Events.ERROR, failed);
  // Left alone it begins with the main rendition, which the list names first, and goes by what the line carries.
  hls.on(Hls.Events.MANIFEST_PARSED, () => {
    if (wish.kbps > 0) hls.loadLevel = level(wish);
  });
  hls.loadSource(url);
  hls.attachMedia(audio);
  return {
    moment: () => hls.playingDate?.getTime() ?? null,
    choose: (next) => {
      wish = next;
      if (hls.levels.length > 0) hls.nextLevel = level(wish); // what is in hand already of the former one is not played
      return true;
    },
    close: () => {
      clearTimeout(again);
      hls.destroy();
    },
  };
}

function bufferedAhead(audio: HTMLAudioElement): number {
  const last = audio.buffered.length - 1;
  return last < 0 ? 0 : audio.buffered.end(last) - audio.currentTime;
}

/** Loads playlists as hls.js does, and hands them on with discontinuities counted from the first (renumber.ts). */
function renumberedLoader(): PlaylistLoaderConstructor {
  const renumbered = renumbering();
  const Plain = Hls.DefaultConfig.loader;
  return class extends Plain {
    override load(context: PlaylistLoaderContext, config: LoaderConfiguration, callbacks: LoaderCallbacks<PlaylistLoaderContext>): void {
      const onSuccess: typeof callbacks.onSuccess = (response, ...rest) => {
        if (typeof response.data === 'string') response.data = renumbered(response.data);
        callbacks.onSuccess(response, ...rest);
      };
      super.load(context, config, { ...callbacks, onSuccess } as Parameters<InstanceType<typeof Plain>['load']>[2]);
    }
  } as PlaylistLoaderConstructor;
}
