import { describe, expect, it } from 'vitest';
import type { Detail } from './answers';
import { differs, drafted, isTouched, limitsOf, saidOf } from './draft';

const detail = { file: { title: 'Layl', artist: 'Nile', album: '', genre: '', category: 'arabic_hits' }, note: { title: 'ليل', cueInMs: 1200 } } as unknown as Detail;

describe('the draft over a track', () => {
  it('says what the operator says, else what the file says', () => {
    expect([saidOf(detail, {}, 'title'), saidOf(detail, {}, 'artist'), saidOf(detail, {}, 'cueInMs'), saidOf(detail, {}, 'crossMs')]).toEqual(['ليل', 'Nile', 1200, undefined]);
    expect([saidOf(detail, { title: 'ليلة' }, 'title'), saidOf(detail, { title: null }, 'title')]).toEqual(['ليلة', 'Layl']);
    expect([differs(detail, {}, 'title'), differs(detail, { title: null }, 'title'), differs(detail, {}, 'artist')]).toEqual([true, false, false]);
  });

  it('holds only what saving would change', () => {
    expect(drafted(detail, {}, 'title', 'ليلة')).toEqual({ title: 'ليلة' });
    expect(drafted(detail, { title: 'ليلة' }, 'title', 'ليل')).toEqual({}); // the note's again
    expect(drafted(detail, {}, 'title', 'Layl')).toEqual({ title: null }); // the file's
    expect(drafted(detail, { artist: 'x' }, 'artist', 'Nile')).toEqual({});
    expect(drafted(detail, {}, 'artist', '')).toEqual({ artist: '' }); // said to have none
    expect(drafted(detail, {}, 'album', '')).toEqual({});
    expect(drafted(detail, {}, 'aliases', [])).toEqual({});
    expect([isTouched({}), isTouched({ title: null })]).toEqual([false, true]);
  });

  it('limits nothing with empty limits', () => {
    expect(limitsOf({ from: '', perDay: 2 })).toEqual({ perDay: 2 });
    expect(limitsOf({ from: '', hours: [] })).toBeNull();
  });
});
