/** What is being sent to the library from this page, as a table without any network. */
import type { Arrival } from '../answers';

/**
 * | state | meaning |
 * |---|---|
 * | line | waits until one of those before it is done |
 * | sending | bytes leave |
 * | paused | by the operator |
 * | waiting | after a failure, until retryAt or until the network is back |
 * | missing | after a reload: the browser has given the file up, and it must be dropped again |
 * | refused | the station will not have it |
 * | sent | the station has all of it, and it is not among the arrivals yet |
 */
export type SendState = 'line' | 'sending' | 'paused' | 'waiting' | 'missing' | 'refused' | 'sent';

export interface Sending {
  id: string;
  batch: string;
  name: string;
  folder: string;
  size: number;
  category: string;
  /** The path of the track whose file it replaces, or empty. */
  replace: string;
  state: SendState;
  sent: number;
  /** Address of the upload; empty before the station has named it. */
  url: string;
  attempt: number;
  retryAt: number;
  /** Why it is refused or waits, in the page's language. */
  said: string;
  at: number;
}

/** So many are sent at once. */
export const atOnce = 3;
const longestMs = 7 * 86_400_000;

/** Those that may begin now, in their order. */
export function toStart(list: readonly Sending[]): Sending[] {
  const busy = list.filter(({ state }) => state === 'sending').length;
  return list.filter(({ state }) => state === 'line').slice(0, Math.max(0, atOnce - busy));
}

/** Whether leaving the page would break anything off. */
export const isBusy = (list: readonly Sending[]): boolean => list.some(({ state }) => state === 'line' || state === 'sending' || state === 'waiting' || state === 'paused');

/** The one that a file which was dropped again belongs to: the browser names a file by no more than name, folder and size. */
export function missingOf(list: readonly Sending[], file: { name: string; size: number; folder: string }): Sending | undefined {
  const fit = list.filter(({ state, name, size }) => state === 'missing' && name === file.name && size === file.size);
  return fit.find(({ folder }) => folder === file.folder) ?? fit[0];
}

/** Bytes of all that is sent or was since the list was last empty. */
export function overall(list: readonly Sending[], doneBytes: number): { sent: number; total: number; share: number } {
  const counted = list.filter(({ state }) => state !== 'refused' && state !== 'missing');
  const sent = counted.reduce((sum, one) => sum + (one.state === 'sent' ? one.size : one.sent), doneBytes);
  const total = counted.reduce((sum, one) => sum + one.size, doneBytes);
  return { sent, total, share: total > 0 ? sent / total : 0 };
}

/** What a reload finds: nothing but names and addresses. */
export function reloaded(kept: readonly Sending[], now: number): Sending[] {
  return kept.filter(({ at, state }) => now - at < longestMs && state !== 'sent').map((one) => ({ ...one, state: one.state === 'refused' ? 'refused' : 'missing', said: one.state === 'refused' ? one.said : '' }));
}

type Shown = Pick<Arrival, 'state' | 'airsAt' | 'reason'>;

/** Whether the station works on a file now; one with a reason waits for something else: room, or the end of what is on the air. */
const moves = ({ state, reason }: Shown): boolean => state === 'waiting' || state === 'looking' || ((state === 'taking' || state === 'undoing') && !reason);
const lasts = ({ state, airsAt }: Shown): boolean => state === 'taking' || state === 'undoing' || (state === 'taken' && airsAt === 0);

/**
 * How long until the arrivals are asked for again, milliseconds; null: not before somebody looks.
 * sent: one is at the station, and not among them yet. A long list takes its time.
 */
export function lookAfter(arrivals: readonly Shown[], sent: boolean, visible: boolean): number | null {
  const active = sent || arrivals.some(moves);
  if (!visible) return active || arrivals.some(lasts) ? calmMs : null;
  if (active) return Math.min(15_000, 1500 + 5 * arrivals.length);
  return arrivals.some(lasts) ? 4000 : calmMs;
}

const calmMs = 20_000;

const sounds = /\.(mp3|mp2|flac|ogg|oga|opus|m4a|m4b|aac|wav|wave|aif|aiff|aifc|wma|ape|wv|mka|webm|mp4|mov|mkv|caf|ac3|amr|3gp|tta|tak|dsf|spx|au)$/i;

/** Whether a file may be a sound: pictures and texts of a dropped folder stay out. */
export const isSound = (name: string, type: string): boolean => !name.startsWith('.') && (type.startsWith('audio/') || sounds.test(name));

/** Metadata of an upload, without what is empty. */
export function metadataOf(one: Sending): Record<string, string> {
  const all = { filename: one.name.slice(-200), folder: one.folder, batch: one.batch, category: one.category, replace: one.replace };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
}
