/** Plays voice notes and listeners' posts, one at a time, and lets the radio step back meanwhile. */
class Speaker {
  /** What plays or is paused in its middle; empty for none. */
  current = $state('');
  playing = $state(false);
  /** 0 to 1. */
  at = $state(0);
  /** What could not be played; empty for nothing. */
  failed = $state('');
  /** Told when a voice begins and ends. */
  onTurn: (speaking: boolean) => void = () => undefined;

  readonly #audio = new Audio();
  #durationMs = 0;

  constructor() {
    this.#audio.preload = 'none';
    this.#audio.addEventListener('timeupdate', () => this.#look());
    this.#audio.addEventListener('play', () => this.#turn(true));
    this.#audio.addEventListener('pause', () => this.#turn(false));
    this.#audio.addEventListener('ended', () => (this.at = 0));
    this.#audio.addEventListener('error', () => {
      this.failed = this.current;
      this.#turn(false);
    });
  }

  toggle(id: string, url: string, durationMs: number): void {
    if (this.current === id && this.playing) return this.#audio.pause();
    if (this.current !== id || this.failed) {
      this.failed = '';
      this.current = id;
      this.at = 0;
      this.#durationMs = durationMs;
      this.#audio.src = url;
    }
    this.#audio.play().catch(() => this.#turn(false));
  }

  /** Moves to a place in what plays, 0 to 1. */
  seek(at: number): void {
    this.#audio.currentTime = (at * this.#lengthMs()) / 1000;
    this.at = at;
  }

  stop(id: string): void {
    if (this.current !== id) return;
    this.#audio.pause();
    this.current = '';
  }

  /** Recorders write no length into their files: the station measured it. */
  #lengthMs(): number {
    const own = this.#audio.duration * 1000;
    return Number.isFinite(own) && own > 0 ? own : this.#durationMs;
  }

  #look(): void {
    const length = this.#lengthMs();
    this.at = length > 0 ? Math.min(1, (this.#audio.currentTime * 1000) / length) : 0;
  }

  #turn(playing: boolean): void {
    this.playing = playing;
    this.onTurn(playing);
  }
}

export const speaker = new Speaker();
