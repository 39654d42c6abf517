import type { Language } from '../text/format';

/** What the embedded player says. */
export interface EmbedWords {
  play: string;
  stop: string;
  volume: string;
  onAir: string;
  live: string;
  off: string;
  opening: string;
  lost: string;
  open: (name: string) => string;
  radio: string;
  ad: string;
}

const en: EmbedWords = {
  play: 'Play',
  stop: 'Stop',
  volume: 'Volume',
  onAir: 'On the air',
  live: 'Live',
  off: 'The station is silent right now',
  opening: 'Connecting…',
  lost: 'The sound has stopped. Trying again…',
  open: (name) => `Open ${name} in a new tab`,
  radio: 'Radio',
  ad: 'A short break',
};

const ar: EmbedWords = {
  play: 'تشغيل',
  stop: 'إيقاف',
  volume: 'مستوى الصوت',
  onAir: 'على الهواء',
  live: 'بث مباشر',
  off: 'المحطة صامتة الآن',
  opening: 'جارٍ الاتصال…',
  lost: 'انقطع الصوت. نحاول مجددًا…',
  open: (name) => `افتح ${name} في صفحة جديدة`,
  radio: 'الراديو',
  ad: 'فاصل إعلاني',
};

export const embedWords: Record<Language, EmbedWords> = { ar, en };
