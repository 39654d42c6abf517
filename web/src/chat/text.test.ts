import { describe, expect, it } from 'vitest';
import type { Message } from '../live/words';
import { fitted } from './picture';
import { barsOf } from './peaks';
import { rowsOf } from './rows';
import { lines, partsOf } from './text';

describe('what was written', () => {
  it('keeps its lines and loses what could reorder its surroundings', () => {
    expect(lines('one\u202e\r\ntwo\n\n\n\n three\u2067 ')).toBe('one\ntwo\n\nthree');
  });

  it('shows whole web addresses as links and everything else as words', () => {
    const hrefs = (text: string) => partsOf(text).flatMap(({ href }) => href ?? []);
    expect(partsOf('انظر https://athir.example/a?b=1، ثم')).toEqual([
      { text: 'انظر ' }, { text: 'https://athir.example/a?b=1', href: 'https://athir.example/a?b=1' }, { text: '، ثم' },
    ]);
    expect(hrefs('(http://x.example/y).')).toEqual(['http://x.example/y']);
    expect(hrefs('javascript:alert(1) data:text/html,x //x.example www.x.example http://')).toEqual([]);
    expect(partsOf('no link').map(({ text }) => text).join('')).toBe('no link');
  });
});

describe('the log', () => {
  const at = new Date(2026, 10, 21, 12).getTime();
  const message = (n: number, user: string, minutes: number, type: Message['type'] = 'text'): Message => ({ id: `m${n}`, user, text: '', room: 'main', type, at: at + minutes * 60_000 });

  it('puts days apart, neighbours together, and one line before what is new', () => {
    const rows = rowsOf([message(1, 'a', -1440), message(2, 'a', 0), message(3, 'a', 1), message(4, 'b', 2), message(5, 'b', 30)], 'm3');
    expect(rows.map((row) => (row.kind === 'message' ? `${row.message.id}${row.follows ? '+' : ''}` : row.kind))).toEqual(['day', 'm1', 'day', 'm2', 'm3+', 'new', 'm4', 'm5']);
  });

  it('starts a name again after the station has spoken', () => {
    const rows = rowsOf([message(1, 'a', 0), message(2, 'x', 0, 'admin'), message(3, 'a', 0)], '');
    expect(rows.filter((row) => row.kind === 'message' && row.follows)).toEqual([]);
  });
});

describe('what is sent', () => {
  it('fits: pictures keep their shape and never grow', () => {
    expect(fitted(4000, 3000)).toEqual({ width: 1600, height: 1200 });
    expect(fitted(30, 9000)).toEqual({ width: 5, height: 1600 });
    expect(fitted(640, 480)).toEqual({ width: 640, height: 480 });
    expect(fitted(1, 8000)).toEqual({ width: 1, height: 1600 });
  });

  it('is drawn as loud as it is', () => {
    const wave = Float32Array.from({ length: 400 }, (_, i) => (i < 200 ? 0 : 0.5));
    expect(barsOf(wave, 4)).toEqual([0, 0, 1, 1]);
    expect(barsOf(new Float32Array(0), 3)).toEqual([0, 0, 0]);
  });
});
