import { isImaging } from '../../station/ear';
import type { Airing, Point } from './answers';
import type { Span } from './ranges';

export interface Curve {
  /** Paths in a box of 100 by 100, time running to the right. */
  average: string;
  /** Closed: from the least to the most. */
  range: string;
  top: number;
  mean: number;
  peak: Point | null;
}

/** A round number at or above the highest. */
export function topOf(highest: number): number {
  const size = 10 ** Math.floor(Math.log10(Math.max(1, highest)));
  return [1, 2, 5, 10].map((n) => n * size).find((n) => n >= highest) ?? highest;
}

/** Points in runs without a gap. */
export function runsOf(points: readonly Point[], gapMs: number): Point[][] {
  const runs: Point[][] = [];
  for (const point of points) {
    const run = runs.at(-1);
    if (run && point.at - (run.at(-1) as Point).at <= gapMs) run.push(point);
    else runs.push([point]);
  }
  return runs;
}

/** Points as curves, broken where nothing was counted for longer than gapMs. The scale and the sums are of those within the span alone. */
export function curveOf(points: readonly Point[], { from, to }: Span, gapMs: number): Curve {
  const shown = points.filter(({ at }) => at >= from && at <= to);
  const peak = shown.reduce<Point | null>((best, point) => (best && best.listeners.max >= point.listeners.max ? best : point), null);
  const top = topOf(peak?.listeners.max ?? 1);
  const two = (n: number) => n.toFixed(2);
  const x = (at: number) => two(((at - from) / Math.max(1, to - from)) * 100);
  const y = (n: number) => two(100 - (n / top) * 100);
  const along = (run: readonly Point[], value: (point: Point) => number) => run.map((point) => `${x(point.at)} ${y(value(point))}`);
  const runs = runsOf(points, gapMs);
  // A point alone is a dot: a line of no length has round ends.
  const average = runs.map((run) => `M${along(run, ({ listeners }) => listeners.average).join('L')}${run.length === 1 ? 'h0' : ''}`).join('');
  const range = runs.map((run) => `M${[...along(run, ({ listeners }) => listeners.max), ...along(run, ({ listeners }) => listeners.min).reverse()].join('L')}Z`).join('');
  const mean = shown.length ? shown.reduce((sum, { listeners }) => sum + listeners.average, 0) / shown.length : 0;
  return { average, range, top, mean, peak };
}

/** What was counted at a moment; null where nothing was. */
export function pointAt(points: readonly Point[], at: number, stepMs: number): Point | null {
  const point = points.findLast((one) => one.at <= at) ?? null;
  return point && at - point.at < 1.5 * stepMs ? point : null;
}

export type Kind = 'music' | 'imaging' | 'news' | 'ads' | 'live' | 'emergency';
export const kinds: readonly Kind[] = ['music', 'news', 'ads', 'imaging', 'live', 'emergency'];

export function kindOf(airing: Airing): Kind {
  if (airing.kind !== 'rotation') return airing.kind;
  const category = airing.category || airing.type;
  if (category === 'news' || category === 'ads') return category;
  return isImaging(airing) ? 'imaging' : 'music';
}

export interface Block {
  /** Percent of the span. */
  left: number;
  width: number;
  kind: Kind;
  airing: Airing;
}

/** What aired as blocks beneath the curve; those that are narrower than a share of it are left out, but no live broadcast is. */
export function bandOf(airings: readonly Airing[], { from, to }: Span, leastPercent: number): Block[] {
  const blocks: Block[] = [];
  for (const airing of airings) {
    const end = airing.startedAt + airing.seconds * 1000;
    if (airing.startedAt >= to || end <= from) continue;
    const share = (at: number) => ((Math.min(to, Math.max(from, at)) - from) / Math.max(1, to - from)) * 100;
    const [left, right] = [share(airing.startedAt), share(end)];
    if (right - left >= leastPercent || airing.kind !== 'rotation') blocks.push({ left, width: Math.max(leastPercent, right - left), kind: kindOf(airing), airing });
  }
  return blocks;
}

/** What was on the air at a moment; of two that overlap, the later. */
export function airingAt(airings: readonly Airing[], at: number): Airing | null {
  return airings.find(({ startedAt, seconds }) => startedAt <= at && at < startedAt + seconds * 1000) ?? null;
}

export interface Bar {
  x: number;
  width: number;
  height: number;
  airing: Airing;
}

/** Airings that were counted as bars in a box of 100 by 100, as wide as they lasted; and the one with the most listeners. */
export function barsOf(airings: readonly Airing[], from: number, to: number): { bars: Bar[]; top: number; most: Airing | null } {
  const counted = airings.filter(({ listeners, startedAt }) => listeners && startedAt < to);
  const most = counted.reduce<Airing | null>((best, airing) => ((best?.listeners?.average ?? -1) >= (airing.listeners?.average ?? 0) ? best : airing), null);
  const top = topOf(most?.listeners?.average ?? 1);
  const x = (at: number) => ((Math.min(to, Math.max(from, at)) - from) / Math.max(1, to - from)) * 100;
  const bars = counted.map((airing) => {
    const [begin, end] = [x(airing.startedAt), x(airing.startedAt + airing.seconds * 1000)];
    return { x: begin, width: Math.max(0, end - begin), height: ((airing.listeners?.average ?? 0) / top) * 100, airing };
  });
  return { bars, top, most };
}
