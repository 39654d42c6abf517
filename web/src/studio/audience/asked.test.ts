import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Problem } from '../../station/control';
import type { Door } from '../door.svelte';
import { Asked } from './asked.svelte';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe('what is asked of the station', () => {
  const paths: string[] = [];
  let answers: (() => Promise<string>)[] = [];
  const door = { quietly: (_: string, path: string) => (paths.push(path), (answers.shift() ?? (() => Promise.resolve(path)))()) } as unknown as Door;
  const refuse = (status: number) => () => Promise.reject(new Problem(status, ''));
  beforeEach(() => {
    [paths.length, answers] = [0, []];
  });
  const settle = () => vi.advanceTimersByTimeAsync(1000);

  it('stays in sight while more of it is asked, and quick presses are one question', async () => {
    const asked = new Asked<string>(door);
    asked.ask(() => 'hours');
    await settle();
    asked.askMore(() => 'kept');
    asked.askMore(() => 'left');
    expect([asked.answer, asked.phase]).toEqual(['hours', 'ready']);
    await settle();
    expect([paths, asked.answer]).toEqual([['hours', 'left'], 'left']);
    asked.ask(() => 'another month');
    expect([asked.answer, asked.phase]).toEqual([null, 'loading']);
    asked.stop();
  });

  it('is of the time in which it is asked', async () => {
    const asked = new Asked<string>(door);
    let from = 1;
    asked.ask(() => `from=${from}`, true);
    await settle();
    from = 2;
    await vi.advanceTimersByTimeAsync(5 * 60_000);
    expect(paths).toEqual(['from=1', 'from=2']);
    asked.stop();
  });

  it('is old where the station is silent, looked for again, and locked where a login has ended', async () => {
    const asked = new Asked<string>(door);
    answers = [() => Promise.resolve('first'), refuse(503), refuse(401)];
    asked.ask(() => 'a', true);
    await settle();
    await vi.advanceTimersByTimeAsync(5 * 60_000);
    expect([asked.answer, asked.stale]).toEqual(['first', true]);
    await vi.advanceTimersByTimeAsync(30_000);
    expect([asked.answer, asked.stale, asked.phase]).toEqual([null, false, 'locked']);
    asked.stop();
  });
});
