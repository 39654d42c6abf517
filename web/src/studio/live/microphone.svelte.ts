import { Link } from '../../live/link.svelte';
import { Problem } from '../../station/control';
import type { Door } from '../door.svelte';

export type MicPhase = 'off' | 'asking' | 'ready' | 'starting' | 'sending' | 'lost' | 'ending';
export type MicProblem = '' | 'insecure' | 'unsupported' | 'denied' | 'missing' | 'busy' | 'key' | 'refused' | 'failed' | 'unplugged';

/** Each chunk is an event of its own: shorter ones cost more than they save. */
const chunkMs = 100;
const silentMs = 6000;
const floorDbfs = -60;
const formats = ['audio/webm;codecs=opus', 'audio/ogg;codecs=opus', 'audio/mp4'];

/**
 * The studio's own microphone, sent chunk by chunk over the event transport.
 * It outlives the section: whoever looks at another part of the studio goes on
 * speaking. Whether anybody hears it only the station's status tells.
 */
export class Microphone {
  phase = $state<MicPhase>('off');
  problem = $state<MicProblem>('');
  /** The station's own words for the problem. */
  detail = $state('');
  devices = $state.raw<readonly MediaDeviceInfo[]>([]);
  /** Id of the device; empty: the standard one. */
  device = $state('');
  /** The browser levels the voice and takes noise away. */
  processing = $state(true);
  /** Peak of the last look, dBFS. */
  level = $state(-120);
  silent = $state(false);
  /** What the station has taken so far. */
  bytes = $state(0);

  readonly #door: Door;
  #stream: MediaStream | null = null;
  #context: AudioContext | null = null;
  #looks: ReturnType<typeof setInterval> | undefined;
  #heardAt = 0;
  #link: Link | null = null;
  #recorder: MediaRecorder | null = null;

  constructor(door: Door) {
    this.#door = door;
  }

  /** It is on its way to the station, or about to be. */
  get engaged(): boolean {
    return ['starting', 'sending', 'lost', 'ending'].includes(this.phase);
  }

  /** Opens the microphone and shows its level; nothing is sent. */
  async open(): Promise<void> {
    this.#say('');
    if (!window.isSecureContext || !navigator.mediaDevices) return this.#say('insecure');
    if (typeof MediaRecorder === 'undefined' || !format()) return this.#say('unsupported');
    this.phase = 'asking';
    await this.#take();
  }

  /** Uses another device, or the same in another way. */
  async turn(device: string, processing = this.processing): Promise<void> {
    [this.device, this.processing] = [device, processing];
    if (this.phase === 'ready') await this.#take();
  }

  close(): void {
    this.#shut();
    this.phase = 'off';
  }

  /** Begins to send. */
  begin(): void {
    if (this.phase !== 'ready') return;
    this.#say('');
    this.phase = 'starting';
    this.bytes = 0;
    addEventListener('beforeunload', stay);
    const link = (this.#link = new Link());
    link.key = this.#door.handshake;
    link.refused = () => this.#stop('key');
    link.on('stream_error', ({ message }) => this.phase === 'sending' && this.#stop('failed', message));
    link.onDown(() => {
      if (!this.engaged) return;
      this.#silence();
      this.phase = 'lost'; // the station ended it as the connection went
    });
    const send = () => void this.#send();
    link.onUp(send, send); // what was on the air ended with its connection, whoever takes it up
    link.open();
  }

  /** Ends it; the station goes back to its rotation. */
  async end(): Promise<void> {
    if (!this.engaged) return;
    this.phase = 'ending';
    this.#silence();
    await this.#link?.ask('stop_stream', {}, 5000).catch(() => undefined); // as the link closes the station ends it anyway
    this.#stop('');
  }

  async #send(): Promise<void> {
    const link = this.#link;
    if (!link || !this.#stream || this.phase === 'ending') return;
    try {
      const mime = format();
      await link.ask('start_stream', { type: mime });
      if (link !== this.#link || !this.#stream) return;
      const recorder = (this.#recorder = new MediaRecorder(this.#stream, { mimeType: mime, audioBitsPerSecond: 128_000 }));
      let before = Promise.resolve(); // what a blob holds is read in its own time: chunks keep their order
      recorder.ondataavailable = ({ data }) => {
        if (data.size > 0) before = before.then(async () => this.#pass(recorder, await data.arrayBuffer()));
      };
      recorder.start(chunkMs);
      this.phase = 'sending';
    } catch (failure) {
      const { status, message } = failure instanceof Problem ? failure : { status: 500, message: String(failure) };
      if (status === 401) this.#stop('key');
      else if (status !== 0 && status !== 503) this.#stop('refused', message);
      else if (link === this.#link) setTimeout(() => link === this.#link && link.up && void this.#send(), 2000);
    }
  }

  #pass(recorder: MediaRecorder, chunk: ArrayBuffer): void {
    if (recorder !== this.#recorder || recorder.state === 'inactive') return;
    this.#link?.ask('audio_data', chunk).then(
      ({ bytes }) => (this.bytes = bytes),
      (failure: unknown) => {
        // A chunk that is lost is a gap; 409 means that the station does not listen any more.
        if (failure instanceof Problem && failure.status === 409 && recorder === this.#recorder) this.#stop('refused', failure.message);
      },
    );
  }

  async #take(): Promise<void> {
    try {
      const [voice, exact] = [this.processing, this.device];
      const stream = await navigator.mediaDevices.getUserMedia({
        audio: { echoCancellation: voice, noiseSuppression: voice, autoGainControl: voice, ...(exact ? { deviceId: { exact } } : {}) },
      });
      this.#shut();
      this.#stream = stream;
      const [track] = stream.getAudioTracks();
      track?.addEventListener('ended', () => {
        if (stream === this.#stream) this.#lose();
      });
      this.devices = (await navigator.mediaDevices.enumerateDevices()).filter(({ kind }) => kind === 'audioinput');
      this.#measure(stream);
      this.phase = 'ready';
    } catch (failure) {
      const name = failure instanceof DOMException ? failure.name : '';
      if (name === 'OverconstrainedError' && this.device) {
        this.device = ''; // it is not there any more
        return this.#take();
      }
      this.close();
      this.#say(name === 'NotAllowedError' ? 'denied' : name === 'NotFoundError' ? 'missing' : 'busy');
    }
  }

  #lose(): void {
    this.#stop('unplugged');
    this.close();
  }

  #measure(stream: MediaStream): void {
    const context = (this.#context = new AudioContext());
    const analyser = context.createAnalyser();
    analyser.fftSize = 4096;
    context.createMediaStreamSource(stream).connect(analyser);
    const wave = new Float32Array(analyser.fftSize);
    this.#heardAt = Date.now();
    this.#looks = setInterval(() => {
      if (context.state !== 'running') return void context.resume().catch(() => undefined);
      analyser.getFloatTimeDomainData(wave);
      const peak = wave.reduce((highest, x) => Math.max(highest, Math.abs(x)), 0);
      this.level = peak > 1e-6 ? 20 * Math.log10(peak) : -120;
      if (this.level > floorDbfs) this.#heardAt = Date.now();
      this.silent = Date.now() - this.#heardAt > silentMs;
    }, 80);
  }

  #silence(): void {
    const recorder = this.#recorder;
    this.#recorder = null;
    if (recorder && recorder.state !== 'inactive') recorder.stop();
  }

  /** Ends what is sent; the microphone stays open. */
  #stop(problem: MicProblem, detail = ''): void {
    this.#silence();
    const link = this.#link;
    this.#link = null;
    link?.close();
    removeEventListener('beforeunload', stay);
    this.phase = this.#stream ? 'ready' : 'off';
    this.#say(problem, detail);
  }

  #shut(): void {
    clearInterval(this.#looks);
    void this.#context?.close().catch(() => undefined);
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
    this.#context = this.#stream = null;
    this.level = -120;
    this.silent = false;
  }

  #say(problem: MicProblem, detail = ''): void {
    [this.problem, this.detail] = [problem, detail];
  }
}

function format(): string {
  return formats.find((type) => MediaRecorder.isTypeSupported(type)) ?? '';
}

/** The browser asks before the page is left. */
function stay(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
