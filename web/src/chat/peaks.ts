/** How loud a sound is along its length: so many bars, 0 to 1, the loudest being 1. */
export async function peaksOf(sound: string | Blob, bars = 40): Promise<number[]> {
  const bytes = await (typeof sound === 'string' ? await fetch(sound) : sound).arrayBuffer();
  const decoded = await new OfflineAudioContext(1, 1, 16_000).decodeAudioData(bytes);
  return barsOf(decoded.getChannelData(0), bars);
}

export function barsOf(wave: Float32Array, bars: number): number[] {
  const width = Math.max(1, Math.floor(wave.length / bars));
  const loud = Array.from({ length: bars }, (_, i) => {
    const part = wave.subarray(i * width, (i + 1) * width);
    return Math.sqrt(part.reduce((sum, x) => sum + x * x, 0) / Math.max(1, part.length));
  });
  const most = Math.max(...loud, 1e-4);
  return loud.map((n) => n / most);
}
