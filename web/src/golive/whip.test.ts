import { describe, expect, it } from 'vitest';
import type { Facts } from './sign';
import { Events, keyIn } from './whip';

describe('the key', () => {
  it('is found in the link, in a part of it and by itself', () => {
    const key = 'PUB1a2b.s3cr-et_XYZ';
    for (const text of [`https://radio.example/go-live#k=${key}`, `#k=${key}`, `#x=1&k=${key}`, ` ${key}\n`, `#k=${key.replace('.', '%2E')}`]) expect(keyIn(text), text).toBe(key);
  });

  it('is not seen in what is none', () => {
    for (const text of ['', '#', '#k=', 'name', 'a b.secret', 'https://radio.example/go-live', '#k=%', 'name.', '.secret', 'id.<script>']) expect(keyIn(text), text).toBe('');
  });
});

describe('the facts', () => {
  const read = (...pieces: string[]): Facts[] => {
    const told: Facts[] = [];
    const events = new Events((facts) => told.push(facts));
    for (const piece of pieces) events.take(piece);
    return told;
  };
  const whole = ': hello\n\nevent: facts\ndata: {"state":"waiting"}\n\ndata: {"state":\r\ndata: "on air"}\r\n\r\n';

  it('are read however the network cuts them', () => {
    const expected = [{ state: 'waiting' }, { state: 'on air' }];
    expect(read(whole)).toEqual(expected);
    for (let i = 0; i < whole.length; i++) expect(read(whole.slice(0, i), whole.slice(i)), String(i)).toEqual(expected);
  });

  it('that are damaged are skipped, and the next are read', () => {
    expect(read('data: {"state"\n\n', 'data: null\n\n', 'data: {"state":"off"}\n\n')).toEqual([{ state: 'off' }]);
  });
});
