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

/** What Arabic sentences are in beside the pages' own: of programs that people read. */
const spoken = ['alarm/words.go', 'import/plan/print.go', 'library/content/progress.go', 'library/intake/refusal.go', 'live/carts/wall.go', 'audience/social/refusal/words.go', 'people/password.go', 'people/role.go', 'production/rehearsal.go', 'web/pages/words.go'];
const texts = [...readdirSync(here).filter((name) => /^[a-z.]+\.ts$/.test(name) && !/\.(test|svelte)\.ts$/.test(name)).map((name) => new URL(name, here)), ...spoken.map((name) => new URL(`../../../internal/${name}`, here))];

describe('one spelling and one word', () => {
  const once: [string, RegExp, string][] = [
    ['كلمة المرور', /كلمة السر(?![\u0600-\u06ff])/, 'a password'],
    ['المقدّم', /المذيع/, 'who presents, as where they go live'],
    ['ميغابايت وغيغابايت', /[مج]يجابايت/, 'as browsers write units'],
    ['تستجيب', /(لا|حين|حتى) تجيب/, 'a station that answers'],
    ['يستخدم', /ستعمل/, 'to use'],
    ['السجلّ', /السجل(?![ّ\u0600-\u06ff])/, 'a log'],
    ['تعذّر', /تعذر/, 'what failed'],
    ['الاثنين', /الإثنين/, 'Monday has no hamza'],
['جدًا وآليًا', /جدًّا|آليًّا/, 'the tanwin alone'],
  ];
  it.each(once)('%s', (_, other) => {
    for (const file of texts) expect(readFileSync(file, 'utf8'), file.pathname).not.toMatch(other);
  });
});

it('turns are told in sentences, of none and of two as well', () => {
  const { turns, times } = arLibrary.aired;
  expect(turns(plural(2, times, 'ar', '٢'), plural(0, times, 'ar', '٠'))).toBe('نال دورين، وأقل مقاطع تصنيفه نصيبًا لم ينل دورًا.');
});
