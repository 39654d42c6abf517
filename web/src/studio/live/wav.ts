/** What a WAV's header says. */
export interface Format {
  channels: number;
  rate: number;
}

/**
 * Reads WAV as it arrives: 16 bit PCM behind a header of any chunks, cut
 * anywhere. The lengths in the header are not believed: audio that goes on
 * has none.
 */
export class WavReader {
  format: Format | null = null;
  #rest = new Uint8Array(0);
  #inData = false;

  /** The samples of each channel that are whole by now; null while there are none. Throws where it is no such WAV. */
  push(bytes: Uint8Array): Float32Array<ArrayBuffer>[] | null {
    this.#rest = joined(this.#rest, bytes);
    if (!this.#inData && !this.#header()) return null;
    const { channels } = this.format!;
    const frames = Math.floor(this.#rest.length / (2 * channels));
    if (frames === 0) return null;
    const view = new DataView(this.#rest.buffer, this.#rest.byteOffset, frames * 2 * channels);
    const out = Array.from({ length: channels }, (_, channel) => {
      const samples = new Float32Array(frames);
      for (let i = 0; i < frames; i++) samples[i] = view.getInt16((i * channels + channel) * 2, true) / 32768;
      return samples;
    });
    this.#rest = this.#rest.slice(frames * 2 * channels);
    return out;
  }

  /** Reads as much of the header as there is; true once audio begins. */
  #header(): boolean {
    const { length } = this.#rest;
    const text = (at: number) => String.fromCharCode(...this.#rest.subarray(at, at + 4));
    if (length < 12) return false;
    if (text(0) !== 'RIFF' || text(8) !== 'WAVE') throw new Error('no WAV');
    const view = new DataView(this.#rest.buffer, this.#rest.byteOffset);
    for (let at = 12; at + 8 <= length; ) {
      const size = view.getUint32(at + 4, true);
      if (text(at) === 'data') {
        if (!this.format) throw new Error('WAV without a format');
        this.#rest = this.#rest.slice(at + 8);
        return (this.#inData = true);
      }
      if (size > 65_536) throw new Error('WAV with a chunk that is too long');
      const next = at + 8 + size + (size % 2);
      if (next > length) return false;
      if (text(at) === 'fmt ') {
        const [kind, channels, rate, bits] = [view.getUint16(at + 8, true), view.getUint16(at + 10, true), view.getUint32(at + 12, true), view.getUint16(at + 22, true)];
        if ((kind !== 1 && kind !== 0xfffe) || bits !== 16 || channels < 1 || channels > 8 || rate < 8000 || rate > 192_000) throw new Error('WAV that is no 16 bit PCM');
        this.format = { channels, rate };
      }
      at = next;
    }
    return false;
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(a.length + b.length);
  out.set(a);
  out.set(b, a.length);
  return out;
}
