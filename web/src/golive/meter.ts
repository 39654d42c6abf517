/** Judges the level of the microphone: is it silent, does it clip. Times are milliseconds of a steady clock. */
export class Watch {
  #heardAt: number | null = null;
  #clips: number[] = [];

  /** After so long below floorDbfs a microphone is called silent: a breath and a page that is turned are shorter. */
  static readonly silentAfterMs = 5000;
  static readonly floorDbfs = -60;
  /** A sample this high has met the ceiling of the converter. */
  static readonly clipsAt = 0.985;
  /** One clip is a knock; three looks with clips within three seconds are a level that is too high. */
  static readonly clipMs = 3000;

  /** Takes the highest sample since the last look, 0 to 1. */
  take(peak: number, now: number): void {
    this.#heardAt ??= now;
    if (dbfs(peak) > Watch.floorDbfs) this.#heardAt = now;
    this.#clips = this.#clips.filter((at) => now - at < Watch.clipMs);
    if (peak >= Watch.clipsAt) this.#clips.push(now);
  }

  silent(now: number): boolean {
    return this.#heardAt !== null && now - this.#heardAt >= Watch.silentAfterMs;
  }

  get clips(): boolean {
    return this.#clips.length >= 3;
  }

  /** Begins again, after a time in which nothing should be heard. */
  forget(): void {
    this.#heardAt = null;
    this.#clips = [];
  }
}

/** A sample value as dBFS, no lower than -100. */
export function dbfs(sample: number): number {
  return sample > 1e-5 ? 20 * Math.log10(sample) : -100;
}

/** Where a level stands on the meter, 0 to 1: from -54 dBFS up, as much room for each decibel. */
export function place(level: number): number {
  return Math.min(1, Math.max(0, (level + 54) / 54));
}

/** Reads a microphone's level some twenty times a second, and lets it be heard in headphones. */
export class Meter {
  readonly #context = new AudioContext();
  readonly #analyser = this.#context.createAnalyser();
  readonly #ear = this.#context.createGain();
  readonly #wave: Float32Array<ArrayBuffer>;
  readonly #ticker: ReturnType<typeof setInterval>;
  #source: MediaStreamAudioSourceNode;

  constructor(stream: MediaStream, tell: (peak: number) => void) {
    this.#analyser.fftSize = 4096; // 85 ms: longer than from one look to the next, so that no peak is missed
    this.#wave = new Float32Array(this.#analyser.fftSize);
    this.#ear.gain.value = 0;
    this.#ear.connect(this.#context.destination);
    this.#source = this.#take(stream);
    this.#ticker = setInterval(() => {
      if (this.#context.state !== 'running') return void this.#context.resume().catch(() => undefined); // after a call, or while the page was away
      this.#analyser.getFloatTimeDomainData(this.#wave);
      let peak = 0;
      for (const x of this.#wave) peak = Math.max(peak, Math.abs(x));
      tell(peak);
    }, 50);
  }

  /** Listens to another microphone. */
  turnTo(stream: MediaStream): void {
    this.#source.disconnect();
    this.#source = this.#take(stream);
  }

  monitor(on: boolean): void {
    this.#ear.gain.value = on ? 1 : 0;
  }

  close(): void {
    clearInterval(this.#ticker);
    this.#source.disconnect();
    void this.#context.close();
  }

  #take(stream: MediaStream): MediaStreamAudioSourceNode {
    const source = this.#context.createMediaStreamSource(stream);
    source.connect(this.#analyser);
    source.connect(this.#ear);
    return source;
  }
}
