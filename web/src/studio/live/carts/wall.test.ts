import { describe, expect, it } from 'vitest';
import { cartOf, firstFree, freeKey, heardNow, keyOf, nameOf, progressOf, put, rowsOf, sent, slots, swap, without, type CartPage, type ShownCart } from './wall';

const cart = (slot: number, more: Partial<ShownCart> = {}): ShownCart => ({ slot, file: `sfx/${slot}.mp3`, label: '', colour: '', gainDb: 0, key: '', loop: false, title: `T${slot}`, durationMs: 1000, ...more });
const page = (...carts: ShownCart[]): CartPage => ({ name: 'p', carts });

describe('a draft of the wall', () => {
  it('puts, moves and takes off, in the order of its places', () => {
    const one = put(put(page(), cart(7)), cart(2));
    expect(one.carts.map(({ slot }) => slot)).toEqual([2, 7]);
    expect(put(one, cart(7, { label: 'x' })).carts.map(nameOf)).toEqual(['T2', 'x']);
    expect(swap(one, 7, 0).carts.map(({ slot, file }) => [slot, file])).toEqual([[0, 'sfx/7.mp3'], [2, 'sfx/2.mp3']]);
    expect(swap(one, 7, 2).carts.map(({ slot, file }) => [slot, file])).toEqual([[2, 'sfx/7.mp3'], [7, 'sfx/2.mp3']]);
    expect(without(one, 2).carts.map(({ slot }) => slot)).toEqual([7]);
  });

  it('finds the first free place and key, and none on a full page', () => {
    expect(firstFree(page(cart(0), cart(1), cart(3)))).toBe(2);
    expect(firstFree(page(...Array.from({ length: slots }, (_, slot) => cart(slot))))).toBe(-1);
    expect(freeKey(page(cart(0, { key: '1' }), cart(1, { key: '2' })))).toBe('3');
    expect(cartOf({ file: 'a.mp3', title: 'A', durationMs: 5 }, 4, page(cart(0, { key: '1' })))).toMatchObject({ slot: 4, key: '2', title: 'A', gainDb: 0 });
  });

  it('sends what the station keeps, and nothing that it says itself', () => {
    expect(sent([page(cart(3, { missing: true, problem: 'x' }))])).toEqual([{ name: 'p', carts: [{ slot: 3, file: 'sfx/3.mp3', label: '', colour: '', gainDb: 0, key: '', loop: false }] }]);
  });

  it('shows rows up to the last cart', () => {
    expect([rowsOf(undefined, 5), rowsOf(page(), 5), rowsOf(page(cart(0)), 5), rowsOf(page(cart(5)), 5), rowsOf(page(cart(19)), 2)]).toEqual([0, 0, 1, 2, 10]);
  });
});

it('a key is a digit by its place, a letter as written, and by its place in another script', () => {
  const press = (key: string, code: string) => keyOf({ key, code });
  expect(press('١', 'Digit1')).toBe('1');
  expect(press('&', 'Digit1')).toBe('1'); // AZERTY
  expect(press('3', 'Numpad3')).toBe('3');
  expect(press('ش', 'KeyA')).toBe('a');
  expect(press('Q', 'KeyQ')).toBe('q');
  expect(press('a', 'KeyQ')).toBe('a'); // AZERTY
  expect([press('Escape', 'Escape'), press('/', 'Slash'), press(' ', 'Space'), press('F1', 'F1')]).toEqual(['', '', '', '']);
});

it('an answer that is older than a press or a stop of here takes neither back', () => {
  const one = (id: string) => ({ id, page: 0, slot: 0, startedAt: 0, durationMs: 9000, positionMs: 0, loop: false });
  const heard = (now: number) => heardNow([one('a'), one('b')], [{ one: one('b'), at: 1000 }, { one: one('c'), at: 1000 }], new Map([['a', 1000]]), now).map(({ id }) => id);
  expect(heard(1200)).toEqual(['b', 'c']);
  expect(heard(9000)).toEqual(['a', 'b']);
});

it('what is left of a cart is told, and of a loop of its round', () => {
  const playing = { id: 'x', page: 0, slot: 0, startedAt: 1000, durationMs: 4000, positionMs: 0, loop: false };
  expect(progressOf(playing, 2000)).toEqual({ part: 0.25, leftMs: 3000 });
  expect(progressOf(playing, 9000)).toEqual({ part: 1, leftMs: 0 });
  expect(progressOf(playing, 500)).toEqual({ part: 0, leftMs: 4000 });
  expect(progressOf({ ...playing, loop: true }, 6000)).toEqual({ part: 0.25, leftMs: 3000 });
});
