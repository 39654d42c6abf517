/** What decides when a page looks at the station again. */
export interface Footing {
  /** Events tell all that is shown. */
  told: boolean;
  /** Events come, but are not believed alone. */
  confirms: boolean;
  visible: boolean;
  /** Looks without an answer, in a row. */
  failures: number;
}

const visibleMs = 3000;
const confirmMs = 20_000;
const hiddenMs = 12_000;
const longestMs = 20_000;
/** So soon it is noticed that events come no more. */
const checkMs = 15_000;
export const patienceFailures = 2;

/**
 * How long until the next look, ms. Whoever is told looks only whether that is so. All
 * others are spread by a quarter: thousands that lost a station at one moment ask at many.
 */
export function pauseOf({ told, confirms, visible, failures }: Footing, chance = Math.random()): number {
  if (told) return checkMs;
  const often = confirms ? confirmMs : visibleMs;
  const pace = visible ? often : Math.max(often, hiddenMs);
  return Math.min(longestMs, pace * Math.max(1, failures - patienceFailures)) * (0.75 + chance / 4);
}
