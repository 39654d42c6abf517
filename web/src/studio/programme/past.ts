import type { ProgrammeWords } from '../../i18n/programme.en';
import { plain } from '../../text/bidi';

type Categories = Readonly<Record<string, string>>;

/** What operators call the setting of a dotted name. */
export function settingWords(name: string, words: ProgrammeWords, categories: Categories): string {
  const [outer = '', member = ''] = name.split('.');
  const category = categories[member] ?? plain(member);
  switch (outer) {
    case 'ROTATION':
      return words.knobs.names[member]?.[0] ?? plain(name);
    case 'SINGERS':
      return words.past.singers(category);
    case 'QUERIES':
      return words.past.queries(category);
    default:
      return words.past.settings[outer] ?? plain(name);
  }
}

/** What a change was about, in a line; with the mood that it put in force. */
export function whatWords(what: readonly string[], mood: string | undefined, words: ProgrammeWords, categories: Categories): string {
  const most = 5;
  const names = what.map((name) => {
    if (name !== 'MOOD' || mood === undefined) return settingWords(name, words, categories);
    return mood ? words.past.moodOn(words.mood.names[mood] ?? plain(mood)) : words.past.moodOff;
  });
  const shown = names.length > most + 1 ? names.slice(0, most) : names;
  const line = shown.join(words.past.comma);
  return shown.length < names.length ? words.past.more(line, names.length - shown.length) : line;
}

/** Who made a change; keys that are nobody's own have words. */
export function whoWords(by: string, words: ProgrammeWords): string {
  return words.past.who[by] ?? plain(by);
}
