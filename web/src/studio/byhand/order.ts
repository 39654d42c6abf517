import { isIdle, landing, movedList, type Move } from '../moves';
import type { Break, Coming, Order, Song } from './answers';

/** The arithmetic of an edit of what is to come. A place is counted from 0 among the entries; a position is the station's name for it. */

/** So many entries may be held, where the station does not say. */
export const mostHeld = 50;

export const placeOf = (entries: readonly Coming[], position: number | undefined): number => entries.findIndex((entry) => entry.position === position);

/** The position before which something goes that is put at a place; behind the last one there is one more. */
export const positionAt = (entries: readonly Coming[], place: number): number => entries[place]?.position ?? (entries.at(-1)?.position ?? -1) + 1;

/** The place before which an order puts something. */
export function aimOf(entries: readonly Coming[], to: number | undefined): number {
  if (to === undefined) return highest(entries);
  const place = placeOf(entries, to);
  return place < 0 ? entries.length : place;
}

/** The position before which an entry goes, or something new, that should stand at a place once it is there. */
export function aimAt(entries: readonly Coming[], position: number | undefined, place: number): number {
  const others = entries.filter((entry) => entry.position !== position);
  return others[place]?.position ?? positionAt(entries, entries.length);
}

/** How far down something may be put: what is above it is held with it. */
export const lowest = (entries: readonly Coming[], most = mostHeld): number => Math.min(entries.length, most);

/** The first place that can be given away: what the playout engine has open stays before it. */
export const highest = (entries: readonly Coming[]): number => entries.findLastIndex(({ opened }) => opened) + 1;

/** What is to come once the order is carried out, with the times that follow, and where what it is about stands then; null where the order is about nothing that is there. */
export function preview(entries: readonly Coming[], order: Order, song?: Song): { entries: Coming[]; at: number } | null {
  const place = placeOf(entries, order.position);
  if (order.op === 'insert') {
    if (!song) return null;
    const at = aimOf(entries, order.to);
    const { durationMs = 0, ...rest } = song;
    const put: Coming = { type: song.category, ...rest, durationMs, position: -1, hand: true };
    return { entries: timed(entries, entries.toSpliced(at, 0, put)), at };
  }
  if (place < 0) return null;
  if (order.op === 'remove') return { entries: timed(entries, entries.toSpliced(place, 1)), at: Math.min(place, entries.length - 2) };
  if (order.op === 'move') {
    const move = moveOf(entries, order, place);
    return { entries: timed(entries, movedList(entries, move)), at: landing(move) };
  }
  return { entries: [...entries], at: place };
}

function moveOf(entries: readonly Coming[], order: Order, place = placeOf(entries, order.position)): Move {
  return { places: [place], to: aimOf(entries, order.to) };
}

/** Whether an order leaves everything as it is. */
export function changesNothing(entries: readonly Coming[], order: Order): boolean {
  return order.op === 'move' && placeOf(entries, order.position) >= 0 && isIdle(moveOf(entries, order));
}

/** The times of entries in a new order: each takes as long on the air as it would have in the old one. */
function timed(before: readonly Coming[], after: Coming[]): Coming[] {
  const start = before[0]?.expectedAt;
  if (!start) return after;
  const takes = new Map<Coming, number>();
  before.forEach((entry, i) => {
    const [from, to] = [entry.expectedAt, before[i + 1]?.expectedAt];
    takes.set(entry, from && to && to > from ? to - from : entry.durationMs);
  });
  let at = start;
  return after.map((entry) => {
    const expectedAt = at;
    at += takes.get(entry) ?? entry.durationMs;
    return { ...entry, expectedAt };
  });
}

/** An order in words that hold when the queue is another one: which file, and between which neighbours. */
export interface Intent {
  op: Order['op'];
  file: string;
  /** Where it stood, to tell several of one file apart. */
  place: number;
  /** The files that would follow and precede it; none at an end. */
  before: string | null;
  after: string | null;
  /** It goes to the head, whatever is there. */
  next: boolean;
}

export function intentOf(entries: readonly Coming[], order: Order): Intent {
  const place = placeOf(entries, order.position);
  const file = order.op === 'insert' ? (order.file ?? '') : (entries[place]?.file ?? '');
  const aim = aimOf(entries, order.to);
  const others = entries.map((entry, i) => ({ file: entry.file, i })).filter(({ i }) => order.op === 'insert' || i !== place);
  return {
    op: order.op, file, place: Math.max(0, place), next: aim <= highest(entries),
    before: others.find(({ i }) => i >= aim)?.file ?? null,
    after: others.findLast(({ i }) => i < aim)?.file ?? null,
  };
}

/** The order that does in another queue what was meant in the first; null where nothing of it is left to do it to. */
export function orderFrom(intent: Intent, entries: readonly Coming[]): Order | null {
  const { op, file } = intent;
  const position = op === 'insert' ? undefined : nearest(entries, file, intent.place)?.position;
  if (op !== 'insert' && position === undefined) return null;
  if (op === 'remove' || op === 'lock' || op === 'release') return { op, ...(position === undefined ? {} : { position }) };
  const to = aimFrom(intent, entries, position);
  if (to === null) return null;
  return { op, to, ...(op === 'insert' ? { file } : {}), ...(position === undefined ? {} : { position }) };
}

function aimFrom({ next, before, after, place }: Intent, entries: readonly Coming[], own: number | undefined): number | null {
  if (next) return positionAt(entries, highest(entries));
  const others = entries.filter((entry) => entry.position !== own);
  const following = before === null ? undefined : nearest(others, before, place);
  if (following) return following.position;
  const preceding = after === null ? undefined : nearest(others, after, place);
  return preceding ? positionAt(entries, placeOf(entries, preceding.position) + 1) : null;
}

/** An entry as it was met in one version of the queue. */
export interface Met {
  version: string | null;
  position: number;
  file: string;
  place: number;
  /** As one says it. */
  name: string;
}

/** An entry that was met before, in the queue as it is now: there its place and position may be others. */
export function metAgain({ version, position, file, place }: Met, entries: readonly Coming[], now: string | null): Coming | undefined {
  return version === now ? entries.find((entry) => entry.position === position && entry.file === file) : nearest(entries, file, place);
}

/** Of several entries of one file the one nearest to a place. */
function nearest(entries: readonly Coming[], file: string, place: number): Coming | undefined {
  let best: { entry: Coming; off: number } | undefined;
  entries.forEach((entry, i) => {
    const off = Math.abs(i - place);
    if (entry.file === file && (!best || off < best.off)) best = { entry, off };
  });
  return best?.entry;
}

/** Rules that tell how the rotation is spread, not what a listener would notice. */
const light = ['turnover', 'same-hour', 'genre-split'];
/** A timed event may be off by this much. */
const soonEnoughMs = 15_000;

/** What is asked about before it is done. */
export const weighty = (breaks: readonly Break[]): Break[] =>
  breaks.filter(({ rule, lateMs }) => !light.includes(rule) && (rule !== 'timed-event' || lateMs === undefined || Math.abs(lateMs) > soonEnoughMs));
