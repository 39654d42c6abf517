import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { plural } from './choose';
import { arLibrary } from './library.ar';

const here = new URL('./', import.meta.url);
const arabic = readdirSync(here).filter((name) => /(^|\.)ar\.ts$/.test(name));
const refusals = readFileSync(new URL('../../../internal/library/intake/refusal.go', here), 'utf8');

/** Words by which one thing is called, and those that were once used beside them. */
describe('one word for a thing in Arabic', () => {
  it.each(arabic)('%s calls a category تصنيف', (name) => {
    expect(readFileSync(new URL(name, here), 'utf8')).not.toMatch(/فئ(ة|ت|ات)/);
  });

  it.each(arabic)('%s says على الهواء, as the station does where it speaks', (name) => {
    expect(readFileSync(new URL(name, here), 'utf8')).not.toContain('الأثير');
  });

  it('refusals of uploads say the same', () => {
    expect(refusals).toContain('لا يوجد تصنيف بهذا الاسم.');
    expect(refusals).not.toMatch(/قسم|فئة|الأثير/);
  });
});

it('turns are told in sentences, of none and of two as well', () => {
  const { turns, times } = arLibrary.aired;
  expect(turns(plural(2, times, 'ar', '٢'), plural(0, times, 'ar', '٠'))).toBe('نال دورين، وأقل مقاطع تصنيفه نصيبًا لم ينل دورًا.');
});
