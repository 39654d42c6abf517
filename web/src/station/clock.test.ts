import { expect, test } from 'vitest';
import { Clock } from './clock';

/** A device whose clock is behind the station's by so much, and runs slower by a fraction. */
function device(behind: number, slow = 0) {
  let [passed, set] = [0, 0];
  const clock = new Clock(() => 1_000_000 - behind + set + passed * (1 - slow), () => passed * (1 - slow));
  return {
    clock,
    station: () => 1_000_000 + passed,
    pass: (ms: number) => (passed += ms),
    set: (ms: number) => (set += ms),
    wrong: () => Math.abs(clock.now() - (1_000_000 + passed)),
  };
}

test('an answer tells the time as well as its way there and back allows', () => {
  const { clock, station, pass, wrong } = device(5000);
  const said = station() + 30;
  pass(100);
  clock.asked(said, 100);
  expect(wrong()).toBeLessThanOrEqual(50);
});

test('of what is told unasked the fastest counts, and what was said long ago spoils nothing', () => {
  const { clock, station, pass, wrong } = device(-90_000);
  const ways = [900, 40, 30_000, 300, 25_000, 70];
  for (const way of ways) {
    const said = station();
    pass(way);
    clock.told(said);
  }
  expect(wrong()).toBeLessThanOrEqual(40);
});

test('over hours it follows a clock that runs wrong', () => {
  for (const slow of [100e-6, -100e-6]) {
    const { clock, station, pass, wrong } = device(700, slow);
    for (let half = 0; half < 8 * 120; half++) {
      const said = station();
      pass(60);
      clock.told(said);
      expect(wrong()).toBeLessThanOrEqual(60 + 60 + 1);
      pass(29_940);
    }
  }
});

test('a device whose clock was set asks, and does not believe what may be old before', () => {
  const { clock, station, pass, set, wrong } = device(0);
  clock.asked(station(), 0);
  set(3_600_000);
  expect(clock.stepped).toBe(true);
  const old = station();
  pass(20_000);
  clock.told(old);
  expect(clock.stepped).toBe(true);
  clock.asked(station(), 0);
  expect(clock.stepped).toBe(false);
  expect(wrong()).toBe(0);
});
