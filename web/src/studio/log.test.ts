import { describe, expect, it } from 'vitest';
import { atLeast, parseLine } from './log';

describe('a line of the log', () => {
  it('is read as slog writes it', () => {
    const line = parseLine('time=2026-11-21T13:00:00.250Z level=WARN+1 msg="now \\"playing\\"" role=control title="ليل \\u200f=x" ms=12');
    expect(line).toEqual({
      time: Date.UTC(2026, 10, 21, 13, 0, 0, 250), level: 'WARN', message: 'now "playing"',
      more: [['role', 'control'], ['title', 'ليل \u200f=x'], ['ms', '12']],
    });
  });

  it('that is no logfmt stands as it is', () => {
    expect(parseLine('panic: <b>a=1</b>')).toEqual({ time: 0, level: 'INFO', message: 'panic: <b>a=1</b>', more: [] });
    expect(parseLine('').message).toBe('');
  });

  it('is kept from its level on', () => {
    expect(atLeast('WARN', 'INFO')).toBe(true);
    expect(atLeast('INFO', 'WARN')).toBe(false);
  });
});
