/** The arithmetic of moving entries of a list: places are counted from 0 before the move, and "to" is the place before which they go. */

export interface Move {
  /** Rising. */
  places: readonly number[];
  to: number;
}

/** How many of the places lie before one. */
const before = (places: readonly number[], to: number): number => {
  let n = 0;
  for (const place of places) if (place < to) n++;
  return n;
};

/** Where the first of what is moved comes to stand. */
export const landing = ({ places, to }: Move): number => to - before(places, to);

/** The places of what was moved, afterwards. */
export const landed = (move: Move): number[] => move.places.map((_, i) => landing(move) + i);

/** Whether the move leaves everything where it is. */
export const isIdle = (move: Move): boolean => landed(move).every((place, i) => place === move.places[i]);

/** A list after the move. */
export function movedList<T>(list: readonly T[], move: Move): T[] {
  const chosen = new Set(move.places);
  const rest = list.filter((_, i) => !chosen.has(i));
  rest.splice(landing(move), 0, ...move.places.map((place) => list[place] as T));
  return rest;
}

/** Where an entry stands after the move. */
export function placeAfter(place: number, move: Move): number {
  const first = landing(move);
  const among = move.places.indexOf(place);
  if (among >= 0) return first + among;
  const rest = place - before(move.places, place);
  return rest < first ? rest : rest + move.places.length;
}

/** The move that takes entries one place up or down, as one block; null where they are at the end already. */
export function step(places: readonly number[], by: -1 | 1, total: number): Move | null {
  const [first, last] = [places[0], places.at(-1)];
  if (first === undefined || last === undefined) return null;
  const gathered = last - first + 1 === places.length;
  if (!gathered) return { places, to: by < 0 ? first : last + 1 }; // what lies apart comes together first
  if (by < 0) return first === 0 ? null : { places, to: first - 1 };
  return last >= total - 1 ? null : { places, to: last + 2 };
}

/** One move in place of two, where the second takes on what the first moved; null where it moves something else. */
export function joined(first: Move, second: Move, total: number): Move | null {
  const block = landed(first);
  if (block.length !== second.places.length || block.some((place, i) => place !== second.places[i])) return null;
  const target = landing(second); // so many of the others come before the block
  const chosen = new Set(first.places);
  let others = 0;
  for (let place = 0; place < total; place++) {
    if (chosen.has(place)) continue;
    if (others === target) return { places: first.places, to: place };
    others++;
  }
  return { places: first.places, to: total };
}

/** Where a place is once others are gone; -1 where it is one of them. */
export function placeWithout(place: number, gone: readonly number[]): number {
  return gone.includes(place) ? -1 : place - before(gone, place);
}

/** Chosen places, in order. */
export const rising = (places: Iterable<number>): number[] => [...places].sort((a, b) => a - b);
