import { ar } from '../i18n/ar';
import { en } from '../i18n/en';
import { studioWords } from '../i18n/studio';
import { plain } from '../text/bidi';
import { inDigits, type Language } from '../text/format';
import { hours } from '../text/measure';
import { goDuration, type Sayer } from './reasons';

/** How parts of a reason are said in a language. */
export function sayer(language: Language): Sayer {
  const names = (language === 'ar' ? ar : en).category;
  const words = studioWords[language];
  const category = (name = '') => names[name] ?? name;
  const digits = (text = '') => inDigits(text, language);
  return {
    category,
    digits,
    name: (text = '') => (language === 'ar' ? `«${plain(text)}»` : `“${plain(text)}”`),
    daypart: (key = '') => {
      if (key === 'open') return words.control.reasons.noWindow;
      const custom = /^custom:([\dh]+)-([\dh]+):(\w*):/.exec(key);
      if (!custom) return words.programme.dayparts.names[key] ?? plain(key);
      const [from, to] = [custom[1], custom[2]].map((hour = '') => digits(hour.replace('h', ':')));
      return words.control.reasons.window(`\u2066${from}–${to}\u2069`, custom[3] ? category(custom[3]) : '');
    },
    duration: (text = '') => {
      const ms = goDuration(text);
      return Number.isNaN(ms) ? text : hours(Math.abs(ms), language);
    },
  };
}
