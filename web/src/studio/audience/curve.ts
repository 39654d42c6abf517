import type { Point } from './answers';

export interface Curve {
  /** Paths in a box of 100 by 100, time running to the right. */
  average: string;
  most: string;
  top: number;
  mean: number;
  peak: Point | null;
}

/** A round number at or above the highest. */
export function topOf(highest: number): number {
  const size = 10 ** Math.floor(Math.log10(Math.max(1, highest)));
  return [1, 2, 5, 10].map((n) => n * size).find((n) => n >= highest) ?? highest;
}

/** Points as curves, broken where nothing was counted for longer than gapMs. */
export function curveOf(points: readonly Point[], from: number, to: number, gapMs: number): Curve {
  const peak = points.reduce<Point | null>((best, point) => (best && best.listeners.max >= point.listeners.max ? best : point), null);
  const top = topOf(peak?.listeners.max ?? 1);
  const x = (at: number) => ((at - from) / Math.max(1, to - from)) * 100;
  const y = (n: number) => 100 - (n / top) * 100;
  const two = (n: number) => n.toFixed(2);
  const line = (value: (point: Point) => number) =>
    points.map((point, i) => `${i === 0 || point.at - (points[i - 1] as Point).at > gapMs ? 'M' : 'L'}${two(x(point.at))} ${two(y(value(point)))}`).join('');
  const mean = points.length ? points.reduce((sum, { listeners }) => sum + listeners.average, 0) / points.length : 0;
  return { average: line(({ listeners }) => listeners.average), most: line(({ listeners }) => listeners.max), top, mean, peak };
}
