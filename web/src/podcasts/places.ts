/** Where one has got to in episodes, as this browser remembers it. */

export interface Place {
  /** Seconds. */
  at: number;
  of: number;
  done: boolean;
  /** Epoch milliseconds: when it was last heard. */
  when: number;
  title: string;
  showTitle: string;
  cover: string;
}

/** By `show/id`. */
export type Places = Readonly<Record<string, Place>>;

const most = 300;
/** What was only tried is not remembered. */
const leastSeconds = 5;

/** Whether an episode of a length is heard to its end: what is left is a last word. */
export const isDone = (at: number, of: number): boolean => of > 0 && of - at <= Math.min(20, Math.max(2, of * 0.03));

/** The second from which an episode goes on. */
export function resumeAt(place: Place | undefined): number {
  return place && !place.done && place.at >= leastSeconds ? place.at : 0;
}

/** Those that were begun and not ended, the last first. */
export function begun(places: Places): (Place & { key: string })[] {
  return Object.entries(places)
    .filter(([, place]) => resumeAt(place) > 0)
    .map(([key, place]) => ({ key, ...place }))
    .sort((a, b) => b.when - a.when);
}

/** The places with one more; the oldest go. */
export function withPlace(places: Places, key: string, place: Place): Places {
  const all = Object.entries({ ...places, [key]: place }).sort(([, a], [, b]) => b.when - a.when);
  return Object.fromEntries(all.slice(0, most));
}

/** Reads what was kept, whatever it is by now. */
export function readPlaces(text: string | null): Places {
  let all: unknown;
  try {
    all = JSON.parse(text ?? '{}');
  } catch {
    return {};
  }
  if (typeof all !== 'object' || all === null || Array.isArray(all)) return {};
  const good = Object.entries(all).filter(([key, place]) => /^[a-z0-9-]+\/[a-z2-7]{16}$/.test(key) && isPlace(place));
  return Object.fromEntries(good.slice(0, most)) as Places;
}

function isPlace(value: unknown): value is Place {
  if (typeof value !== 'object' || value === null) return false;
  const { at, of, done, when, title, showTitle, cover } = value as Record<string, unknown>;
  return [at, of, when].every((n) => typeof n === 'number' && Number.isFinite(n) && n >= 0) && typeof done === 'boolean' && [title, showTitle, cover].every((text) => typeof text === 'string');
}
