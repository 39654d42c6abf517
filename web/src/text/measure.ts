import { locale, type Language } from './format';

/** How long ago or until a moment, in the largest unit that fits. */
export function relative(moment: number, now: number, language: Language): string {
  const seconds = Math.round((moment - now) / 1000);
  const words = new Intl.RelativeTimeFormat(locale[language], { numeric: 'auto', style: 'short' });
  const size = Math.abs(seconds);
  if (size < 60) return words.format(seconds, 'second');
  if (size < 3600) return words.format(Math.round(seconds / 60), 'minute');
  if (size < 86_400) return words.format(Math.round(seconds / 3600), 'hour');
  return words.format(Math.round(seconds / 86_400), 'day');
}

/** A duration in hours and minutes, or in seconds where it is shorter: 12 hr 5 min, 40 sec. */
export function hours(ms: number, language: Language): string {
  const minutes = Math.round(Math.max(0, ms) / 60_000);
  const unit = (n: number, name: 'hour' | 'minute' | 'second') =>
    new Intl.NumberFormat(locale[language], { style: 'unit', unit: name, unitDisplay: 'short' }).format(n);
  if (ms < 60_000) return unit(Math.round(Math.max(0, ms) / 1000), 'second');
  if (minutes < 60) return unit(minutes, 'minute');
  const rest = minutes % 60;
  return rest ? `${unit(Math.floor(minutes / 60), 'hour')} ${unit(rest, 'minute')}` : unit(minutes / 60, 'hour');
}

/** Bits per second with the unit that fits: 256 kb/s. */
export function bitrate(bitsPerSecond: number, language: Language): string {
  const [n, unit] =
    bitsPerSecond >= 1e6 ? [bitsPerSecond / 1e6, 'megabit-per-second'] : [bitsPerSecond / 1e3, 'kilobit-per-second'];
  return new Intl.NumberFormat(locale[language], {
    style: 'unit',
    unit: unit as string,
    unitDisplay: 'short',
    maximumFractionDigits: (n as number) < 10 ? 1 : 0,
  }).format(n as number);
}

/** A size in the unit that fits: 64 GB. */
export function sizeOf(bytes: number, language: Language): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;
  let [n, at] = [bytes, 0];
  for (; n >= 1000 && at < units.length - 1; at++) n /= 1000;
  const options: Intl.NumberFormatOptions = { style: 'unit', unit: units[at] ?? 'byte', unitDisplay: 'short', maximumFractionDigits: n < 10 && at > 0 ? 1 : 0 };
  return new Intl.NumberFormat(locale[language], options).format(n);
}

/** A share of a whole in percent; of a small one to a tenth. */
export function percent(share: number, language: Language): string {
  const written = new Intl.NumberFormat(locale[language], { style: 'percent', maximumFractionDigits: Math.abs(share) < 0.1 ? 1 : 0 }).format(share);
  return written.replace(/[\u061c\u200e]/g, '');
}

/** A count that fits a button: 940, 12K, ١٢ ألف. */
export function brief(n: number, language: Language): string {
  return new Intl.NumberFormat(locale[language], n < 10_000 ? {} : { notation: 'compact', maximumFractionDigits: 1 }).format(n);
}

/** A day by its name: today, yesterday, or its date. */
export function dayOf(moment: number, language: Language, words: { today: string; yesterday: string }, now = Date.now(), form: Intl.DateTimeFormatOptions = { weekday: 'long', day: 'numeric', month: 'long' }): string {
  const midnight = new Date(now);
  midnight.setHours(0, 0, 0, 0);
  if (moment >= midnight.getTime()) return words.today;
  if (moment >= midnight.setDate(midnight.getDate() - 1)) return words.yesterday; // a day is not 24 hours everywhere
  return new Intl.DateTimeFormat(locale[language], form).format(moment);
}

/** A moment with its day and time. */
export function momentOf(moment: number, language: Language): string {
  return new Intl.DateTimeFormat(locale[language], { dateStyle: 'medium', timeStyle: 'short' }).format(moment);
}

/** Decibels to a tenth, with a unit that keeps its place in a sentence of either direction. */
export function decibels(value: number, unit: string, language: Language): string {
  const figure = new Intl.NumberFormat(locale[language], { minimumFractionDigits: 1, maximumFractionDigits: 1 }).format(value);
  return `\u2066${figure.replace(/[\u061c\u200e]/g, '').replace('-', '\u2212')} ${unit}\u2069`;
}
