import { describe, expect, it } from 'vitest';
import { ar } from './ar';
import { audienceWords } from './audience';
import { chatWords } from './chat';
import { chooseLanguage, plural } from './choose';
import { en } from './en';
import { guardWords } from './guard';
import { listenersWords } from './listeners';
import { officeWords } from './office';
import { productionWords } from './production';
import { studioWords } from './studio';

describe('the page’s language', () => {
  it('is the kept one, then the browser’s first that we speak, then Arabic', () => {
    expect(chooseLanguage('en', ['ar-EG'])).toBe('en');
    expect(chooseLanguage(null, ['fr-FR', 'en-US', 'ar'])).toBe('en');
    expect(chooseLanguage(null, ['AR-eg', 'en'])).toBe('ar');
    expect(chooseLanguage('garbage', ['fr'])).toBe('ar');
    expect(chooseLanguage(null, [])).toBe('ar');
  });

  it('is one that the station offers, whatever was kept or is asked for', () => {
    expect(chooseLanguage('en', [], ['ar'])).toBe('ar');
    expect(chooseLanguage('ar', ['en'], ['en'])).toBe('en');
    expect(chooseLanguage(null, [], ['en', 'ar'])).toBe('en'); // the station's first for a new visitor
    expect(chooseLanguage('ar', [], ['en', 'ar'])).toBe('ar');
  });

  it('counts as its grammar asks', () => {
    const said = (n: number) => plural(n, ar.listeners, 'ar', String(n));
    expect([0, 1, 2, 3, 11, 100, 103].map(said)).toEqual([
      'لا مستمعين بعد', 'مستمع واحد', 'مستمعان', '3 مستمعين', '11 مستمعًا', '100 مستمع', '103 مستمعين',
    ]);
    expect(plural(1, en.listeners, 'en', '1')).toBe('One listener');
    expect(plural(2, en.listeners, 'en', '2')).toBe('2 listeners');
  });

  it('leaves no sentence unsaid', () => {
    const sentences = (words: object): [string, unknown][] =>
      Object.entries(words).flatMap(([key, value]) =>
        typeof value === 'object' ? sentences(value).map(([k, v]): [string, unknown] => [`${key}.${k}`, v]) : [[key, value]],
      );
    for (const [one, other] of [[ar, en], [studioWords.ar, studioWords.en], [productionWords.ar, productionWords.en], [audienceWords.ar, audienceWords.en], [chatWords.ar, chatWords.en], [listenersWords.ar, listenersWords.en], [guardWords.ar, guardWords.en], [officeWords.ar, officeWords.en]] as const) {
      expect(sentences(one).map(([key]) => key).sort()).toEqual(sentences(other).map(([key]) => key).sort());
      for (const [key, value] of sentences(one)) if (key !== 'newBelow.zero') expect(value, key).toBeTruthy(); // none is not told
    }
  });
});
