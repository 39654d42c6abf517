/**
 * When the sound goes out by itself. Times are compared with the clock, not counted by ticks: a page that
 * nobody looks at ticks seldom.
 */
export type Plan =
  /** At this moment of the device's clock, epoch ms. */
  | { readonly at: number }
  /** When the track that began at this moment of the programme is over; lasting is its length in ms. */
  | { readonly song: number; readonly lasting: number };

/** The moments that decide: of the device's clock, of the programme that is heard, and when what is heard began. */
export interface Moments {
  readonly now: number;
  readonly heard: number;
  readonly began: number;
}

export const fadeMs = 10_000;
/** A song has an end of its own: it is only kept from running into the next. */
const songFadeMs = 2000;
const minutesMost = 600;

/** What is left, in ms; 0 where it is over. */
export function leftOf(plan: Plan, { now, heard, began }: Moments): number {
  if ('at' in plan) return Math.max(0, plan.at - now);
  if (began > plan.song) return 0; // skipped, or over
  return Math.max(0, plan.song + plan.lasting - heard);
}

/** How loud it is meanwhile, 1 to 0. */
export function fadeOf(plan: Plan, left: number): number {
  return Math.min(1, left / ('at' in plan ? fadeMs : songFadeMs));
}

/** So many minutes from now; null of what is no number of minutes. */
export function inMinutes(minutes: number, now: number): Plan | null {
  return Number.isFinite(minutes) && minutes >= 1 && minutes <= minutesMost ? { at: now + Math.round(minutes) * 60_000 } : null;
}
