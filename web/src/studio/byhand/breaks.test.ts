import { describe, expect, it } from 'vitest';
import { byHandWords } from '../../i18n/byhand';
import { studioWords } from '../../i18n/studio';
import type { Language } from '../../text/format';
import type { Break } from './answers';
import { breakSentences } from './breaks';

const due = Date.UTC(2026, 0, 15, 8); // ten o'clock in Cairo
const say = (one: Partial<Break>, language: Language = 'en') =>
  breakSentences([{ position: 40, file: 'english/a.mp3', title: 'Slow River', artist: 'Amal Haddad', rule: 'artist-gap', ...one }], { words: byHandWords[language], rules: studioWords[language].control.rules, language, timezone: 'Africa/Cairo' })[0]?.replace(/[\u2066-\u2069]/g, '');

describe('what an edit breaks', () => {
  it('is said of the listener, with how long or how late', () => {
    expect(say({ afterMs: 720_000 })).toBe('Amal Haddad would air again after only 12 mins');
    expect(say({ afterMs: 720_000 }, 'ar')).toBe('أغنية أخرى لـAmal Haddad بعد ١٢ د فقط');
    expect(say({ rule: 'timed-event', title: 'The news', due, lateMs: 180_000 })).toBe('The news at 10:00 would be 3 mins late');
    expect(say({ rule: 'timed-event', title: 'النشرة', due, lateMs: 180_000 }, 'ar')).toBe('النشرة في موعد ١٠:٠٠ ص: يتأخر ٣ د');
    expect(say({ rule: 'timed-event', title: 'The news', due, lateMs: -60_000 })).toBe('The news at 10:00 would be 1 min early');
    expect(say({ artist: '' })).toBe('Two songs by the same artist would be too close together'); // and by no title
    expect(say({ artist: '', afterMs: 720_000 }, 'ar')).toBe('أغنية أخرى للفنان نفسه بعد ١٢ د فقط');
    expect(say({ artist: '', rule: 'artist-back-to-back' })).toBe('The same artist would air twice in a row');
    expect(say({ rule: 'cooldown' })).toBe('Slow River aired too recently');
  });

  it('is a sentence in either language for every rule, and the station’s own words for one of tomorrow', () => {
    for (const rule of [...Object.keys(studioWords.en.control.rules), 'playlist-order', 'bulletin-time']) {
      expect(say({ rule }), rule).not.toContain(rule);
      expect(say({ rule }, 'ar'), rule).toMatch(/[\u0600-\u06ff]/);
    }
    expect(say({ rule: 'no-drums', detail: 'drums\u202e wait for noon' })).toBe('Slow River: drums wait for noon');
  });

  it('names imaging by its file', () => {
    expect(say({ rule: 'cooldown', title: 'Break', artist: 'Break', file: 'sweepers/ID_7.mp3' })).toBe('Station ID · 7 aired too recently');
  });
});
