import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Problem } from '../station/control';
import { Outbox, unheard, type Pending } from './outbox';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** A station that answers as it is told, and an outbox to it. */
function rig(answers: (string | Problem)[]) {
  const asked: string[] = [];
  const sent: string[] = [];
  let items: readonly Pending<string>[] = [];
  let next = 0;
  const outbox = new Outbox<string, string>({
    send: async (id, body) => {
      asked.push(`${id} ${body}`);
      const answer = answers.shift() ?? 'ok';
      if (answer instanceof Problem) throw answer;
      return answer;
    },
    sent: (item, answer) => sent.push(`${item.body} ${answer}`),
    changed: (now) => (items = now),
    newId: () => `id${next++}`,
  });
  return { outbox, asked, sent, items: () => items };
}

const gone = new Problem(0, '');

describe('the outbox', () => {
  it('sends in order, one after another, and forgets what is acknowledged', async () => {
    const { outbox, asked, sent, items } = rig(['a', 'b', 'c']);
    for (const text of ['one', 'two', 'three']) outbox.put(text);
    await vi.runAllTimersAsync();
    expect(asked).toEqual(['id0 one', 'id1 two', 'id2 three']);
    expect(sent).toEqual(['one a', 'two b', 'three c']);
    expect(items()).toEqual([]);
  });

  it('asks again under the same id when no answer came, and keeps the order meanwhile', async () => {
    const { outbox, asked } = rig([gone, gone, 'ok', 'ok']);
    outbox.put('one');
    outbox.put('two');
    await vi.runAllTimersAsync();
    expect(asked).toEqual(['id0 one', 'id0 one', 'id0 one', 'id1 two']);
  });

  it('sends at once what waited for a connection when one stands again', async () => {
    const { outbox, asked, items } = rig([gone]);
    outbox.put('one');
    await vi.advanceTimersByTimeAsync(10);
    expect(items()[0]).toMatchObject({ fate: 'waiting', problem: gone });
    outbox.resume();
    await vi.advanceTimersByTimeAsync(0);
    expect(asked).toEqual(['id0 one', 'id0 one']);
    expect(items()).toEqual([]);
  });

  it('waits as long as the station asks, connection or not', async () => {
    const { outbox, asked } = rig([new Problem(429, 'slow down', [], 5000)]);
    outbox.put('one');
    await vi.advanceTimersByTimeAsync(4000);
    outbox.resume();
    await vi.advanceTimersByTimeAsync(900);
    expect(asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(200);
    expect(asked).toHaveLength(2);
  });

  it('leaves what is refused to the writer, and lets the next go', async () => {
    const { outbox, asked, items } = rig([new Problem(403, 'muted')]);
    outbox.put('one');
    outbox.put('two');
    await vi.runAllTimersAsync();
    expect(asked).toEqual(['id0 one', 'id1 two']);
    expect(items()).toMatchObject([{ id: 'id0', fate: 'refused' }]);
    outbox.again('id0');
    await vi.runAllTimersAsync();
    expect(asked.at(-1)).toBe('id0 one');
    expect(items()).toEqual([]);
  });

  it('takes back what waits, never what is under way', async () => {
    const { outbox, items } = rig([new Problem(422, '')]);
    outbox.put('one');
    outbox.drop('id0');
    expect(items()).toHaveLength(1);
    await vi.runAllTimersAsync();
    outbox.drop('id0');
    expect(items()).toEqual([]);
  });

  it('is bounded', () => {
    const { outbox } = rig([]);
    const taken = Array.from({ length: 60 }, (_, i) => outbox.put(String(i)));
    expect(taken.filter(Boolean)).toHaveLength(50);
  });

  it('shows what came back before its acknowledgement once', () => {
    const pending = { id: 'x', body: 'hi', at: 1000, fate: 'sending', notBefore: 0, attempts: 1 } as const;
    const same = (body: string, entry: { text: string; at: number }) => body === entry.text;
    expect(unheard([pending], [{ text: 'hi', at: 1100 }], same)).toEqual([]);
    expect(unheard([{ ...pending, fate: 'waiting' }], [{ text: 'hi', at: 1100 }], same)).toHaveLength(1);
    expect(unheard([pending], [{ text: 'hi', at: -60_000 }], same)).toHaveLength(1); // said long ago
  });
});
