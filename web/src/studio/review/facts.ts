/** What a moderator is shown of a post besides its sound. */

const link = /(?:https?:\/\/|www\.)\S+|\b[\p{L}\p{N}-]+\.(?:com|net|org|io|me|tv|co|info|xyz|ru|eg|ly)\b(?:\/\S*)?|(?<![\p{L}\p{N}.])@[\p{L}\p{N}_.]{3,}/giu;

/** Addresses and handles in a text. */
export function linksIn(text: string): string[] {
  return text.match(link) ?? [];
}

/** Whether a length stands in its type's window, seconds: -1 is too short, 1 too long. */
export function offWindow(ms: number, window: { min: number; max: number } | undefined): -1 | 0 | 1 {
  if (!window) return 0;
  if (ms < window.min * 1000) return -1;
  return ms > window.max * 1000 ? 1 : 0;
}

/** A picture of the sound: columns over time, each of levels from low to high, 0 to 1. */
export interface Spectrum {
  readonly columns: number;
  readonly bands: number;
  at: (column: number, band: number) => number;
}

/** Reads columns of levels, 0 to 255; null for what is no picture. */
export function spectrumOf(columns: readonly (readonly number[])[] | null | undefined): Spectrum | null {
  const bands = columns?.[0]?.length ?? 0;
  if (!columns || bands === 0 || columns.some((column) => column.length !== bands)) return null;
  return { columns: columns.length, bands, at: (column, band) => (columns[column]?.[band] ?? 0) / 255 };
}

/** The highest level in each of so many equal parts of a sound, 0 to 1. */
export function peaksIn(samples: Float32Array, parts: number): number[] {
  return Array.from({ length: samples.length > 0 ? parts : 0 }, (_, i) => {
    let most = 0;
    for (let n = Math.floor((i * samples.length) / parts); n < Math.floor(((i + 1) * samples.length) / parts); n++) most = Math.max(most, Math.abs(samples[n] ?? 0));
    return Math.min(1, most);
  });
}

/** Bars of a waveform as one SVG path in a box of 1000 by 100. */
export function wavePath(peaks: readonly number[]): string {
  const step = 1000 / Math.max(1, peaks.length);
  const bars = peaks.map((peak, i) => {
    const half = Math.max(1, Math.min(1, Math.max(0, peak)) * 48);
    return `M${round(i * step)} ${round(50 - half)}h${round(step * 0.72)}v${round(2 * half)}h-${round(step * 0.72)}z`;
  });
  return bars.join('');
}

const round = (n: number) => Math.round(n * 10) / 10;
