import { describe, expect, it } from 'vitest';
import { productionWords } from '../../i18n/production';
import { decibels, sizeOf } from '../../text/measure';
import type { Count, Job } from './answers';
import { elapsed, files, fraction, healthOf, newest, pace, summary, totals } from './work';

const { ar, en } = productionWords;

function job(more: Partial<Job> = {}): Job {
  return { id: 'a', kind: 'bulletin', lane: 'bulletin', state: 'running', queuedAt: 1000, startedAt: 3000, endedAt: 0, progress: { step: '', detail: '', done: 0, total: 0 }, ...more };
}

describe('how often the jobs are asked for', () => {
  it('is each second while something runs or somebody looks, else seldom', () => {
    expect(pace([], true)).toBe(1000);
    expect(pace([job({ state: 'done' })], false)).toBe(10_000);
    expect(pace([job({ state: 'done' }), job({ state: 'queued' })], false)).toBe(1000);
  });
});

describe('a job', () => {
  it('has run since its start, has waited since it was ordered, and stands still once it is over', () => {
    expect(elapsed(job(), 10_000)).toBe(7000);
    expect(elapsed(job({ state: 'queued', startedAt: 0 }), 10_000)).toBe(9000);
    expect(elapsed(job({ state: 'done', endedAt: 5000 }), 99_000)).toBe(2000);
    expect(elapsed(job({ state: 'cancelled', startedAt: 0, endedAt: 4000 }), 99_000)).toBe(3000); // before it began
    expect(elapsed(job(), 2000)).toBe(0); // the station's clock is ahead
  });

  it('shows how far it is only where that is known', () => {
    const at = (done: number, total: number) => fraction(job({ progress: { step: '', detail: '', done, total } }));
    expect([at(0, 0), at(1, 4), at(9, 4)]).toEqual([null, 0.25, 1]);
    expect(fraction(job({ state: 'done' }))).toBe(1);
  });

  it('is found as the newest of some kinds', () => {
    const list = [job({ id: 'c', kind: 'inbox' }), job({ id: 'b', kind: 'stingers' }), job({ id: 'a', kind: 'imaging' })];
    expect(newest(list, ['imaging', 'stingers'])?.id).toBe('b');
    expect(newest(list, ['bulletin'])).toBeUndefined();
  });
});

describe('what came of a job', () => {
  const none: Count = { wanted: 0, added: 0, refused: 0, failed: 0, archived: 0, kept: 0, restored: 0 };

  it('is counted as the grammar of each language asks', () => {
    const result = { made: Array(3).fill({}), failed: [{}], archived: 11, kept: 2, problem: '' };
    expect(summary({ kind: 'stingers', result }, ar, 'ar')).toBe('صُنع: ٣ ملفات · تعذّر: ملف واحد · أُرشف: ١١ ملفًا · بقي مؤقتًا: ملفان');
    expect(summary({ kind: 'stingers', result }, en, 'en')).toBe('made: 3 files · failed: one file · archived: 11 files · kept for now: 2 files');
    expect(files(0, ar.files, 'ar')).toBe('لا ملفات');
    expect(files(100, ar.files, 'ar')).toBe('١٠٠ ملف');
  });

  it('is added up over the categories of a refresh', () => {
    const categories = { english: { ...none, added: 2, refused: 1 }, arabic_hits: { ...none, added: 1, archived: 4 } };
    expect(totals(categories)).toMatchObject({ added: 3, refused: 1, archived: 4, failed: 0 });
    expect(summary({ kind: 'content refresh', result: { categories, imaging: 0 } }, en, 'en')).toBe('added: 3 files · rejected: one file · archived: 4 files');
    expect(summary({ kind: 'inbox', result: { categories: null, imaging: 0 } }, en, 'en')).toBe('added: no files');
  });

  it('takes empty lists as null, and says nothing of what it does not know', () => {
    expect(summary({ kind: 'content plan', result: { inbox: null, fetch: null, archive: null, restore: null } }, en, 'en')).toBe('to be tried: no files · would leave: no files');
    expect(summary({ kind: 'of tomorrow', result: { made: 3 } }, en, 'en')).toBe('');
    expect(summary({ kind: 'bulletin', result: undefined }, en, 'en')).toBe('');
  });
});

it('a source’s trouble comes before what was once well', () => {
  const source = { name: 'feed', lastOk: 5, lastError: '', errorAt: 0, unavailable: false };
  expect(healthOf(source)).toBe('well');
  expect(healthOf({ ...source, lastOk: 0 })).toBe('unused');
  expect(healthOf({ ...source, lastError: 'timeout' })).toBe('failing');
  expect(healthOf({ ...source, lastError: 'not installed', unavailable: true })).toBe('unavailable');
});

it('levels and sizes keep their sign, their unit and their order on a page of either direction', () => {
  expect(decibels(-14.0049, 'LUFS', 'en')).toBe('\u2066−14.0 LUFS\u2069');
  expect(decibels(-1.5, 'dBTP', 'ar')).toBe('\u2066−١٫٥ dBTP\u2069');
  expect(sizeOf(64_485_814_272, 'en')).toBe('64 GB');
  expect(sizeOf(1_240, 'en')).toBe('1.2 kB');
  expect(sizeOf(0, 'en')).toBe('0 byte');
  expect(sizeOf(412e6, 'ar')).toContain('٤١٢');
});
