/** How the sound stands: nothing is wanted, it is on its way, it is heard, it has stopped and is tried again. */
export type Sound = 'idle' | 'opening' | 'playing' | 'lost';

const firstSoundMs = 15_000;
const silenceMs = 8_000;
const pauses = [1000, 2000, 4000, 8000, 15_000];

/**
 * The station's sound by the audio element alone: HLS where the browser itself plays it, else the plain
 * stream. In a frame of another site no cookie is kept; the relay then puts its session into the addresses.
 */
export class Radio {
  state: Sound = 'idle';
  readonly #audio: HTMLAudioElement;
  readonly #changed: (state: Sound) => void;
  readonly #ways: readonly string[];
  #way = 0;
  #tries = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(audio: HTMLAudioElement, changed: (state: Sound) => void) {
    this.#audio = audio;
    this.#changed = changed;
    this.#ways = audio.canPlayType('application/vnd.apple.mpegurl') ? ['/hls/main/index.m3u8', '/stream'] : ['/stream'];
    audio.addEventListener('timeupdate', () => this.#sounds());
    audio.addEventListener('error', () => this.#lost());
    audio.addEventListener('ended', () => this.#lost());
    audio.addEventListener('pause', () => audio.paused && this.state === 'playing' && this.stop()); // headset out, a call
    window.addEventListener('online', () => this.state === 'lost' && this.#load());
  }

  play(): void {
    this.#tries = 0;
    this.#load();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#turn('idle');
    this.#audio.pause();
    this.#audio.removeAttribute('src');
    this.#audio.load();
  }

  toggle(): void {
    if (this.state === 'idle') this.play();
    else this.stop();
  }

  #load(): void {
    clearTimeout(this.#timer);
    this.#turn(this.#tries > 0 ? 'lost' : 'opening');
    const way = this.#ways[this.#way % this.#ways.length] as string;
    this.#audio.src = way === '/stream' ? `${way}?${Date.now()}` : way; // no copy of an earlier hour
    this.#audio.play().catch((failure: DOMException) => failure.name === 'NotAllowedError' && this.stop());
    this.#timer = setTimeout(() => this.#lost(), firstSoundMs);
  }

  #sounds(): void {
    if (this.state === 'idle' || this.#audio.currentTime === 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#lost(), silenceMs);
    this.#tries = 0;
    this.#turn('playing');
  }

  #lost(): void {
    if (this.state === 'idle') return;
    clearTimeout(this.#timer);
    if (this.state !== 'playing') this.#way++; // what plays is tried again the same way
    const pause = pauses[Math.min(this.#tries++, pauses.length - 1)] as number;
    this.#turn('lost');
    this.#timer = setTimeout(() => this.#load(), pause * (0.5 + Math.random()));
  }

  #turn(state: Sound): void {
    if (this.state === state) return;
    this.state = state;
    this.#changed(state);
  }
}
