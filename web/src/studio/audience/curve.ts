import type { Airing, Point } from './answers';

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
