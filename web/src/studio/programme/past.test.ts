import { describe, expect, it } from 'vitest';
import { ar } from '../../i18n/ar';
import { en } from '../../i18n/en';
import { arProgramme } from '../../i18n/programme.ar';
import { enProgramme } from '../../i18n/programme.en';
import { defaultKnobs } from './knobs';
import { settingWords, whatWords, whoWords } from './past';

const every = [
  ...Object.keys(defaultKnobs).map((name) => `ROTATION.${name}`),
  'GENRE_SPLIT', 'MASHUP_CHANCE', 'STOCHASTIC_SFX_CHANCE', 'AD_EVERY', 'DAYPARTS', 'CLOCKS', 'MOOD', 'SINGERS.english', 'QUERIES.news',
];

describe('what a change was about', () => {
  it.each([['en', enProgramme, en], ['ar', arProgramme, ar]] as const)('has words for every setting: %s', (_, words, tongue) => {
    const said = every.map((name) => settingWords(name, words, tongue.category));
    expect(said.filter((text) => /[A-Z]_|ROTATION|undefined|\./.test(text))).toEqual([]);
    expect(new Set(said).size).toBe(every.length);
  });

  it('is told in a line, with its mood, and not without end', () => {
    const line = (what: string[], mood?: string) => whatWords(what, mood, enProgramme, en.category);
    expect(line(['MOOD', 'AD_EVERY'], 'party')).toBe('Mood: Party, Ads');
    expect(line(['MOOD'], '')).toBe('Mood taken off');
    expect(line(['MOOD'])).toBe('Mood');
    expect(line(every)).toMatch(/ and 20 more$/);
    const counted = (n: number) => whatWords(every.slice(0, n), undefined, arProgramme, ar.category);
    expect([counted(7), counted(8), counted(25)].map((text) => text.split('، ').at(-1)?.match(/ (و(?:\S+ )?إعداد.*)/)?.[1])).toEqual(['وإعدادان آخران', 'و٣ إعدادات أخرى', 'و٢٠ إعدادًا آخر']);
    expect(line(every.slice(0, 6))).not.toContain('more');
    expect(line(['NEW_SETTING', 'SINGERS.<b>'])).toBe('NEW_SETTING, Singers: <b>');
  });

  it('names who made it', () => {
    expect([whoWords('salma', arProgramme), whoWords('station key', arProgramme), whoWords('anybody', enProgramme)]).toEqual(['salma', 'مفتاح المحطة', 'somebody without a key']);
  });
});
