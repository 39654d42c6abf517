import type { Barred } from './machine';
import { dbfs, Meter, Watch } from './meter';
import type { Sound } from './sdp';

/** The microphone: opened by a press, measured while it is open. */
export class Microphone {
  track = $state.raw<MediaStreamTrack | null>(null);
  opening = $state(false);
  devices = $state.raw<MediaDeviceInfo[]>([]);
  /** dBFS of the last look, and the highest of the last second and a half. */
  level = $state(-100);
  held = $state(-100);
  silent = $state(false);
  clips = $state(false);
  /** A phone call or another program has taken the sound away for a while. */
  interrupted = $state(false);
  /** It went away and no other one could be opened. */
  onLost: (why: Barred) => void = () => undefined;
  /** Another one is open in its place. */
  onTurn: (track: MediaStreamTrack) => void = () => undefined;

  #meter: Meter | null = null;
  #watch = new Watch();
  #heldAt = 0;
  #device = '';
  #sound: Sound = 'voice';
  #monitor = false;
  #turn = 0;

  static get possible(): boolean {
    return window.isSecureContext && Boolean(navigator.mediaDevices?.getUserMedia);
  }

  /** Opens it, unless it is open; answers what bars it, or nothing. */
  async open(): Promise<Barred | ''> {
    if (this.track) return '';
    if (!Microphone.possible) return 'insecure';
    const turn = ++this.#turn;
    this.opening = true;
    try {
      const stream = await this.#get();
      if (turn !== this.#turn) {
        for (const track of stream.getTracks()) track.stop(); // closed meanwhile
        return this.track ? '' : 'taken';
      }
      this.#take(stream);
      void this.#list();
      return '';
    } catch (error) {
      return barredBy(error);
    } finally {
      if (turn === this.#turn) this.opening = false;
    }
  }

  close(): void {
    this.#turn++;
    this.opening = false;
    this.#release();
    this.#meter?.close();
    this.#meter = null;
    this.level = this.held = -100;
    this.silent = this.clips = this.interrupted = false;
  }

  /** Takes a device and a sound; one that is open is opened anew. */
  async set(device: string, sound: Sound): Promise<Barred | ''> {
    if (device === this.#device && sound === this.#sound) return '';
    [this.#device, this.#sound] = [device, sound];
    if (!this.track) return '';
    this.#release();
    return this.open();
  }

  monitor(on: boolean): void {
    this.#monitor = on;
    this.#meter?.monitor(on);
  }

  /** Lets nothing out; a silence that is meant is not warned of. */
  mute(on: boolean): void {
    if (this.track) this.track.enabled = !on;
    this.#watch.forget();
    this.silent = this.clips = false;
  }

  async #get(): Promise<MediaStream> {
    const music = this.#sound === 'music';
    const audio: MediaTrackConstraints = { echoCancellation: !music, noiseSuppression: !music, autoGainControl: !music, channelCount: music ? 2 : 1 };
    const session = (navigator as { audioSession?: { type: string } }).audioSession;
    if (session) session.type = 'play-and-record';
    try {
      return await navigator.mediaDevices.getUserMedia({ audio: this.#device ? { ...audio, deviceId: { exact: this.#device } } : audio });
    } catch (error) {
      if (!this.#device || !['OverconstrainedError', 'NotFoundError'].includes((error as Error).name)) throw error;
      this.#device = ''; // the one that was chosen is not plugged in
      return navigator.mediaDevices.getUserMedia({ audio });
    }
  }

  #take(stream: MediaStream): void {
    const track = stream.getAudioTracks()[0] as MediaStreamTrack;
    track.contentHint = this.#sound === 'music' ? 'music' : 'speech';
    track.onmute = () => (this.interrupted = true);
    track.onunmute = () => (this.interrupted = false);
    track.onended = () => void this.#replace(track);
    this.interrupted = track.muted;
    this.#watch.forget();
    this.track = track;
    if (this.#meter) this.#meter.turnTo(stream);
    else this.#meter = new Meter(stream, (peak) => this.#hear(peak));
    this.#meter.monitor(this.#monitor);
  }

  #release(): void {
    if (!this.track) return;
    this.track.onmute = this.track.onunmute = this.track.onended = null;
    this.track.stop();
    this.track = null;
  }

  /** Unplugged, or its permission was taken back: the next one, if there is any. */
  async #replace(lost: MediaStreamTrack): Promise<void> {
    if (this.track !== lost) return;
    const { enabled } = lost;
    this.#release();
    this.#device = '';
    const barred = await this.open();
    const found = this.track as MediaStreamTrack | null;
    if (found) {
      found.enabled = enabled;
      this.onTurn(found);
    } else this.onLost(barred || 'missing');
  }

  #hear(peak: number): void {
    const now = performance.now();
    this.level = dbfs(peak);
    if (this.level >= this.held || now - this.#heldAt > 1500) {
      this.held = this.level;
      this.#heldAt = now;
    }
    if (!this.track?.enabled || this.interrupted) this.#watch.forget();
    else this.#watch.take(peak, now);
    this.silent = this.#watch.silent(now);
    this.clips = this.#watch.clips;
  }

  async #list(): Promise<void> {
    const all = await navigator.mediaDevices.enumerateDevices().catch(() => []);
    this.devices = all.filter(({ kind, deviceId }) => kind === 'audioinput' && deviceId && deviceId !== 'default' && deviceId !== 'communications');
  }
}

/** What keeps a microphone closed, by the browser's word for it. */
export function barredBy(error: unknown): Barred {
  switch ((error as Error)?.name) {
    case 'NotAllowedError':
    case 'SecurityError':
      return 'denied';
    case 'NotFoundError':
    case 'OverconstrainedError':
      return 'missing';
    default:
      return 'taken';
  }
}
