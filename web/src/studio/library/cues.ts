/** Where a track begins and ends on the air, within its file; milliseconds. */

export interface Cues {
  in: number;
  out: number;
}

/** How long a track may overlap its neighbours: as the station takes it, and as it does without a word of the operator. */
export const crosses = { least: 100, most: 30_000, usual: 2000 };

/** What is left of a track at least. */
const least = 1000;

/** Tenths of a second: what a press moves, and what is stored. */
const rounded = (ms: number): number => Math.round(ms / 100) * 100;

/** Puts a handle somewhere: it stays within the file and on its side of the other one. */
export function moved(cues: Cues, which: keyof Cues, to: number, length: number): Cues {
  const at = rounded(to);
  if (which === 'in') return { ...cues, in: Math.max(0, Math.min(at, cues.out - least)) };
  return { ...cues, out: Math.min(length, Math.max(at >= rounded(length) ? length : at, cues.in + least)) };
}

const steps: Record<string, number> = { ArrowRight: 100, ArrowUp: 100, ArrowLeft: -100, ArrowDown: -100, PageUp: 5000, PageDown: -5000 };

/** Where a key moves a handle, whichever way the page is written: right is later. null where it moves nothing. */
export function pressed(cues: Cues, which: keyof Cues, key: string, shift: boolean, length: number): Cues | null {
  if (key === 'Home') return moved(cues, which, 0, length);
  if (key === 'End') return moved(cues, which, length, length);
  const step = steps[key];
  return step === undefined ? null : moved(cues, which, cues[which] + step * (shift && Math.abs(step) < 1000 ? 10 : 1), length);
}

/** Where a key leads while listening; null where it leads nowhere. */
export function sought(at: number, key: string, shift: boolean, length: number): number | null {
  const to: Record<string, number> = { ArrowRight: at + (shift ? 1000 : 5000), ArrowLeft: at - (shift ? 1000 : 5000), ArrowUp: at + 5000, ArrowDown: at - 5000, PageUp: at + 30_000, PageDown: at - 30_000, Home: 0, End: length };
  const next = to[key];
  return next === undefined ? null : Math.max(0, Math.min(length, next));
}

/** The place of a pointer on a lane whose time runs from left to right. */
export const placeOf = (x: number, left: number, width: number, length: number): number => (width > 0 ? Math.max(0, Math.min(1, (x - left) / width)) * length : 0);

/** The lowest and the highest of each column, from pairs of bytes. */
export function columnsIn(base64: string): [number, number][] {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  return Array.from({ length: Math.floor(bytes.length / 2) }, (_, i) => [bytes[i * 2] ?? 128, bytes[i * 2 + 1] ?? 128]);
}

/** An outline 1000 wide and 256 high. */
export function outlineOf(columns: readonly [number, number][]): string {
  if (columns.length === 0) return '';
  const x = (i: number) => ((i * 1000) / columns.length).toFixed(1);
  const upper = columns.map(([, high], i) => `${x(i)} ${255 - Math.max(high, 129)}`);
  const lower = columns.map(([low], i) => `${x(i)} ${255 - Math.min(low, 127)}`).reverse();
  return `M${upper.join('L')}L${lower.join('L')}z`;
}
