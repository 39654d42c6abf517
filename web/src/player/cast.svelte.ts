import { urls } from './source';
import type { Player } from './player.svelte';

/** Remote Playback API (W3C), which not every browser's types have. */
interface Remote extends EventTarget {
  state: 'connecting' | 'connected' | 'disconnected';
  watchAvailability(tell: (available: boolean) => void): Promise<number>;
  prompt(): Promise<void>;
}
type Castable = HTMLAudioElement & { remote?: Remote; webkitShowPlaybackTargetPicker?(): void };

/**
 * Sound on another device. Safari sends its own HLS there (AirPlay). Elsewhere the player's sound is made of
 * Media Source Extensions, which cannot be sent: a second element holds a tiny file, by which the browser says
 * whether there is a device, and the plain stream once one is chosen.
 */
export class Cast {
  available = $state(false);
  /** It plays there, and not here. */
  there = $state(false);
  failed = $state(false);
  readonly #player: Player;
  readonly #audio: Castable;
  #probe: Castable | null = null;

  constructor(player: Player, audio: HTMLAudioElement) {
    this.#player = player;
    this.#audio = audio;
  }

  /** Looks for devices, until the returned function is called. Call it once there has been sound. */
  look(): () => void {
    if (this.#audio.webkitShowPlaybackTargetPicker) return this.#lookForAirPlay();
    if (this.#audio.remote) this.#lookForRemote();
    return () => this.#leave();
  }

  #lookForAirPlay(): () => void {
    const here = new AbortController();
    const told = (event: Event) => (this.available = (event as Event & { availability?: string }).availability === 'available');
    this.#audio.addEventListener('webkitplaybacktargetavailabilitychanged', told, { signal: here.signal });
    return () => here.abort();
  }

  #lookForRemote(): void {
    const probe = new Audio() as Castable;
    this.#probe = probe;
    probe.preload = 'metadata';
    probe.src = '/quiet.mp3';
    probe.remote?.watchAvailability((available) => (this.available = available)).catch(() => undefined); // where it is turned off
    probe.remote?.addEventListener('connect', () => this.#go());
    probe.remote?.addEventListener('disconnect', () => this.back());
  }

  /** Lets the listener choose a device. */
  async choose(): Promise<void> {
    this.failed = false;
    if (this.#audio.webkitShowPlaybackTargetPicker) return this.#audio.webkitShowPlaybackTargetPicker();
    const probe = this.#probe;
    if (!probe?.remote) return;
    probe.src = `${urls.stream}?${Date.now()}`;
    if (probe.remote.state === 'connected') return this.#go(); // it was only left
    try {
      await probe.remote.prompt();
      // A device that is chosen says so by an event; one that is left says it by another.
      if (probe.remote.state === 'disconnected' && !this.there) this.#rest();
    } catch (failure) {
      this.failed = !['AbortError', 'NotAllowedError'].includes((failure as DOMException).name);
      this.#rest();
    }
  }

  #go(): void {
    this.there = true;
    this.#player.send('pause');
    this.#player.elsewhere = () => this.end();
    void this.#probe?.play().catch(() => undefined);
  }

  /** The sound comes back to this device. */
  back(): void {
    if (!this.there) return;
    this.end();
    this.#player.send('play');
  }

  /** There is no more sound over there. */
  end(): void {
    this.there = false;
    this.#player.elsewhere = null;
    this.#rest();
  }

  /** The stream is left; devices are looked for again. */
  #rest(): void {
    if (!this.#probe) return;
    this.#probe.pause();
    this.#probe.src = '/quiet.mp3';
  }

  #leave(): void {
    this.#probe?.pause();
    this.#probe?.removeAttribute('src');
    this.#probe?.load();
    this.#probe = null;
  }
}
