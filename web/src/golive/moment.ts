import { locale, timeOfDay, type Language } from '../text/format';

/** A moment by this device's clock: the time, and the day where it is another one than today. */
export function momentOf(at: number, now: number, language: Language): string {
  const time = timeOfDay(at, language);
  if (new Date(at).toDateString() === new Date(now).toDateString()) return time;
  const day = new Intl.DateTimeFormat(locale[language], { weekday: 'long', day: 'numeric', month: 'long' }).format(at);
  return language === 'ar' ? `${day}، ${time}` : `${day}, ${time}`;
}
