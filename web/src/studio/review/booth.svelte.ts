import type { Door } from '../door.svelte';
import { peaksIn } from './facts';

/** So many sounds are kept at once: what is heard, what it is compared with, and the next. */
const most = 3;
const patienceMs = 120_000;

/** What a sound looks like. */
export interface Shape {
  peaks: readonly number[];
  seconds: number;
}
/** Enough for the peaks, and little memory: four minutes are 8 MB. */
const shapeRate = 8000;
const shapeParts = 200;
const shapesKept = 20;

interface Sound {
  url: string;
  blob: Blob | null;
  ready: Promise<string>;
}

/**
 * Plays posts that only moderators may hear. The key travels as a header, which
 * an audio element cannot send: each sound is fetched whole and kept as a blob.
 */
export class Booth {
  /** The address of what is on the deck. */
  path = $state('');
  state = $state<'empty' | 'loading' | 'ready' | 'failed'>('empty');
  playing = $state(false);
  /** Seconds. */
  at = $state(0);
  length = $state(0);
  /** Of sounds whose waveform the station does not tell, by address. */
  shapes = $state.raw<ReadonlyMap<string, Shape>>(new Map());

  readonly #door: Door;
  readonly #audio = new Audio();
  /** In order of use, the latest last. */
  readonly #sounds = new Map<string, Sound>();
  #wanted = false;
  #from = 0;
  #fresh = true;
  #turn = 0;
  #frame = 0;

  constructor(door: Door) {
    this.#door = door;
    this.#audio.preload = 'auto';
    const audio = this.#audio;
    audio.addEventListener('play', () => ((this.playing = true), this.#follow()));
    audio.addEventListener('pause', () => (this.playing = false));
    audio.addEventListener('seeked', () => (this.at = audio.currentTime));
    audio.addEventListener('durationchange', () => (this.length = Number.isFinite(audio.duration) ? audio.duration : 0));
    audio.addEventListener('error', () => audio.src && (this.state = 'failed'));
  }

  /** Puts a sound on the deck; play begins at once where it is wanted. */
  async put(path: string, { play, fromMs }: { play: boolean; fromMs: number }): Promise<void> {
    const turn = ++this.#turn;
    this.#audio.pause();
    [this.path, this.state, this.at, this.length] = [path, path ? 'loading' : 'empty', 0, 0];
    [this.#wanted, this.#from, this.#fresh] = [play, fromMs / 1000, true];
    if (!path) return;
    try {
      const url = await this.#fetch(path);
      if (turn !== this.#turn) return;
      this.#audio.src = url;
      this.state = 'ready';
      this.#tidy();
      if (this.#wanted) this.#begin(this.#from);
    } catch {
      if (turn === this.#turn) this.state = 'failed';
    }
  }

  /** Fetches a sound that will soon be wanted. */
  expect(path: string): void {
    if (path) void this.#fetch(path).then(() => this.#tidy(), () => undefined);
  }

  /** Looks at a sound that is compared with another; what cannot be decoded has no shape. */
  async shape(path: string): Promise<void> {
    if (this.shapes.has(path)) return;
    try {
      await this.#fetch(path);
      const bytes = await this.#sounds.get(path)?.blob?.arrayBuffer();
      this.#tidy();
      if (!bytes) return;
      const sound = await new OfflineAudioContext(1, 1, shapeRate).decodeAudioData(bytes);
      const shape = { peaks: peaksIn(sound.getChannelData(0), shapeParts), seconds: sound.duration };
      this.shapes = new Map([...this.shapes, [path, shape] as const].slice(-shapesKept));
    } catch {
      // it can be heard all the same, or the deck says that it cannot
    }
  }

  /** Plays or pauses; the first time from the place given to put. */
  toggle(): void {
    if (this.state === 'loading') this.#wanted = !this.#wanted;
    else if (this.state === 'failed') void this.put(this.path, { play: true, fromMs: this.#from * 1000 });
    else if (this.playing) this.#audio.pause();
    else if (this.state === 'ready') this.#begin(this.#fresh ? this.#from : this.#audio.currentTime);
  }

  /** Plays from a second on. */
  playFrom(second: number): void {
    this.#from = second;
    if (this.state === 'ready') this.#begin(second);
    else this.#wanted = true;
  }

  seek(second: number): void {
    this.#from = Math.max(0, second);
    this.#fresh = false;
    if (this.state !== 'ready') return;
    this.#audio.currentTime = Math.min(this.#from, Math.max(0, (this.length || Infinity) - 0.05));
    this.at = this.#audio.currentTime;
  }

  skip(seconds: number): void {
    this.seek(this.at + seconds);
  }

  /** Goes on with another sound at the same place. */
  swap(path: string): void {
    const [play, at] = [this.playing || this.#wanted, this.at];
    void this.put(path, { play, fromMs: at * 1000 }).then(() => !play && this.path === path && this.seek(at));
  }

  end(): void {
    this.#turn++;
    cancelAnimationFrame(this.#frame);
    this.#audio.pause();
    this.#audio.removeAttribute('src');
    for (const path of [...this.#sounds.keys()]) this.#drop(path);
    [this.path, this.state, this.playing] = ['', 'empty', false];
  }

  #begin(second: number): void {
    this.#fresh = false;
    this.#wanted = false;
    this.#audio.currentTime = second;
    this.#audio.play().catch(() => (this.playing = false)); // a browser may want a press first
  }

  #fetch(path: string): Promise<string> {
    const known = this.#sounds.get(path);
    if (known) {
      this.#sounds.delete(path);
      this.#sounds.set(path, known);
      return known.ready;
    }
    const sound: Sound = { url: '', blob: null, ready: Promise.resolve('') };
    sound.ready = this.#door
      .moderateQuietly<Blob>('GET', path, undefined, { read: (answer) => answer.blob(), timeoutMs: patienceMs, headers: { accept: 'audio/*' } })
      .then((blob) => ((sound.blob = blob), (sound.url = URL.createObjectURL(blob))));
    sound.ready.catch(() => this.#sounds.get(path) === sound && this.#sounds.delete(path));
    this.#sounds.set(path, sound);
    return sound.ready;
  }

  #tidy(): void {
    for (const path of [...this.#sounds.keys()]) {
      if (this.#sounds.size <= most) return;
      if (path !== this.path) this.#drop(path);
    }
  }

  #drop(path: string): void {
    const sound = this.#sounds.get(path);
    this.#sounds.delete(path);
    // A sound that is still on its way gives its memory back when it arrives.
    void sound?.ready.then((url) => URL.revokeObjectURL(url), () => undefined);
  }

  #follow(): void {
    cancelAnimationFrame(this.#frame);
    const look = () => {
      this.at = this.#audio.currentTime;
      if (this.playing) this.#frame = requestAnimationFrame(look);
    };
    look();
  }
}
