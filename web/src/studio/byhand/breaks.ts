import type { ByHandWords } from '../../i18n/byhand.en';
import type { ControlWords } from '../../i18n/control.en';
import { isolate, plain } from '../../text/bidi';
import { timeOfDay, type Language } from '../../text/format';
import { hours } from '../../text/measure';
import { namesOf } from '../names';
import type { Break } from './answers';

interface Saying {
  words: ByHandWords;
  rules: ControlWords['rules'];
  language: Language;
  timezone: string;
}

/** What a broken rule means for the listener, in one sentence. A rule that this page does not know is told in the station's own words. */
export function breakWords(one: Break, { words, rules, language, timezone }: Saying): string {
  const say = words.breaks;
  const page = language === 'ar' ? 'rtl' : 'ltr';
  const title = isolate(namesOf(one, language).title, page);
  const who = one.artist ? isolate(one.artist, page) : '';
  const after = one.afterMs ? hours(one.afterMs, language) : '';
  switch (one.rule) {
    case 'artist-gap': return say.artist(who, after);
    case 'artist-back-to-back': return say.twice(who);
    case 'title-gap': return say.title(title, after);
    case 'album-gap': return say.album(title);
    case 'bulletin-time': return say.bulletin(title);
    case 'timed-event': return one.lateMs && one.lateMs < 0 ? say.early(title, one.due ? timeOfDay(one.due, language, timezone) : '', hours(-one.lateMs, language)) : say.late(title, one.due ? timeOfDay(one.due, language, timezone) : '', one.lateMs ? hours(one.lateMs, language) : '');
    case 'cooldown':
    case 'minimum-rest':
    case 'fresh-window':
    case 'just-played': return say.rest(title, after);
    case 'plays-per-day': return say.plays(title);
    case 'quality-floor': return say.short(title);
    case 'hard-gate': return say.gate(title);
    case 'track-limits': return say.limits(title);
    case 'music-only': return say.imaging(title);
    case 'turnover': return say.turns(title);
    case 'same-hour': return say.hour(title);
    case 'genre-split': return say.mix(title);
    case 'playlist-order': return say.list(title);
    default: return say.other(title, isolate(rules[one.rule]?.[0] ?? plain(one.detail || one.rule), page));
  }
}

/** Several of one song and one sentence are told once. */
export const breakSentences = (breaks: readonly Break[], saying: Saying): string[] => [...new Set(breaks.map((one) => breakWords(one, saying)))];
