import { expect, it } from 'vitest';
import { Problem } from '../station/control';
import { LastWord } from './lastword';

/** A station whose answers are given one by one. */
function station() {
  const sent: string[] = [];
  const waiting: { ok: () => void; no: (why: unknown) => void }[] = [];
  const refusals: string[] = [];
  const words = new LastWord<number>({
    send: (key, value) => {
      sent.push(`${key} ${value}`);
      return new Promise((ok, no) => waiting.push({ ok, no }));
    },
    changed: () => undefined,
    refused: (key, { status }) => refusals.push(`${key} ${status}`),
  });
  const settle = async (how: (one: { ok: () => void; no: (why: unknown) => void }) => void) => {
    how(waiting.shift()!);
    await new Promise((done) => setTimeout(done));
  };
  return { sent, refusals, words, settle };
}

it('of what is pressed while one is under way the last alone is sent after it', async () => {
  const { sent, words, settle } = station();
  for (const value of [1, 0, -1, 1, 0]) words.want('7', value);
  expect([sent, words.wanted('7')]).toEqual([['7 1'], 0]);
  await settle(({ ok }) => ok());
  expect(sent).toEqual(['7 1', '7 0']);
  await settle(({ ok }) => ok());
  expect([sent.length, words.wanted('7')]).toEqual([2, undefined]);
});

it('different keys do not wait for each other', () => {
  const { sent, words } = station();
  words.want('7', 1);
  words.want('8', -1);
  expect(sent).toEqual(['7 1', '8 -1']);
});

it('a refusal takes back what was refused and not what was pressed since', async () => {
  const { sent, refusals, words, settle } = station();
  words.want('7', 1);
  words.want('7', -1);
  await settle(({ no }) => no(new Problem(429, '')));
  expect([refusals, words.wanted('7'), sent]).toEqual([['7 429'], -1, ['7 1', '7 -1']]);
  await settle(({ no }) => no(new TypeError('network')));
  expect([refusals, words.wanted('7')]).toEqual([['7 429', '7 0'], undefined]);
});
