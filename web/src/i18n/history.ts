import type { Language } from '../text/format';
import type { Forms } from './choose';

/** What the page of what aired says, and that of one track. */
export interface HistoryWords {
  title: string;
  podcasts: string;
  say: string;
  search: string;
  searchHint: string;
  found: Forms;
  noMatch: string;
  clear: string;
  jump: string;
  day: string;
  time: string;
  go: string;
  today: string;
  yesterday: string;
  inSentence: { today: string; yesterday: string };
  now: string;
  toNow: string;
  older: string;
  newer: string;
  loading: string;
  empty: string;
  end: string;
  failed: string;
  retry: string;
  request: string;
  requestFor: (title: string) => string;
  around: (time: string) => string;
  listen: string;
  stop: string;
  sounding: string;
  opening: string;
  lost: string;
  ad: string;
  live: string;
  back: string;
  album: string;
  airings: string;
  aired: (when: string) => string;
  airedNow: string;
  never: string;
  next: (when: string) => string;
  missing: string;
  missingSays: string;
  notNow: string;
  embed: string;
  embedSays: string;
  share: string;
  shareFor: (title: string) => string;
  linkCopied: string;
  linkFailed: string;
  copy: string;
  copied: string;
  times: Forms;
}

const en: HistoryWords = {
  title: 'What was that song?',
  podcasts: 'Podcasts',
  say: 'Everything that was on the air in the last seven days, by the station’s clock.',
  search: 'Song or singer',
  searchHint: 'Arabic or Latin letters',
  found: { zero: 'Nothing found', one: 'Found once', two: 'Found twice', few: 'Found # times', many: 'Found # times', other: 'Found # times' },
  noMatch: 'Nothing by that name was on the air in the last seven days.',
  clear: 'Clear the search',
  jump: 'Go to a time',
  day: 'Day',
  time: 'Time',
  go: 'Show',
  today: 'Today',
  yesterday: 'Yesterday',
  inSentence: { today: 'today', yesterday: 'yesterday' },
  now: 'On the air',
  toNow: 'Back to now',
  older: 'Earlier',
  newer: 'Later',
  loading: 'Loading…',
  empty: 'Nothing has been on the air yet.',
  end: 'That is how far back this page goes.',
  failed: 'The station did not answer.',
  retry: 'Try again',
  request: 'Request it',
  requestFor: (title) => `Request ${title}`,
  around: (time) => `What was on around ${time}`,
  listen: 'Listen live',
  stop: 'Stop',
  sounding: 'Now on the air',
  opening: 'Connecting…',
  lost: 'The sound has stopped. Trying again…',
  ad: 'Ad',
  live: 'Live',
  back: 'What was on the air',
  album: 'Album',
  airings: 'When it was on the air',
  aired: (when) => `Last on the air ${when}`,
  airedNow: 'On the air now',
  never: 'It has not been on the air lately.',
  next: (when) => `Comes again at about ${when}`,
  missing: 'There is no such track',
  missingSays: 'The link may be incomplete, or the track was removed.',
  notNow: 'It cannot be requested right now: it has been on the air lately, or comes soon.',
  embed: 'The player on your site',
  embedSays: 'Put this line where the player should stand. It plays what is on the air.',
  share: 'Share',
  shareFor: (title) => `Share ${title}`,
  linkCopied: 'The link is copied.',
  linkFailed: 'The link could not be copied. It is:',
  copy: 'Copy',
  copied: 'Copied',
  times: { zero: 'Never', one: 'Once', two: 'Twice', few: '# times', many: '# times', other: '# times' },
};

const ar: HistoryWords = {
  title: 'ما اسم تلك الأغنية؟',
  podcasts: 'البودكاست',
  say: 'كل ما أُذيع في الأيام السبعة الماضية، بتوقيت المحطة.',
  search: 'الأغنية أو المغني',
  searchHint: 'بحروف عربية أو لاتينية',
  found: { zero: 'لا نتائج', one: 'نتيجة واحدة', two: 'نتيجتان', few: '# نتائج', many: '# نتيجة', other: '# نتيجة' },
  noMatch: 'لم يُذع شيء بهذا الاسم في الأيام السبعة الماضية.',
  clear: 'امسح البحث',
  jump: 'انتقل إلى وقت محدد',
  day: 'أي يوم',
  time: 'الساعة',
  go: 'اعرض',
  today: 'اليوم',
  yesterday: 'أمس',
  inSentence: { today: 'اليوم', yesterday: 'أمس' },
  now: 'على الهواء',
  toNow: 'العودة إلى الآن',
  older: 'ما قبل ذلك',
  newer: 'ما بعد ذلك',
  loading: 'لحظة…',
  empty: 'لم يُذع شيء بعد.',
  end: 'هذا أقدم ما تعرضه الصفحة.',
  failed: 'تعذّر الوصول إلى المحطة.',
  retry: 'أعد المحاولة',
  request: 'اطلبها',
  requestFor: (title) => `اطلب ${title}`,
  around: (time) => `ما أُذيع نحو الساعة ${time}`,
  listen: 'استمع مباشرة',
  stop: 'إيقاف',
  sounding: 'على الهواء الآن',
  opening: 'جارٍ الاتصال…',
  lost: 'انقطع الصوت. نحاول مجددًا…',
  ad: 'إعلان',
  live: 'بث مباشر',
  back: 'كل ما أُذيع',
  album: 'الألبوم',
  airings: 'متى أُذيعت',
  aired: (when) => `آخر مرة: ${when}`,
  airedNow: 'على الهواء الآن',
  never: 'لم تُذع في الفترة الأخيرة.',
  next: (when) => `تعود نحو الساعة ${when}`,
  missing: 'لم نجد هذه الأغنية',
  missingSays: 'ربما نُسخ الرابط ناقصًا، أو أُزيلت الأغنية.',
  notNow: 'لا يمكن طلبها الآن: أُذيعت قبل قليل أو ستُذاع قريبًا.',
  embed: 'المشغّل في موقعك',
  embedSays: 'ضع هذا السطر حيث تريد أن يظهر المشغّل، ليسمع زوار موقعك ما على الهواء.',
  share: 'شارك',
  shareFor: (title) => `شارك ${title}`,
  linkCopied: 'نُسخ الرابط.',
  linkFailed: 'تعذّر نسخ الرابط، وهو:',
  copy: 'انسخ',
  copied: 'نُسخ',
  times: { zero: 'ولا مرة', one: 'مرة واحدة', two: 'مرتين', few: '# مرات', many: '# مرة', other: '# مرة' },
};

export const historyWords: Record<Language, HistoryWords> = { ar, en };
