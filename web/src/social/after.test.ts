import { describe, expect, it } from 'vitest';
import { after, Speed } from './after';

describe('after a failure of an upload', () => {
  it('a broken line, a server that is down and one that holds the old connection are waited for, ever longer', () => {
    for (const status of [0, 408, 409, 423, 460, 500, 502, 503]) {
      expect([0, 1, 2, 5, 50].map((attempt) => after(status, attempt, 0, true)), String(status)).toEqual([{ wait: 1000 }, { wait: 2000 }, { wait: 4000 }, { wait: 30_000 }, { wait: 30_000 }]);
    }
  });

  it('the station’s own wait holds where it is longer', () => {
    expect(after(429, 0, 600_000, false)).toEqual({ wait: 600_000 });
    expect(after(429, 0, 0, false)).toEqual({ wait: 1000 });
    expect(after(503, 0, 5000, true)).toEqual({ wait: 5000 });
  });

  it('an upload that the server forgot begins anew, an address that never was does not', () => {
    expect([404, 410].map((status) => after(status, 0, 0, true))).toEqual([{ wait: 1000 }, { wait: 1000 }]);
    expect([404, 410].map((status) => after(status, 0, 0, false))).toEqual(['stop', 'stop']);
  });

  it('a rule that time alone does not lift stops it before anything was sent, and not what is under way', () => {
    expect([409, 507].map((status) => after(status, 0, 0, false, true))).toEqual(['stop', 'stop']);
    expect([409, 429, 503, 507].map((status) => after(status, 0, 0, true, true))).toEqual(Array(4).fill({ wait: 1000 }));
    expect([429, 503].map((status) => after(status, 0, 0, false, true))).toEqual(Array(2).fill({ wait: 1000 }));
  });

  it('a refusal stops it', () => {
    for (const status of [400, 401, 403, 412, 413, 415, 422]) expect(after(status, 0, 0, true), String(status)).toBe('stop');
  });
});

describe('the speed of an upload', () => {
  it('is that of the last seconds', () => {
    const speed = new Speed();
    speed.take(0, 0);
    expect([speed.perSecond, speed.leftMs(1000)]).toEqual([0, 0]);
    speed.take(1_000_000, 1000);
    expect([speed.perSecond, speed.leftMs(500_000)]).toEqual([1_000_000, 500]);
    for (let at = 2000; at <= 20_000; at += 1000) speed.take(1_000_000 + at, at);
    expect(speed.perSecond).toBeCloseTo(1000);
  });

  it('begins anew where the server had less than was thought', () => {
    const speed = new Speed();
    speed.take(0, 0);
    speed.take(900_000, 1000);
    speed.take(300_000, 2000);
    expect(speed.perSecond).toBe(0);
    speed.take(400_000, 3000);
    expect(speed.perSecond).toBe(100_000);
  });
});
