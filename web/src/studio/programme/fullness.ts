import type { Position } from '../config';

export const hourMs = 3_600_000;

/** One stretch of a clock's hour as it would come out with entries of mean length. */
export interface Segment {
  category: string;
  /** Of the list of positions; -1 is time before a timed event that the planner fills with what fits. */
  position: number;
  from: number;
  to: number;
  timed: boolean;
}

export interface Fullness {
  segments: Segment[];
  /** How much the positions fill by themselves, milliseconds; may be more than the hour. */
  filledMs: number;
  /** Positions that the hour has no room for. */
  beyond: number[];
  /** Positions whose time cannot be read, or is not later than the timed event before. */
  unread: number[];
}

/** MM:SS or :MM after the hour as milliseconds; NaN where it is neither. */
export function offsetMs(text: string): number {
  const found = /^:?(\d\d)(?::(\d\d))?$/.exec(text.trim());
  if (!found || (text.trim().startsWith(':') ? found[2] !== undefined : found[2] === undefined)) return Number.NaN;
  const [m, s] = [Number(found[1]), Number(found[2] ?? 0)];
  return m < 60 && s < 60 ? (m * 60 + s) * 1000 : Number.NaN;
}

/**
 * Lays a clock's positions out over its hour. A timed event stands at its time:
 * what comes too early before it leaves a gap that the planner fills, what does
 * not fit before it is left out.
 */
export function fullness(positions: readonly Position[], meanOf: (category: string) => number): Fullness {
  const out: Fullness = { segments: [], filledMs: 0, beyond: [], unread: [] };
  let now = 0;
  let lastDue = -1;
  positions.forEach((position, i) => {
    const mean = meanOf(position.category);
    if (position.at !== undefined) {
      const due = offsetMs(position.at);
      if (Number.isNaN(due) || due <= lastDue) return void out.unread.push(i);
      lastDue = due;
      cut(out, due);
      now = out.segments.at(-1)?.to ?? 0;
      if (now < due) out.segments.push({ category: '', position: -1, from: now, to: due, timed: false });
      out.segments.push({ category: position.category, position: i, from: due, to: due + mean, timed: true });
      now = due + mean;
      return;
    }
    for (let n = Math.max(1, position.count ?? 1); n > 0; n--, now += mean) {
      out.segments.push({ category: position.category, position: i, from: now, to: now + mean, timed: false });
    }
  });
  out.filledMs = out.segments.reduce((sum, s) => sum + (s.position >= 0 ? s.to - s.from : 0), 0);
  cut(out, hourMs);
  return out;
}

/** Takes out what would begin after a moment that belongs to something else. */
function cut(out: Fullness, at: number): void {
  for (const s of out.segments) if (s.from >= at && s.position >= 0 && !out.beyond.includes(s.position)) out.beyond.push(s.position);
  out.segments = out.segments.filter((s) => s.from < at).map((s) => (s.to > at ? { ...s, to: at } : s));
}
