import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Problem } from '../station/control';
import { Ballot, type Vote } from './ballot';

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal('localStorage', { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => kept.set(key, value) });
});

/** A station where one other listener voted for a.mp3. */
function rig(failures: Problem[] = []) {
  const sent: [string, Vote][] = [];
  const refused: Problem[] = [];
  let votes: Record<string, number> = { 'a.mp3': 1 };
  const ballot = new Ballot({
    send: async (file, delta) => {
      sent.push([file, delta]);
      const failure = failures.shift();
      if (failure) throw failure;
      return { [file]: (file === 'a.mp3' ? 1 : 0) + delta };
    },
    counted: (now) => (votes = now),
    changed: () => undefined,
    refused: (problem) => refused.push(problem),
  });
  return { ballot, sent, refused, shown: (file: string) => ballot.shown(file, votes[file] ?? 0) };
}

const settled = () => new Promise((done) => setTimeout(done));

describe('a vote', () => {
  it('shows at once, is counted once, and is taken back by the same press', async () => {
    const { ballot, sent, shown } = rig();
    ballot.press('a.mp3', 1);
    expect([ballot.mine('a.mp3'), shown('a.mp3')]).toEqual([1, 2]);
    await settled();
    expect([sent, shown('a.mp3')]).toEqual([[['a.mp3', 1]], 2]);
    ballot.press('a.mp3', 1);
    expect([ballot.mine('a.mp3'), shown('a.mp3')]).toEqual([0, 1]);
    await settled();
    expect([sent.at(-1), shown('a.mp3')]).toEqual([['a.mp3', 0], 1]);
  });

  it('is the last word of a quick change of mind', async () => {
    const { ballot, sent, shown } = rig();
    ballot.press('b.mp3', 1);
    ballot.press('b.mp3', -1);
    ballot.press('b.mp3', -1);
    ballot.press('b.mp3', -1);
    await settled();
    expect(sent.at(-1)).toEqual(['b.mp3', -1]);
    expect([ballot.mine('b.mp3'), shown('b.mp3')]).toEqual([-1, -1]);
    expect(sent.length).toBeLessThanOrEqual(2);
  });

  it('is remembered over visits while its track waits, and not longer', async () => {
    const first = rig();
    first.ballot.press('a.mp3', 1);
    await settled();
    const again = rig().ballot;
    expect(again.mine('a.mp3')).toBe(1);
    again.forget(new Set(['b.mp3']));
    expect(rig().ballot.mine('a.mp3')).toBe(0);
  });

  it('goes back when it is refused', async () => {
    const { ballot, refused, shown } = rig([new Problem(404, 'not in the queue')]);
    ballot.press('a.mp3', -1);
    await settled();
    expect([ballot.mine('a.mp3'), shown('a.mp3'), refused.length]).toEqual([0, 1, 1]);
  });
});
