import { plural, type Forms } from '../i18n/choose';
import { count, type Language } from '../text/format';
import { dayOf as named } from '../text/measure';

/** The day an episode appeared, by the listener's own calendar; of other years with its year. */
export function dayOf(at: number, now: number, language: Language, words: { today: string; yesterday: string }): string {
  const thisYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return named(at, language, words, now, { day: 'numeric', month: 'long', ...(thisYear ? {} : { year: 'numeric' }) });
}

const units: Record<Language, { second: Forms; minute: Forms; hour: Forms; and: string }> = {
  en: { second: forms('#\u00a0sec'), minute: forms('#\u00a0min'), hour: forms('#\u00a0hr'), and: '\u00a0' },
  ar: {
    second: { zero: '# ثانية', one: 'ثانية واحدة', two: 'ثانيتان', few: '# ثوانٍ', many: '# ثانية', other: '# ثانية' },
    minute: { zero: '# دقيقة', one: 'دقيقة واحدة', two: 'دقيقتان', few: '# دقائق', many: '# دقيقة', other: '# دقيقة' },
    hour: { zero: '# ساعة', one: 'ساعة', two: 'ساعتان', few: '# ساعات', many: '# ساعة', other: '# ساعة' },
    and: ' و',
  },
};

function forms(all: string): Forms {
  return { zero: all, one: all, two: all, few: all, many: all, other: all };
}

/** How long something is, as one would say it: 1 hr 2 min, ساعة ودقيقتان. Empty where it is not known. */
export function lengthOf(ms: number, language: Language): string {
  if (!(ms > 0)) return '';
  const { and, ...of } = units[language];
  const say = (n: number, unit: keyof typeof of): string => plural(n, of[unit], language, count(n, language));
  if (ms < 59_500) return say(Math.max(1, Math.round(ms / 1000)), 'second');
  const minutes = Math.round(ms / 60_000);
  const [whole, rest] = [Math.floor(minutes / 60), minutes % 60];
  return [whole > 0 ? say(whole, 'hour') : '', rest > 0 ? say(rest, 'minute') : ''].filter(Boolean).join(and);
}

export const speeds = [0.8, 1, 1.2, 1.5, 1.75, 2] as const;

export const speedOf = (speed: number, language: Language): string => `${count(speed, language)}×`;
