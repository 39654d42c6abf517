import type { Door } from '../door.svelte';
import { at } from './library.svelte';

/** What is listened to: a track by its path, or a file that was sent by its intake. */
export type Heard = { path: string } | { intake: string };

const keyOf = (heard: Heard): string => ('path' in heard ? `p ${heard.path}` : `i ${heard.intake}`);

/**
 * Plays sounds of the library, one at a time. The key travels as a header,
 * which an audio element cannot send: the station gives a ticket for hours,
 * and another one where that is over.
 */
export class Sound {
  state = $state<'empty' | 'loading' | 'ready' | 'failed'>('empty');
  playing = $state(false);
  /** Milliseconds. */
  at = $state(0);
  #key = $state('');
  readonly #door: Door;
  readonly #audio = new Audio();
  #turn = 0;
  #frame = 0;

  constructor(door: Door) {
    this.#door = door;
    const audio = this.#audio;
    audio.preload = 'metadata';
    audio.addEventListener('play', () => ((this.playing = true), this.#follow()));
    audio.addEventListener('pause', () => (this.playing = false));
    audio.addEventListener('ended', () => (this.playing = false));
    audio.addEventListener('seeked', () => (this.at = audio.currentTime * 1000));
    audio.addEventListener('error', () => audio.src && (this.state = 'failed'));
  }

  isOn(heard: Heard): boolean {
    return this.#key === keyOf(heard);
  }

  /** Plays or pauses; another sound than before begins from its place. */
  toggle(heard: Heard, fromMs = 0): void {
    if (!this.isOn(heard) || this.state === 'failed') void this.#put(heard, this.isOn(heard) ? this.at : fromMs);
    else if (this.playing) this.#audio.pause();
    else if (this.state === 'ready') this.#begin();
  }

  /** Goes to a place; a sound that is not loaded yet begins there. */
  seek(heard: Heard, ms: number): void {
    if (!this.isOn(heard)) {
      this.#audio.pause();
      [this.#key, this.state] = [keyOf(heard), 'empty'];
    }
    this.at = ms;
    if (this.state === 'ready') this.#audio.currentTime = ms / 1000;
  }

  playFrom(heard: Heard, ms: number): void {
    this.seek(heard, ms);
    if (this.state === 'ready') this.#begin();
    else void this.#put(heard, ms);
  }

  stop(): void {
    this.#turn++;
    cancelAnimationFrame(this.#frame);
    this.#audio.pause();
    this.#audio.removeAttribute('src');
    [this.#key, this.state, this.playing, this.at] = ['', 'empty', false, 0];
  }

  async #put(heard: Heard, fromMs: number): Promise<void> {
    const turn = ++this.#turn;
    this.#audio.pause();
    [this.#key, this.state, this.at] = [keyOf(heard), 'loading', fromMs];
    try {
      const { path } = await ('path' in heard ? this.#door.order<{ path: string }>('POST', `${at}/audio/ticket`, heard) : this.#door.order<{ path: string }>('POST', `${at}/intake/${heard.intake}/ticket`, {}));
      if (turn !== this.#turn) return;
      this.#audio.src = path; // with the ticket in it
      this.state = 'ready';
      this.#audio.currentTime = this.at / 1000;
      this.#begin();
    } catch {
      if (turn === this.#turn) this.state = 'failed';
    }
  }

  #begin(): void {
    this.#audio.play().catch(() => (this.playing = false)); // a browser may want a press first
  }

  #follow(): void {
    cancelAnimationFrame(this.#frame);
    const look = () => {
      this.at = this.#audio.currentTime * 1000;
      if (this.playing) this.#frame = requestAnimationFrame(look);
    };
    look();
  }
}
