import { ar } from '../i18n/ar';
import { en } from '../i18n/en';
import { inDigits, type Language } from '../text/format';
import { hours } from '../text/measure';
import { goDuration, type Sayer } from './reasons';

/** How parts of a reason are said in a language. */
export function sayer(language: Language): Sayer {
  const names = (language === 'ar' ? ar : en).category;
  return {
    category: (name = '') => names[name] ?? name,
    digits: (text = '') => inDigits(text, language),
    duration: (text = '') => {
      const ms = goDuration(text);
      return Number.isNaN(ms) ? text : hours(Math.abs(ms), language);
    },
  };
}
