import { describe, expect, it } from 'vitest';
import { beside, Known, numberOf } from './known';

const entry = (n: number, text = '') => ({ id: `m${n}`, text });

describe('what is known of a list', () => {
  it('holds each entry once and in order, however history and events mix them', () => {
    const known = new Known<{ id: string; text: string }>();
    expect(known.take([entry(9), entry(10)]).map(({ id }) => id)).toEqual(['m9', 'm10']);
    expect(known.take([entry(11), entry(10), entry(11)]).map(({ id }) => id)).toEqual(['m11']);
    expect(known.take([entry(2), entry(9)])).toHaveLength(1);
    expect(known.entries.map(({ id }) => id)).toEqual(['m2', 'm9', 'm10', 'm11']);
    expect([known.oldest, known.newest]).toEqual(['m2', 'm11']);
  });

  it('renews what it knows, and never brings back what was deleted', () => {
    const known = new Known<{ id: string; text: string }>();
    known.take([entry(1, 'a'), entry(2, 'b')]);
    known.take([entry(1, 'c')]);
    known.drop('m2');
    known.drop('m3'); // told before it was known
    known.take([entry(2, 'b'), entry(3)]);
    expect(known.entries).toEqual([entry(1, 'c')]);
  });

  it('keeps what has no id of the station’s between its neighbours, and asks nothing by it', () => {
    const known = new Known<{ id: string; text: string }>();
    known.take([{ id: beside('', 1), text: 'first' }]);
    expect(known.oldest).toBe('');
    known.take([entry(7), entry(8)]);
    known.take([{ id: beside(known.newest, 2), text: 'welcome' }]);
    known.take([{ id: beside(known.newest, 3), text: 'welcome' }, entry(9)]);
    expect(known.entries.map(({ id }) => id)).toEqual(['m0.0001', 'm7', 'm8', 'm8.0002', 'm8.0003', 'm9']);
    expect(known.oldest).toBe('m7');
  });

  it('takes nothing that is no id', () => {
    const known = new Known<{ id: string }>();
    for (const id of ['', 'm', '12', 'm-1', 'm1e9', 'mm1', null, 7]) known.take([{ id: id as string }]);
    expect(known.entries).toEqual([]);
    expect(numberOf('c42')).toBe(42);
  });
});
