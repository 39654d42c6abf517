import { describe, expect, it } from 'vitest';
import { WavReader } from './wav';

/** A WAV whose lengths say nothing, with a chunk that nobody needs. */
function wav(samples: number[], channels = 2): Uint8Array {
  const list = [...'LIST'].map((c) => c.charCodeAt(0));
  const out = new Uint8Array(12 + 24 + 8 + 4 + 8 + samples.length * 2);
  const view = new DataView(out.buffer);
  const put = (at: number, text: string) => out.set([...text].map((c) => c.charCodeAt(0)), at);
  put(0, 'RIFF');
  view.setUint32(4, 0xffffffff, true);
  put(8, 'WAVE');
  put(12, 'fmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, channels, true);
  view.setUint32(24, 48_000, true);
  view.setUint16(34, 16, true);
  out.set(list, 36);
  view.setUint32(40, 3, true); // odd: a byte of padding follows
  put(48, 'data');
  view.setUint32(52, 0xffffffff, true);
  samples.forEach((sample, i) => view.setInt16(56 + i * 2, sample, true));
  return out;
}

describe('WavReader', () => {
  it('reads the same samples wherever it is cut', () => {
    const bytes = wav([16384, -16384, 0, 32767, -32768, 1]);
    for (let cut = 1; cut < bytes.length; cut++) {
      const reader = new WavReader();
      const got: number[][] = [[], []];
      for (const part of [bytes.slice(0, cut), bytes.slice(cut)]) reader.push(part)?.forEach((samples, channel) => got[channel]?.push(...samples));
      expect(got).toEqual([[0.5, 0, -1], [-0.5, 32767 / 32768, 1 / 32768].map(Math.fround)]);
      expect(reader.format).toEqual({ channels: 2, rate: 48_000 });
    }
  });

  it('refuses what it cannot play', () => {
    expect(() => new WavReader().push(new TextEncoder().encode('{"title":"Not Found","status":404}'))).toThrow();
    const float = wav([1, 2]);
    float[20] = 3;
    expect(() => new WavReader().push(float)).toThrow();
    const long = wav([1, 2]);
    new DataView(long.buffer).setUint32(40, 0xfffffff0, true);
    expect(() => new WavReader().push(long)).toThrow();
  });
});
