import { describe, expect, it } from 'vitest';
import type { Coming, Order } from './answers';
import { aimAt, aimOf, changesNothing, highest, intentOf, metAgain, mostHeld, lowest, orderFrom, positionAt, preview, weighty } from './order';

const noon = Date.UTC(2026, 0, 15, 12);
/** Entries named by letters, each 200 s long of which 190 are heard alone. */
const queue = (letters: string, from = 38): Coming[] =>
  [...letters].map((file, i) => ({ file, title: file, artist: '', category: 'english', type: 'music', durationMs: 200_000, position: from + i, expectedAt: noon + i * 190_000 }));
const after = (letters: string, order: Order, song?: string) => {
  const seen = preview(queue(letters), order, song ? { file: song, title: song, artist: '', category: 'english', durationMs: 100_000 } : undefined);
  return seen && [seen.entries.map(({ file }) => file).join(''), seen.at];
};

describe('the order after an edit', () => {
  it('has what is moved before the entry of the position, and behind the last', () => {
    expect(after('abcdef', { op: 'move', position: 38, to: 41 })).toEqual(['bcadef', 2]);
    expect(after('abcdef', { op: 'move', position: 42, to: 38 })).toEqual(['eabcdf', 0]);
    expect(after('abcdef', { op: 'move', position: 39, to: 44 })).toEqual(['acdefb', 5]);
  });

  it('has what is inserted, and not what is removed', () => {
    expect(after('abc', { op: 'insert', file: 'X' }, 'X')).toEqual(['Xabc', 0]);
    expect(after('abc', { op: 'insert', file: 'X', to: 40 }, 'X')).toEqual(['abXc', 2]);
    expect(after('abc', { op: 'insert', file: 'X', to: 41 }, 'X')).toEqual(['abcX', 3]);
    expect(after('abc', { op: 'remove', position: 40 })).toEqual(['ab', 1]);
    expect(after('', { op: 'insert', file: 'X' }, 'X')).toEqual(['X', 0]);
  });

  it('has an inserted jingle as one, not as music', () => {
    const jingle = { file: 'X', title: 'X', artist: '', category: 'jingles' };
    expect(preview(queue('ab'), { op: 'insert', file: 'X' }, jingle)?.entries[0]).toMatchObject({ category: 'jingles', type: 'jingles' });
  });

  it('is nothing where the entry was heard meanwhile', () => {
    expect(after('abc', { op: 'move', position: 12, to: 38 })).toBeNull();
    expect(after('abc', { op: 'remove', position: 12 })).toBeNull();
  });

  it('has the times that follow: each entry takes what it took', () => {
    const { entries } = preview(queue('abc'), { op: 'insert', file: 'X', to: 39 }, { file: 'X', title: 'X', artist: '', category: 'english', durationMs: 100_000 })!;
    expect(entries.map(({ expectedAt }) => (expectedAt! - noon) / 1000)).toEqual([0, 190, 290, 480]);
  });

  it('changes nothing where an entry is put before or behind itself', () => {
    const moves = [38, 39, 40, 41].map((to) => changesNothing(queue('abc'), { op: 'move', position: 39, to }));
    expect(moves).toEqual([false, true, true, false]);
  });

  it('stands at the place that was aimed at, from above and from below', () => {
    for (const position of [38, 40, 42]) {
      for (const place of [0, 1, 2, 3, 4]) expect(preview(queue('abcde'), { op: 'move', position, to: aimAt(queue('abcde'), position, place) })?.at, `${position} to ${place}`).toBe(place);
    }
    expect(preview(queue('ab'), { op: 'insert', file: 'X', to: aimAt(queue('ab'), undefined, 1) }, { file: 'X', title: '', artist: '', category: '' })?.at).toBe(1);
  });

  it('never comes before what the playout engine has open', () => {
    const [first, ...rest] = queue('abcd');
    const open = [{ ...first!, opened: true }, ...rest];
    expect([highest(open), highest(queue('abc')), aimOf(open, undefined)]).toEqual([1, 0, 1]);
    expect(orderFrom(intentOf(queue('xabcd'), { op: 'move', position: 42, to: 38 }), open)).toEqual({ op: 'move', position: 41, to: 39 });
  });

  it('goes no deeper than may be held', () => {
    expect(lowest(queue('a'.repeat(80)))).toBe(mostHeld);
    expect(lowest(queue('abc'))).toBe(3);
  });
});

describe('what was meant, in a queue that has changed', () => {
  const meant = (letters: string, order: Order, later: string) => {
    const entries = queue(later, 0);
    const again = orderFrom(intentOf(queue(letters), order), entries);
    return again && preview(entries, again, order.file ? { file: order.file, title: '', artist: '', category: 'english' } : undefined)?.entries.map(({ file }) => file).join('');
  };

  it('is the same file before the same neighbour', () => {
    expect(meant('abcdef', { op: 'move', position: 42, to: 40 }, 'bcdef')).toBe('becdf');
    expect(meant('abcdef', { op: 'move', position: 42, to: 40 }, 'xbcyde')).toBe('xbecyd');
  });

  it('is behind the one before it where the one after it has gone', () => {
    expect(meant('abcdef', { op: 'move', position: 42, to: 40 }, 'xbyeda')).toBe('xbeyda');
    expect(meant('abcdef', { op: 'move', position: 39, to: 44 }, 'abcdefgh')).toBe('acdefbgh');
  });

  it('stays the next one, whatever is at the head now', () => {
    expect(meant('abcdef', { op: 'move', position: 42, to: 38 }, 'qrbcdefs')).toBe('eqrbcdfs');
    expect(meant('abc', { op: 'insert', file: 'X' }, 'qr')).toBe('Xqr');
  });

  it('is given up where the entry or both neighbours are gone', () => {
    expect(meant('abcdef', { op: 'move', position: 42, to: 40 }, 'abcdf')).toBeNull();
    expect(meant('abcdef', { op: 'move', position: 42, to: 40 }, 'adef')).toBeNull();
    expect(meant('abcdef', { op: 'remove', position: 40 }, 'abdef')).toBeNull();
  });

  it('takes of two entries of one file the one that stood nearest', () => {
    expect(orderFrom(intentOf(queue('abcdefa'), { op: 'remove', position: 44 }), queue('abcdefa', 7))).toEqual({ op: 'remove', position: 13 });
    expect(orderFrom(intentOf(queue('abcdefa'), { op: 'lock', position: 38 }), queue('abcdefa', 7))).toEqual({ op: 'lock', position: 7 });
  });
});

it('positions and places find each other, at the end as well', () => {
  expect([0, 2, 3].map((place) => positionAt(queue('abc'), place))).toEqual([38, 40, 41]);
  expect([38, 40, 41, undefined].map((to) => aimOf(queue('abc'), to))).toEqual([0, 2, 3, 0]);
  expect(positionAt([], 0)).toBe(0);
});

it('what a listener would notice is asked about, how the rotation is spread is not', () => {
  const rules = (all: { rule: string; lateMs?: number }[]) => weighty(all.map((one) => ({ position: 1, file: '', title: '', ...one }))).map(({ rule }) => rule);
  expect(rules([{ rule: 'turnover' }, { rule: 'artist-gap' }, { rule: 'genre-split' }, { rule: 'a-rule-of-tomorrow' }])).toEqual(['artist-gap', 'a-rule-of-tomorrow']);
  expect(rules([{ rule: 'timed-event', lateMs: 9000 }, { rule: 'timed-event', lateMs: 180_000 }, { rule: 'timed-event' }])).toEqual(['timed-event', 'timed-event']);
});

describe('an entry that was met before', () => {
  const met = { version: '1', position: 40, file: 'c', place: 2, name: 'c' };

  it('is at its position while that is of the same version, and nowhere once it was heard', () => {
    expect(metAgain(met, queue('abcd').slice(1), '1')?.position).toBe(40);
    expect(metAgain(met, queue('abcd').slice(3), '1')).toBeUndefined();
    expect(metAgain(met, queue('abXc'), '1')).toBeUndefined(); // another of its file is another one
  });

  it('is found by its file in another version, whatever has its position there', () => {
    expect(metAgain(met, queue('xyzabc'), '2')?.position).toBe(43);
    expect(metAgain(met, queue('abd'), '2')).toBeUndefined();
  });
});
