import { describe, expect, it } from 'vitest';
import { isBusy, isSound, lookAfter, metadataOf, missingOf, overall, reloaded, type Sending, type SendState, toStart } from './queue';

let n = 0;
const one = (state: SendState, more: Partial<Sending> = {}): Sending => ({ id: `x${++n}`, batch: 'b', name: 'a.mp3', folder: '', size: 100, category: '', replace: '', state, sent: 0, url: '', attempt: 0, retryAt: 0, said: '', at: 1000, ...more });

describe('the line of files to send', () => {
  it('lets three go at once, in their order, and none in place of one that is paused', () => {
    const list = [one('sending'), one('line'), one('paused'), one('line'), one('line')];
    expect(toStart(list)).toEqual([list[1], list[3]]);
    expect(toStart([one('sending'), one('sending'), one('sending'), one('line')])).toEqual([]);
  });

  it('says when leaving breaks something off', () => {
    expect(['line', 'sending', 'paused', 'waiting', 'missing', 'refused', 'sent'].map((state) => isBusy([one(state as SendState)]))).toEqual([true, true, true, true, false, false, false]);
  });

  it('counts the bytes of all, those that are done too', () => {
    expect(overall([one('sending', { sent: 50 }), one('sent'), one('line'), one('refused'), one('missing', { sent: 90 })], 100)).toEqual({ sent: 250, total: 400, share: 0.625 });
    expect(overall([], 0).share).toBe(0);
  });

  it('knows a file again that a reload lost, by its name and size, in its folder first', () => {
    const list = [one('missing', { folder: 'A' }), one('missing', { folder: 'B' }), one('sending')];
    expect(missingOf(list, { name: 'a.mp3', size: 100, folder: 'B' })).toBe(list[1]);
    expect(missingOf(list, { name: 'a.mp3', size: 100, folder: '' })).toBe(list[0]);
    expect(missingOf(list, { name: 'a.mp3', size: 101, folder: 'A' })).toBeUndefined();
  });

  it('keeps over a reload what may still be finished', () => {
    const kept = [one('sending', { url: '/u/1', sent: 40 }), one('refused', { said: 'too large' }), one('sent'), one('line', { at: -8e9 })];
    expect(reloaded(kept, 2000).map(({ state, url, said }) => [state, url, said])).toEqual([['missing', '/u/1', ''], ['refused', '', 'too large']]);
  });
});

it('a dropped folder sends its sounds alone', () => {
  expect([isSound('a.MP3', ''), isSound('a.bin', 'audio/x-odd'), isSound('cover.jpg', 'image/jpeg'), isSound('.a.mp3', ''), isSound('notes.txt', 'text/plain')]).toEqual([true, true, false, false, false]);
});

it('what is empty is not said', () => {
  expect(metadataOf(one('line', { folder: 'A/B', replace: '' }))).toEqual({ filename: 'a.mp3', folder: 'A/B', batch: 'b' });
});

it('arrivals are asked for as often as something is under way', () => {
  const one = (state: Parameters<typeof lookAfter>[0][number]['state'], more = {}) => ({ state, airsAt: 0, ...more });
  const held = { reason: { code: 'on_air', en: '', ar: '' } };
  expect(lookAfter([one('looking')], false, true)).toBe(1505);
  expect(lookAfter([one('undoing')], false, true)).toBe(1505);
  expect(lookAfter([], true, true)).toBe(1500);
  expect(lookAfter([one('taking', held)], false, true)).toBe(4000); // until the track is off the air
  expect(lookAfter([one('taken')], false, true)).toBe(4000); // until it can air
  expect(lookAfter([one('asks'), one('refused'), one('undone'), one('taken', { airsAt: 5 })], false, true)).toBe(20_000);
  expect(lookAfter(Array.from({ length: 3000 }, () => one('waiting')), false, true)).toBe(15_000);
  // Nobody looks.
  expect([lookAfter([one('looking')], false, false), lookAfter([one('asks')], false, false)]).toEqual([20_000, null]);
});
