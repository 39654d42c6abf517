import { describe, expect, it } from 'vitest';
import { studioWords } from '../i18n/studio';
import type { Planned } from '../station/api';
import { byHour, comingOf, rowsOf } from './hours';
import { faultWords } from './programme/faults';
import { goDuration, reasonWords } from './reasons';
import { sayer } from './sayer';

const at = (h: number, m: number) => Date.UTC(2026, 0, 15, h - 2, m); // Cairo is two hours ahead in winter
const entry = (position: number, more: Partial<Planned>): Planned => ({
  title: `t${position}`, artist: '', file: `${position}.mp3`, category: 'english', type: 'english', durationMs: 200_000, position, onAir: false, aired: false, ...more,
});

describe('the queue by the hour', () => {
  it('parts what has aired, then every hour of the station’s own day', () => {
    const queue = [
      entry(0, { aired: true }), entry(1, { onAir: true }), entry(2, { expectedAt: at(14, 59) }),
      entry(3, { expectedAt: at(15, 2), clock: 'news' }), entry(4, { expectedAt: at(15, 5), clock: 'news' }),
    ];
    const parts = byHour(queue, at(14, 55), 'Africa/Cairo');
    expect(parts.map((p) => [p.aired, p.from, p.clock, p.entries.length])).toEqual([
      [true, null, '', 1], [false, at(14, 55), '', 2], [false, at(15, 2), 'news', 2],
    ]);
  });

  it('has what could not be aired among what is past', () => {
    const queue = [entry(0, { aired: true }), entry(1, { failed: 'why' }), entry(2, { onAir: true }), entry(3, { expectedAt: at(14, 59) })];
    expect(byHour(queue, at(14, 55), 'Africa/Cairo').map((p) => [p.aired, p.entries.length])).toEqual([[true, 2], [false, 2]]);
  });

  it('keeps entries without a time where they stand, and the same hour of two days apart', () => {
    const queue = [entry(0, { aired: true }), entry(1, {}), entry(2, { expectedAt: at(23, 0) }), entry(3, {}), entry(4, { expectedAt: at(47, 0) })];
    expect(byHour(queue, 0, 'Africa/Cairo').map((p) => p.entries.length)).toEqual([1, 1, 2, 1]);
    expect(byHour([], 0, 'Not/AZone')).toEqual([]);
    expect(byHour([entry(0, { expectedAt: at(1, 0) })], 0, 'Not/AZone')).toHaveLength(1);
  });
});

describe('the rows of the queue', () => {
  const plan = [entry(0, { aired: true }), entry(1, { onAir: true }), entry(2, { votes: 3, clock: 'news', relaxed: ['artist-gap'] }), entry(3, { held: true })];

  it('are what the plan says where the queue is not shown to whoever looks', () => {
    const rows = rowsOf(plan, comingOf(plan, null));
    expect(rows.map(({ position, place, locked }) => [position, place, locked])).toEqual([[0, -1, false], [1, -1, false], [2, 0, false], [3, 1, true]]);
    expect(rows[2]).toMatchObject({ votes: 3, clock: 'news', relaxed: ['artist-gap'] });
  });

  it('are in the order of the queue, with what the plan says of each', () => {
    const coming = comingOf(plan, [{ ...entry(3, {}), relaxed: [], locked: true, hand: true }, { ...entry(2, {}), relaxed: [{ rule: 'cooldown' }] }]);
    const rows = rowsOf(plan, coming);
    expect(rows.map(({ file, locked }) => [file, locked])).toEqual([['0.mp3', false], ['1.mp3', false], ['3.mp3', true], ['2.mp3', false]]);
    expect(rows[3]).toMatchObject({ votes: 3, relaxed: ['cooldown'], place: 1 });
  });

  it('no longer have what went on the air since the queue was read', () => {
    expect(comingOf(plan, [{ ...entry(1, {}), relaxed: [] }, { ...entry(2, {}), relaxed: [] }]).map(({ position }) => position)).toEqual([2]);
  });

  it('have what the queue has on the air already and the plan not yet, where it airs', () => {
    const coming = comingOf(plan, [{ ...entry(3, {}), relaxed: [] }]);
    expect(coming.map(({ position, opened }) => [position, opened])).toEqual([[2, true], [3, undefined]]);
    expect(comingOf(plan, [{ ...entry(3, { file: 'other.mp3' }), relaxed: [] }]).map(({ position }) => position)).toEqual([3]); // of another rotation
  });

  it('are each the same row when positions are counted anew, also two of one file', () => {
    const twice = (from: number) => [entry(from, { file: 'a' }), entry(from + 1, { file: 'b' }), entry(from + 2, { file: 'a' })].map((one) => ({ ...one, relaxed: [] }));
    const keys = (from: number) => rowsOf(plan, twice(from)).map(({ key }) => key);
    expect(keys(2)).toEqual(keys(40));
    expect(new Set(keys(40)).size).toBe(5);
  });
});

describe('the planner’s reasons', () => {
  const said = (reason: string, language: 'ar' | 'en' = 'ar') => reasonWords(reason, studioWords[language].control.reasons, sayer(language));

  it('names the playlist that an entry is of, and what airs in the place of one', () => {
    expect(said('playlist "Friday: jazz", 3 of 12')).toBe('من القائمة «Friday: jazz»، ٣ من ١٢');
    expect(said('playlist "Friday", by turns', 'en')).toBe('from the playlist “Friday”, by turns');
    expect(said('playlist "Friday", shuffled', 'en')).toBe('from the playlist “Friday”, shuffled');
    expect(said('no playlist is called "Gone": turn 2; one of 40 in english', 'en')).toContain('there is no playlist “Gone”; ');
    expect(said('playlist "Gone" has nothing that may air now: forced', 'en')).toContain(said('forced', 'en'));
    expect(said('playlists by time')).toBe('أوقات قوائم التشغيل');
  });


  it('are said in the page’s language', () => {
    expect(said('turn 3; one of 214 in arabic_hits')).toBe('الدور ٣، من بين ٢١٤ في أغانٍ عربية');
    expect(said('turn 3; one of 214 in arabic_hits', 'en')).toBe('turn 3; one of 214 in Arabic hits');
    for (const reason of [
      'chosen by the operator', 'the best of news, which the operator chose', 'the newest bulletin', 'supplement from arabic_hits: social is short of tracks',
      'english in place of social, which is short of tracks', 'not aired of late; one of 9 in english', 'fills 1m30s before a timed event',
      'timed event of 15:00:00, planned -4s off', 'restart', 'content purged', 'forced', 'play', 'buffer is empty', '102 of 120 consumed', 'daypart morning', 'mix', 'clocks', 'library has grown', 'a planned track was edited', 'queued', 'outdated bulletin withdrawn', 'its file has left the library',
      'the playout engine could not open it, or found no sound in it', 'timed event off by 45s',
      'from a listener, the best of 120', 'asked for by a listener', "a listener's entry was heard early",
    ]) {
      expect(said(reason), reason).toMatch(/[\u0600-\u06ff]/);
    }
  });

  it('name a daypart as an operator would', () => {
    const { daypart } = sayer('en');
    expect(['evening', 'open', 'custom:6h30-9::english=2', 'custom:22-2:english:', 'odd'].map((key) => daypart(key).replace(/[\u2066\u2069]/g, ''))).toEqual([
      'Evening', 'none', '6:30–9', '22–2, English only', 'odd',
    ]);
  });

  it('that are not known stand as the station said them, as plain text', () => {
    expect(said('a reason\u202e of tomorrow')).toBe('a reason of tomorrow');
  });

  it('hold durations as Go writes them', () => {
    expect(['1h2m3s', '-4s', '1m30s', '0s', '1.5s'].map(goDuration)).toEqual([3_723_000, -4000, 90_000, 0, 1500]);
    for (const odd of ['', '-', 'soon', '5']) expect(goDuration(odd), odd).toBeNaN();
  });
});

describe('what is wrong with a value', () => {
  it('is said in the page’s language, or in the station’s words', () => {
    const say = (message: string) => faultWords(message, studioWords.en.programme.faults, (text) => text);
    expect(say('must be 1 to 1000')).toBe('from 1 to 1000');
    expect(say('must be 0 (none), or 3 to 120')).toBe('0 for none, or from 3 to 120');
    expect(say('must be 0 to 72 hours, in milliseconds')).toBe('at most 72 hours');
    expect(say('must be 1 to 60 bytes')).toBe('needs a name of at most 60 bytes');
    expect(say('must be 00:00 to 23:59')).toBe('from 00:00 to 23:59');
    expect(say('time after the hour "9": must be MM:SS, 00:00 to 59:59')).toContain('MM:SS');
    expect(say('must sing')).toBe('must sing');
  });
});
