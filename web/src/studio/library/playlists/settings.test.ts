import { describe, expect, it } from 'vitest';
import { Problem } from '../../../station/control';
import type { Playlist } from './answers';
import { drafted, faultsOf, fileFault, fresh, keptOf, settingsOf, wholeOf } from './settings';

const list: Playlist = { ...fresh('hand', 'Jazz'), id: 3, version: 7, tracks: 0, ready: 0, missing: 0, durationMs: 0, open: false, nextAt: 0, airedAt: 0, changedAt: 0, by: '' };

describe('a draft', () => {
  it('holds what saving would change, and lets go of what is so already', () => {
    const draft = drafted(list, {}, 'plays', 'only');
    expect(draft).toEqual({ plays: 'only' });
    expect(drafted(list, draft, 'plays', 'clock')).toEqual({});
    // Somebody else has made it so meanwhile.
    expect(keptOf({ ...list, plays: 'only' }, { plays: 'only', share: 5 })).toEqual({ share: 5 });
  });

  it('is sent with all the other settings, and nothing that is only read', () => {
    const sent = settingsOf(list, { share: 12, when: [{ days: [], start: '01:00', end: '02:00' }] });
    expect(sent).toEqual({ ...fresh('hand', 'Jazz'), share: 12, when: [{ start: '01:00', end: '02:00' }] });
    expect(Object.keys(settingsOf({ ...list, kind: 'smart', query: { q: ' x ', genre: [] }, address: 'x' }))).not.toContain('address');
    expect(settingsOf({ ...list, kind: 'smart', query: { q: ' x ', genre: [] } }).query).toEqual({ q: 'x' });
  });
});

it('what the station leaves out is as it would be made', () => {
  const { note, share, everySongs, minute, ...said } = list;
  expect(wholeOf(said)).toEqual(list);
  expect(wholeOf({ ...said, kind: 'remote' }).everyMinutes).toBe(60);
  expect([note, share, everySongs, minute]).toEqual(['', 30, 4, 0]);
  // Nothing is drafted by choosing what stands.
  expect(drafted(wholeOf(said), {}, 'note', '')).toEqual({});
  expect(settingsOf({ ...list, plays: 'once', order: 'turns' }).order).toBe('sequence');
});

it('faults are found by their field, in Arabic where the station has it', () => {
  const problem = new Problem(422, 'validation failed', [{ location: 'body.when[0].start', message: 'must be a time', arabic: 'وقت' }, { location: 'body.name', message: 'must not be empty' }]);
  expect(faultsOf(problem, 'ar')).toEqual({ 'when[0].start': 'وقت', name: 'must not be empty' });
  expect(faultsOf(problem, 'en')['when[0].start']).toBe('must be a time');
  expect(faultsOf(new Problem(422, 'no'), 'en')).toEqual({ '': 'no' });
});

it('a playlist file is told by its name, its size and that it holds something', () => {
  const of = (name: string, size = 10) => fileFault({ name, size });
  expect([of('a.M3U8'), of('b.pls'), of('c.xspf'), of('d.mp3'), of('e.m3u', 0), of('f.m3u', 5_000_000)]).toEqual(['', '', '', 'type', 'empty', 'large']);
});
