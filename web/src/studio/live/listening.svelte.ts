import { Problem } from '../../station/control';
import type { Door } from '../door.svelte';
import { WavReader } from './wav';

/** Sound waits so long before it is played, seconds: what comes a little late is not missed. */
const ahead = 0.15;
/** More than this waiting is dropped: listening in is about now. */
const most = 1.2;

/**
 * Listening in on one source. The key travels as a header, which an audio
 * element cannot send, and what comes is played as it comes.
 */
export class Listening {
  /** Id of the source; empty: none. */
  id = $state('');
  phase = $state<'off' | 'opening' | 'on' | 'failed'>('off');

  readonly #door: Door;
  #context: AudioContext | null = null;
  #reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  #turn = 0;

  constructor(door: Door) {
    this.#door = door;
  }

  /** Plays a source; call it from a press, or the browser keeps silent. */
  async start(id: string): Promise<void> {
    this.stop();
    const turn = ++this.#turn;
    [this.id, this.phase] = [id, 'opening'];
    const context = (this.#context = new AudioContext({ latencyHint: 'interactive' }));
    void context.resume().catch(() => undefined);
    try {
      const body = await this.#door.order<ReadableStream<Uint8Array> | null>('GET', `/api/station/live/sources/${encodeURIComponent(id)}/listen`, undefined, {
        timeoutMs: 2 ** 31 - 1, // it ends when it is stopped, or the source goes
        headers: { accept: 'audio/wav' },
        read: async (answer) => answer.body,
      });
      if (turn !== this.#turn || !body) return void body?.cancel();
      this.#reader = body.getReader();
      await this.#play(context, this.#reader, turn);
      if (turn === this.#turn) this.#end('failed'); // the source has gone
    } catch (failure) {
      if (turn === this.#turn) this.#end('failed');
      if (!(failure instanceof Problem)) return; // no WAV, or the line went away
    }
  }

  stop(): void {
    this.#turn++;
    this.#end('off');
  }

  async #play(context: AudioContext, reader: ReadableStreamDefaultReader<Uint8Array>, turn: number): Promise<void> {
    const wav = new WavReader();
    let next = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done || turn !== this.#turn) return;
      const channels = wav.push(value);
      if (!channels || !wav.format) continue;
      this.phase = 'on';
      const buffer = context.createBuffer(channels.length, channels[0]?.length ?? 0, wav.format.rate);
      channels.forEach((samples, channel) => buffer.copyToChannel(samples, channel));
      const now = context.currentTime;
      if (next < now) next = now + ahead;
      if (next > now + most) continue;
      const node = context.createBufferSource();
      node.buffer = buffer;
      node.connect(context.destination);
      node.start(next);
      next += buffer.duration;
    }
  }

  #end(phase: 'off' | 'failed'): void {
    void this.#reader?.cancel().catch(() => undefined);
    void this.#context?.close().catch(() => undefined);
    this.#reader = this.#context = null;
    this.phase = phase;
    if (phase === 'off') this.id = '';
  }
}
