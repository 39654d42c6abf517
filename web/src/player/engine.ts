import type { Transport } from './machine';
import { playDirect, urls, type Source, type Tell, type Wish } from './source';

/** The source is lost after this long without a first sound, or without further sound. */
const firstSoundMs = 15_000;
const silenceMs = 8_000;
/** Ticks come every second; a longer gap means the device slept and the programme moved on. */
const sleptMs = 25_000;
const steadyMs = 20_000;

/**
 * Carries out the player's effects on one audio element and tells what the
 * element does. It judges sound by the advance of the element's clock, not by
 * the element's word for it, and decides nothing itself.
 */
export class Engine {
  readonly #audio: HTMLAudioElement;
  readonly #tell: Tell;
  readonly #now: () => number;
  #source: Source | null = null;
  #load = 0;
  #ticker: ReturnType<typeof setInterval> | undefined;

  constructor(audio: HTMLAudioElement, tell: Tell, now: () => number) {
    this.#audio = audio;
    this.#tell = tell;
    this.#now = now;
    audio.addEventListener('waiting', () => this.#source && tell('dry'));
    audio.addEventListener('ended', () => this.#source && tell('lost'));
    audio.addEventListener('error', () => this.#source && !this.#hls && tell('lost')); // hls.js judges its own
    audio.addEventListener('pause', () => this.#source && audio.paused && tell('pause')); // headset out, a call
  }

  #hls = false;
  #transport: Transport | null = null;
  #wish: Wish = { kbps: 0, renditions: [] };

  /** Loads a transport in place of whatever was loaded, and plays it. */
  load(transport: Transport): void {
    this.unload();
    const load = ++this.#load;
    this.#hls = transport === 'hls';
    this.#transport = transport;
    const tell: Tell = (event) => load === this.#load && this.#tell(event);
    if (transport === 'hls') {
      void import('./hls').then(
        ({ playHls }) => {
          if (load !== this.#load) return;
          this.#source = playHls(this.#audio, urls.hls, tell, this.#wish);
          this.#play(tell);
        },
        () => tell('lost'),
      );
    } else {
      this.#source = playDirect(this.#audio, transport, this.#now, this.#wish);
      this.#play(tell);
    }
    this.#watch(tell);
  }

  /** Plays another rendition from now on. Called with the one that plays, as at all that the station tells, it leaves the sound alone. */
  choose(wish: Wish): void {
    const same = wish.kbps === this.#wish.kbps;
    this.#wish = wish;
    if (same) return;
    if (this.#source?.choose(wish) === false && this.#transport) this.load(this.#transport);
  }

  unload(): void {
    this.#load++;
    clearInterval(this.#ticker);
    const source = this.#source;
    this.#source = null;
    this.#audio.pause();
    source?.close();
  }

  /** The moment of the programme now heard, where the source knows it. */
  moment(): number | null {
    return this.#source?.moment() ?? null;
  }

  #play(tell: Tell): void {
    this.#audio.play().catch((err: DOMException) => {
      if (err.name === 'NotAllowedError') tell('blocked');
      // AbortError: unloaded meanwhile. NotSupportedError: the error event tells it.
    });
  }

  #watch(tell: Tell): void {
    let position = this.#audio.currentTime;
    let movedAt = Date.now();
    let tickedAt = movedAt;
    let soundSince = 0;
    this.#ticker = setInterval(() => {
      const at = Date.now();
      const slept = at - tickedAt > sleptMs;
      tickedAt = at;
      if (slept) return tell('lost');
      if (this.#audio.currentTime !== position && !this.#audio.paused) {
        position = this.#audio.currentTime;
        movedAt = at;
        soundSince ||= at;
        tell('sound');
        if (at - soundSince > steadyMs) tell('steady');
        return;
      }
      if (at - movedAt > (soundSince ? silenceMs : firstSoundMs)) tell('lost');
    }, 250);
  }
}

/** Fetches the HLS library ahead of the first play, when a finger or pointer comes near. */
export function warmUp(transport: Transport): void {
  if (transport === 'hls') void import('./hls').catch(() => undefined);
}
