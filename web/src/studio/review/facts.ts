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

/**
 * Reads {columns, bands, power}, power being one byte for each band of each
 * column in base64, or columns of levels as numbers; null for anything else.
 */
export function spectrumOf(raw: unknown): Spectrum | null {
  if (Array.isArray(raw)) return ofNumbers(raw as unknown[]);
  const { columns, bands, power } = (raw ?? {}) as Record<string, unknown>;
  if (typeof columns !== 'number' || typeof bands !== 'number' || typeof power !== 'string' || columns < 1 || bands < 1) return null;
  const bytes = bytesOf(power);
  if (bytes.length !== columns * bands) return null;
  return { columns, bands, at: (column, band) => (bytes[column * bands + band] ?? 0) / 255 };
}

function ofNumbers(rows: readonly unknown[]): Spectrum | null {
  if (!rows.every((row): row is number[] => Array.isArray(row) && row.every((n) => typeof n === 'number' && Number.isFinite(n)))) return null;
  const bands = rows[0]?.length ?? 0;
  if (bands === 0 || rows.some((row) => row.length !== bands)) return null;
  const scale = rows.some((row) => row.some((n) => n > 1)) ? 255 : 1;
  return { columns: rows.length, bands, at: (column, band) => Math.min(1, Math.max(0, (rows[column]?.[band] ?? 0) / scale)) };
}

function bytesOf(text: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
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
