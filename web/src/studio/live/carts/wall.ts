import { latinOf } from '../../keyboard';

/** The cart wall as the station has it, and what is done to a draft of it. No page is touched here. */

export interface Cart {
  slot: number;
  file: string;
  label: string;
  colour: string;
  gainDb: number;
  key: string;
  loop: boolean;
}

/** A cart with what the station says of its file. */
export interface ShownCart extends Cart {
  title: string;
  durationMs: number;
  missing?: boolean;
  problem?: string;
}

export interface CartPage {
  name: string;
  carts: ShownCart[];
}

export interface Playing {
  id: string;
  page: number;
  slot: number;
  startedAt: number;
  durationMs: number;
  positionMs: number;
  loop: boolean;
}

export interface CartsAnswer {
  version: number;
  pages: CartPage[];
  live: boolean;
  desk: boolean;
  playing: Playing[];
  now: number;
}

/** A draft that is not saved yet: version is that of the wall it was made of, page the one that was open. */
export interface WallDraft {
  pages: CartPage[];
  version: number;
  page: number;
}

export const slots = 20;
export const mostPages = 8;
/** A cart is a minute long; the station lets half a second pass. */
export const longestMs = 60_500;
export const colours = ['', 'grey', 'red', 'amber', 'green', 'teal', 'blue', 'violet', 'pink'] as const;
export const keys = [...'1234567890abcdefghijklmnopqrstuvwxyz'] as const;

export const nameOf = (cart: Pick<ShownCart, 'label' | 'title' | 'file'>): string => cart.label || cart.title || cart.file.slice(cart.file.lastIndexOf('/') + 1);

export const at = (page: CartPage | undefined, slot: number): ShownCart | undefined => page?.carts.find((cart) => cart.slot === slot);

/** The first place without a cart; -1 where the page is full. */
export function firstFree(page: CartPage): number {
  for (let slot = 0; slot < slots; slot++) if (!at(page, slot)) return slot;
  return -1;
}

/** The page with a cart at its place, in the place of what stood there. */
export function put(page: CartPage, cart: ShownCart): CartPage {
  return { ...page, carts: [...page.carts.filter((other) => other.slot !== cart.slot), cart].sort((a, b) => a.slot - b.slot) };
}

/** The page with what stood at one place at the other, and the other way round. */
export function swap(page: CartPage, from: number, to: number): CartPage {
  const there = (slot: number): number => (slot === from ? to : slot === to ? from : slot);
  return { ...page, carts: page.carts.map((cart) => ({ ...cart, slot: there(cart.slot) })).sort((a, b) => a.slot - b.slot) };
}

export function without(page: CartPage, slot: number): CartPage {
  return { ...page, carts: page.carts.filter((cart) => cart.slot !== slot) };
}

/** The first key that no cart of the page has. */
export function freeKey(page: CartPage): string {
  return keys.find((key) => !page.carts.some((cart) => cart.key === key)) ?? '';
}

/** A cart of a file, as it is first. */
export function cartOf(item: { file: string; title: string; durationMs: number }, slot: number, page: CartPage): ShownCart {
  return { slot, file: item.file, label: '', colour: '', gainDb: 0, key: freeKey(page), loop: false, title: item.title, durationMs: item.durationMs };
}

/** What is sent of a draft. */
export function sent(pages: readonly CartPage[]): { name: string; carts: Cart[] }[] {
  return pages.map(({ name, carts }) => ({ name, carts: carts.map(({ slot, file, label, colour, gainDb, key, loop }) => ({ slot, file, label, colour, gainDb, key, loop })) }));
}

/** How many rows of places a page shows while it is not edited: up to the last cart. */
export function rowsOf(page: CartPage | undefined, columns: number): number {
  return Math.ceil((Math.max(-1, ...(page?.carts ?? []).map(({ slot }) => slot)) + 1) / columns);
}

/** The key of a cart that a press means: a digit by its place, a letter as it is written, or by its place where another script is. */
export function keyOf(press: Pick<KeyboardEvent, 'key' | 'code'>): string {
  const digit = /^(?:Digit|Numpad)(\d)$/.exec(press.code)?.[1];
  if (digit !== undefined) return digit;
  const letter = latinOf(press);
  return /^[a-z]$/.test(letter) ? letter : '';
}

/** A length in whole seconds, and none that is shown as nothing. */
export const whole = (ms: number): number => Math.ceil(ms / 1000) * 1000;

/** How long an answer may be older than what was pressed here: the station asks its desk a few times a second. */
export const staleMs = 1500;

/** What is heard by an answer that may not know yet of what was pressed and stopped here; at is when that was. */
export function heardNow(told: readonly Playing[], pressed: readonly { one: Playing; at: number }[], stopped: ReadonlyMap<string, number>, now: number): Playing[] {
  const young = (at: number | undefined): boolean => at !== undefined && now - at < staleMs;
  const unknown = pressed.filter(({ one, at }) => young(at) && !told.some(({ id }) => id === one.id)).map(({ one }) => one);
  return [...told, ...unknown].filter(({ id }) => !young(stopped.get(id)));
}

/** How far a cart is, from 0 to 1, and what is left of this round. */
export function progressOf(playing: Playing, now: number): { part: number; leftMs: number } {
  const long = playing.durationMs || 1;
  const heard = Math.max(0, now - playing.startedAt);
  const into = playing.loop ? heard % long : Math.min(heard, long);
  return { part: into / long, leftMs: Math.max(0, long - into) };
}

/** What is dragged to a place: a cart by its place, or a song of the search as JSON. */
export const dragged = { place: 'application/x-athir-cart', song: 'application/x-athir-song' } as const;

/** A song of the library as the search shows it. */
export interface Song {
  file: string;
  title: string;
  artist: string;
  durationMs: number;
}

export const tooLong = (song: Pick<Song, 'durationMs'>): boolean => song.durationMs > longestMs;

/** What was dropped on a place; null where it is no song that a cart may be. */
export function songOf(text: string): Song | null {
  try {
    const song = JSON.parse(text) as Song;
    return typeof song.file === 'string' && typeof song.title === 'string' && typeof song.durationMs === 'number' && !tooLong(song) ? song : null;
  } catch {
    return null;
  }
}
