/** A voice note that was recorded and not sent yet. */
export interface Recording {
  blob: Blob;
  url: string;
  durationMs: number;
}

export type RecorderState = 'idle' | 'asking' | 'recording' | 'ready' | 'barred';

/** How a recording is made. */
export interface Manner {
  longestMs: number;
  bitsPerSecond: number;
  sound: MediaTrackConstraints;
}

/** As small as speech allows. */
const voiceNote: Manner = { longestMs: 120_000, bitsPerSecond: 32_000, sound: { echoCancellation: true, noiseSuppression: true } };
const shortestMs = 400;
const kinds = ['audio/webm;codecs=opus', 'audio/mp4', 'audio/ogg;codecs=opus', 'audio/webm'];

/** Records one sound at a time from the microphone, which is open only while it records. */
export class Recorder {
  state = $state<RecorderState>('idle');
  elapsedMs = $state(0);
  /** How loud it was in each tenth of a second, 0 to 1. */
  levels = $state.raw<readonly number[]>([]);
  recording = $state.raw<Recording | null>(null);

  #media: MediaRecorder | null = null;
  #release: () => void = () => undefined;
  #kept = true;
  readonly #manner: () => Manner;

  constructor(manner: () => Manner = () => voiceNote) {
    this.#manner = manner;
  }

  static get possible(): boolean {
    return typeof MediaRecorder !== 'undefined' && Boolean(navigator.mediaDevices?.getUserMedia);
  }

  async begin(): Promise<void> {
    if (this.state === 'asking' || this.state === 'recording') return;
    this.discard();
    if (!Recorder.possible) {
      this.state = 'barred';
      return;
    }
    this.state = 'asking';
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: this.#manner().sound });
      if ((this.state as RecorderState) === 'asking') this.#record(stream);
      else for (const track of stream.getTracks()) track.stop(); // given up meanwhile
    } catch {
      this.state = 'barred';
    }
  }

  /** Ends it and keeps what was recorded, if it is long enough to be meant. */
  end(): void {
    if (this.state === 'asking') this.state = 'idle';
    this.#kept = this.elapsedMs >= shortestMs;
    this.#media?.stop();
  }

  cancel(): void {
    if (this.state === 'asking') this.state = 'idle';
    this.#kept = false;
    this.#media?.stop();
    this.discard();
  }

  discard(): void {
    if (this.recording) URL.revokeObjectURL(this.recording.url);
    this.recording = null;
    if (this.state === 'ready' || this.state === 'barred') this.state = 'idle';
  }

  #record(stream: MediaStream): void {
    const mimeType = kinds.find((kind) => MediaRecorder.isTypeSupported(kind));
    const media = new MediaRecorder(stream, { ...(mimeType ? { mimeType } : {}), audioBitsPerSecond: this.#manner().bitsPerSecond });
    const chunks: Blob[] = [];
    const began = performance.now();
    const stopListening = this.#listen(stream, began);
    this.#media = media;
    this.#kept = true;
    this.elapsedMs = 0;
    this.levels = [];
    this.#release = () => {
      stopListening();
      for (const track of stream.getTracks()) track.stop();
    };
    media.ondataavailable = ({ data }) => data.size > 0 && chunks.push(data);
    media.onstop = () => {
      const durationMs = Math.round(performance.now() - began);
      this.#release();
      this.#media = null;
      const type = (media.mimeType || 'audio/webm').split(';')[0] as string;
      const blob = new Blob(chunks, { type });
      const good = this.#kept && blob.size > 0;
      this.recording = good ? { blob, url: URL.createObjectURL(blob), durationMs } : null;
      this.state = good ? 'ready' : 'idle';
    };
    media.start();
    this.state = 'recording';
  }

  /** Ten times a second: the time, and how loud it is. */
  #listen(stream: MediaStream, began: number): () => void {
    const context = new AudioContext();
    const meter = context.createAnalyser();
    meter.fftSize = 1024;
    context.createMediaStreamSource(stream).connect(meter);
    const wave = new Float32Array(meter.fftSize);
    const ticker = setInterval(() => {
      meter.getFloatTimeDomainData(wave);
      const loud = Math.sqrt(wave.reduce((sum, x) => sum + x * x, 0) / wave.length);
      this.levels = [...this.levels, Math.min(1, loud * 4)].slice(-60);
      this.elapsedMs = performance.now() - began;
      if (this.elapsedMs >= this.#manner().longestMs) this.end();
    }, 100);
    return () => {
      clearInterval(ticker);
      void context.close();
    };
  }
}

/** A blob as a data URL of its bare type. */
export function dataURL(blob: Blob): Promise<string> {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result as string);
    reader.onerror = () => failed(reader.error);
    reader.readAsDataURL(blob);
  });
}
