import type { Station } from '../station/station.svelte';
import { Engine } from './engine';
import { initial, next, notice, type NoticeKey, type PlayerEvent, type PlayerState } from './machine';
import { fitting, keepQuality, keptQuality, type Quality } from './quality';
import { transportsOf } from './source';

const kept = 'athir.volume';
/** Without dates in the stream, the ear is taken to be this far behind the station. */
const usualDelayMs = 8000;
const believableMs = 120_000;

/** The listener's player: the state machine, its engine, and the volume. */
export class Player {
  state = $state.raw<PlayerState>(initial([]));
  volume = $state(1);
  muted = $state(false);
  /** What the listener wants; a station may have no such rendition. */
  wish = $state<Quality | 'least'>(keptQuality());
  /** False on iOS, where only the device's buttons change the volume. */
  readonly volumeWorks: boolean;

  readonly #audio: HTMLAudioElement;
  readonly #engine: Engine;
  readonly #station: Station;
  /** How much of the chosen volume is heard, 0 to 1: the sleep timer fades. */
  #faded = 1;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(audio: HTMLAudioElement, station: Station) {
    this.#audio = audio;
    this.#station = station;
    this.#engine = new Engine(audio, (event) => this.send(event), () => station.now());
    this.state = initial(transportsOf(audio), navigator.onLine);
    audio.volume = 0.5;
    this.volumeWorks = audio.volume === 0.5;
    this.#restoreVolume();
    window.addEventListener('online', () => this.send('online'));
    window.addEventListener('offline', () => this.send('offline'));
  }

  /** The renditions of the station in kbit/s, the main one first. */
  get renditions(): readonly number[] {
    return this.#station.status?.hls?.renditions ?? [];
  }

  /** The rendition that is chosen; 0 where the player chooses. */
  get quality(): Quality {
    return fitting(this.wish, this.renditions);
  }

  /** Whether there is anything to choose. */
  get choosable(): boolean {
    return this.renditions.length > 1 && this.state.transport !== 'stream';
  }

  setQuality(kbps: Quality): void {
    this.wish = kbps;
    keepQuality(kbps);
  }

  /** Has the engine play what is wanted, once the station has said what there is. Call it while a component starts. */
  follow(): void {
    $effect(() => this.#engine.choose({ kbps: this.quality, renditions: this.renditions }));
  }

  get wanted(): boolean {
    return this.state.name !== 'idle' && this.state.name !== 'paused';
  }

  get notice(): NoticeKey {
    const { status, away } = this.#station;
    const reachable = this.#station.reachable || away; // the relaying server answers
    const says = status || !reachable ? { reachable, state: status?.state ?? '', reason: status?.reason ?? '' } : null;
    return notice(this.state, says);
  }

  /** The moment of the programme now heard; without sound, the station's now. */
  moment(): number {
    const now = this.#station.now();
    if (this.state.name !== 'playing' && this.state.name !== 'buffering') return now;
    const heard = this.#engine.moment();
    return heard !== null && Math.abs(now - heard) < believableMs ? heard : now - usualDelayMs;
  }

  send(event: PlayerEvent): void {
    const step = next(this.state, event, Math.random());
    this.state = step.state;
    if (step.unload || step.load) {
      clearTimeout(this.#retry);
      this.#engine.unload();
    }
    if (step.load) this.#engine.load(step.load);
    if (step.retryInMs !== undefined) this.#retry = setTimeout(() => this.send('due'), step.retryInMs);
  }

  /** Ends the sound where it is; null while it is here. */
  elsewhere: (() => void) | null = null;

  /** Ends the sound, wherever it is heard. */
  silence(): void {
    this.send('pause');
    this.elsewhere?.();
  }

  toggle(): void {
    this.send(this.wanted ? 'pause' : 'play');
  }

  setVolume(volume: number): void {
    this.volume = Math.min(1, Math.max(0, volume));
    this.muted = this.volume === 0;
    this.#applyVolume();
  }

  toggleMute(): void {
    this.muted = !this.muted;
    if (!this.muted && this.volume === 0) this.volume = 0.5;
    this.#applyVolume();
  }

  /** Lowers the sound without touching what the listener chose; 1 for all of it. */
  fade(part: number): void {
    if (part === this.#faded) return;
    this.#faded = part;
    this.#audio.volume = (this.volume * part) ** 2;
  }

  #applyVolume(): void {
    this.#audio.volume = (this.volume * this.#faded) ** 2; // loudness is heard nearly logarithmically
    this.#audio.muted = this.muted;
    try {
      localStorage.setItem(kept, JSON.stringify({ volume: this.volume, muted: this.muted }));
    } catch {
      // private windows may keep nothing
    }
  }

  #restoreVolume(): void {
    try {
      const { volume, muted } = JSON.parse(localStorage.getItem(kept) ?? '{}');
      if (typeof volume === 'number' && volume >= 0 && volume <= 1) this.volume = volume;
      this.muted = muted === true;
    } catch {
      // as above
    }
    this.#audio.volume = this.volume ** 2;
    this.#audio.muted = this.muted;
  }
}
