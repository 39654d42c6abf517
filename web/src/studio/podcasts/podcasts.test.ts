import { describe, expect, it } from 'vitest';
import { arPodcasting } from '../../i18n/podcasting.ar';
import { enPodcasting } from '../../i18n/podcasting.en';
import { categoryName } from '../../i18n/categories';
import type { Own, OwnEpisode } from './answers';
import { chapterFaults, chaptersOf, heardAt, moved, msOf, sorted, timeOf, type Row } from './chapters';
import { fileFault, pixelFault } from './cover';
import { changed, faultsIn, freeSlug, fresh, goes, merged, slugFits, slugOf } from './draft';
import { problemOf } from './say';

const show = (more: Partial<Own> = {}): Own => ({ ...fresh('live', { title: 'Nights', description: 'Of the Nile.', language: 'ar', slug: 'nights' }), ...more });

describe('times of chapters', () => {
  it('are read as people write them, in either digits', () => {
    expect(['0', '90', '1:30', '٢:٠٥', '1:02:03', '62:03', ' 12:30 ', '0:30.5', '۱:۰۰'].map(msOf)).toEqual([0, 90_000, 90_000, 125_000, 3_723_000, 3_723_000, 750_000, 30_500, 60_000]);
    expect(['', 'x', '1:60', '1:60:00', '-1', '1:2:3:4', '1::2'].map(msOf)).toEqual(Array(7).fill(null));
  });

  it('are written so that they are read again as what they were', () => {
    for (const ms of [0, 500, 59_999, 60_000, 3_599_001, 3_600_000, 36_061_250]) for (const language of ['ar', 'en'] as const) expect(msOf(timeOf(ms, language)), `${ms} ${language}`).toBe(ms);
    expect([timeOf(3_723_000), timeOf(30_500), timeOf(125_000, 'ar')]).toEqual(['1:02:03', '0:30.5', '٢:٠٥']);
  });
});

describe('rows of chapters', () => {
  const row = (key: number, time: string, title = `t${key}`): Row => ({ key, time, title, artist: '' });

  it('are sorted by their times, sent without empty ones, and known at a moment', () => {
    const rows = [row(1, '2:00'), row(2, '0:10'), row(3, '', ''), row(4, '1:00', ' x ')];
    expect(sorted(rows).map(({ key }) => key)).toEqual([2, 4, 1, 3]);
    expect(chaptersOf(rows)).toEqual([{ startMs: 10_000, title: 't2', artist: '' }, { startMs: 60_000, title: 'x', artist: '' }, { startMs: 120_000, title: 't1', artist: '' }]);
    expect([heardAt(rows, 5000), heardAt(rows, 10_000), heardAt(rows, 90_000)]).toEqual([-1, 2, 4]);
  });

  it('change places with their times', () => {
    const rows = [row(1, '0:00'), row(2, '1:00'), row(3, '2:00')];
    expect(moved(rows, 3, -1).map(({ key, time }) => `${key} ${time}`)).toEqual(['1 0:00', '3 1:00', '2 2:00']);
    expect(moved(rows, 1, -1)).toEqual(rows);
  });

  it('are refused where the station would refuse them', () => {
    const rows = [row(1, '0:00'), row(2, 'soon'), row(3, '5:00'), row(4, '0:00'), row(5, '0:30', ' '), row(6, '', '')];
    expect([...chapterFaults(rows, 300_000)]).toEqual([[2, 'time'], [3, 'late'], [4, 'same'], [5, 'title']]);
    expect(chapterFaults([row(1, '99:00')], 0).size).toBe(0); // its length is not known
  });
});

describe('the draft of a show', () => {
  it('is merged with what somebody else has saved, part by part', () => {
    const base = show();
    const mine = show({ title: 'Mine', held: true });
    const theirs = show({ title: 'Theirs', keep: { episodes: 9, days: 0, megabytes: 0 }, on: false });
    expect(merged(base, mine, theirs)).toEqual({ ...theirs, title: 'Mine', held: true });
    expect(changed(base, { ...base, title: ' Nights ' })).toEqual([]);
    expect(changed(base, mine)).toEqual(['title', 'held']);
  });

  it('says what the station would refuse', () => {
    expect([...faultsIn(show({ title: ' ', slug: 'Nights!', email: 'nobody', categories: [], language: 'arabic language' }))]).toEqual([
      ['title', 'title'], ['slug', 'slug'], ['email', 'email'], ['categories', 'category'], ['language', 'language'],
    ]);
    expect([...faultsIn(show(), ['nights'])]).toEqual([['slug', 'slugTaken']]);
    expect(faultsIn(show({ language: 'pt-BR', email: 'a@b.example' })).size).toBe(0);
  });

  it('has an address that can be read, whatever the title is written in', () => {
    expect(['ليالي النيل', 'أم كلثوم', 'أخبار اليوم', 'سهرة الخميس', 'Café — Nights!', '٢٠٢٦', '!!!'].map(slugOf)).toEqual(['liali-al-nil', 'am-kalthom', 'akhbar-al-yawm', 'sahra-al-khamis', 'cafe-nights', '', '']);
    expect([freeSlug('news', []), freeSlug('news', ['news', 'news-2'])]).toEqual(['news', 'news-3']);
    for (const title of ['مسافر', 'x'.repeat(80), 'a - b', 'ال', 'الو', 'ء']) expect(slugOf(title) === '' || slugFits(slugOf(title)), title).toBe(true);
    expect(['a', 'a-1', 'a--1', '-a', 'a-', 'A', 'a_b', 'أ', ''].map(slugFits)).toEqual([true, true, false, false, false, false, false, false, false]);
  });
});

it('what bounds take away is the oldest, and never what is pinned', () => {
  const one = (n: number, more: Partial<OwnEpisode> = {}) => ({ id: `e${n}`, publishedAt: n * 86_400_000, beganAt: 0, bytes: 10e6, state: 'published', pinned: false, ...more }) as OwnEpisode;
  const all = [one(1, { pinned: true }), one(2), one(3, { state: 'hidden' }), one(4, { state: 'failed', bytes: 0 }), one(5), one(6, { state: 'removed' })];
  const ids = (keep: Partial<{ episodes: number; days: number; megabytes: number }>) => goes(all, { episodes: 0, days: 0, megabytes: 0, ...keep }, 8 * 86_400_000).map(({ id }) => id);
  expect([ids({}), ids({ episodes: 3 }), ids({ episodes: 1 }), ids({ days: 4 }), ids({ megabytes: 25 }), ids({ episodes: 3, days: 4 })]).toEqual([[], [], ['e2', 'e3'], ['e2', 'e3'], ['e2'], ['e2', 'e3']]);
});

it('a cover that apps would refuse is refused before it is sent', () => {
  expect([fileFault({ type: 'image/gif', size: 1 }), fileFault({ type: 'image/png', size: 9e6 }), fileFault({ type: 'image/webp', size: 8e6 }), pixelFault(1399, 2000), pixelFault(1400, 1400), pixelFault(8000, 6000)]).toEqual(['type', 'large', '', 'small', '', 'huge']);
});

it('says everything in both languages', () => {
  const keys = (words: object): string[] => Object.entries(words).flatMap(([key, value]) => (value !== null && typeof value === 'object' ? keys(value as object).map((k) => `${key}.${k}`) : [key]));
  expect(keys(arPodcasting)).toEqual(keys(enPodcasting));
  expect([categoryName('News > Daily News', 'ar'), categoryName('News > Daily News', 'en'), categoryName('New of Apple', 'ar')]).toEqual(['الأخبار ‹ الأخبار اليومية', 'News › Daily News', 'New of Apple']);
});

it('tells in the page’s language why an episode could not be made, where the station has words for it', () => {
  const said = { problem: 'the recording is empty', problemAr: 'التسجيل فارغ' };
  expect([problemOf(said, 'en'), problemOf(said, 'ar'), problemOf({ ...said, problemAr: '' }, 'ar')]).toEqual(['the recording is empty', 'التسجيل فارغ', 'the recording is empty']);
});
