import { describe, expect, it } from 'vitest';
import { freshMs, goesOn, signOf, type Facts, type Sign } from './sign';

const on: Facts = { state: 'on air', holds: true };

describe('the sign', () => {
  it('says on the air only while the connection stands and the station says so of this session, lately', () => {
    expect(signOf('linked', on, 0)).toBe('on air');
    expect(signOf('linked', on, freshMs)).toBe('on air');
    expect(signOf('linked', on, freshMs + 1)).toBe('unsure');
    expect(signOf('linked', null, 0)).toBe('unsure');
    expect(signOf('linked', { ...on, holds: false }, 0)).toBe('waiting');
    for (const name of ['ready', 'asking', 'connecting', 'mending', 'retrying', 'offline', 'ended']) expect(signOf(name, on, 0)).toBe(name);
  });

  it('tells a hole in a broadcast from waiting, in which no time on the air runs', () => {
    const signs = (['off', 'connecting', 'waiting', 'on air', 'grace', 'taken back', 'held'] as const).map((state) => signOf('linked', { state, holds: true }, 0));
    expect(signs).toEqual(['waiting', 'unsure', 'waiting', 'on air', 'grace', 'taken back', 'held']);
    expect(signs.filter((sign: Sign) => goesOn(sign))).toEqual(['on air', 'grace']);
  });

  it('tells who is on the air from the first sound on from who waits for the studio', () => {
    expect(signOf('linked', { state: 'called', called: true, holds: true }, 0)).toBe('called');
    expect(signOf('linked', { state: 'called', called: false, holds: true }, 0)).toBe('speak');
    expect(signOf('linked', { state: 'called', called: true, holds: false }, 0)).toBe('waiting');
  });
});
