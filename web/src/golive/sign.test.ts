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

  it('tells a hole and a show that holds the air from waiting', () => {
    const signs = (['off', 'connecting', 'waiting', 'on air', 'grace', 'held'] as const).map((state) => signOf('linked', { state, holds: true }, 0));
    expect(signs).toEqual(['waiting', 'unsure', 'waiting', 'on air', 'grace', 'held']);
    expect(signs.map((sign: Sign) => goesOn(sign))).toEqual([false, false, false, true, true, true]);
  });
});
