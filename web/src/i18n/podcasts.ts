import type { Language } from '../text/format';
import type { Forms } from './choose';

/** What the pages of the shows and episodes say. */
export interface PodcastsWords {
  title: string;
  say: string;
  goOn: string;
  shows: string;
  none: string;
  noneSays: string;
  radio: string;
  episodes: Forms;
  latest: (day: string) => string;
  today: string;
  yesterday: string;
  inSentence: { today: string; yesterday: string };
  onAir: string;
  explicit: string;
  loading: string;
  failed: string;
  retry: string;
  allShows: string;
  subscribe: string;
  subscribeSays: string;
  openIn: (app: string) => string;
  copyFeed: string;
  copied: string;
  feed: string;
  search: string;
  clear: string;
  found: Forms;
  noMatch: string;
  empty: string;
  more: string;
  newest: string;
  fromFirst: string;
  play: string;
  playNamed: (title: string) => string;
  pause: string;
  pauseNamed: (title: string) => string;
  resumeAt: (time: string) => string;
  playAt: (time: string) => string;
  heard: string;
  left: (time: string) => string;
  episode: (n: string) => string;
  download: string;
  share: string;
  shareAt: (time: string) => string;
  linkCopied: string;
  linkFailed: string;
  about: string;
  chapters: string;
  transcript: string;
  newer: string;
  older: string;
  following: string;
  previous: string;
  around: string;
  next: (title: string) => string;
  missing: string;
  missingSays: string;
  missingShow: string;
  missingShowSays: string;
  toShow: string;
  toShows: string;
  player: string;
  back: string;
  forward: string;
  position: string;
  speed: string;
  close: string;
  opening: string;
  slow: string;
  broken: string;
  gone: string;
  ended: string;
}

const en: PodcastsWords = {
  title: 'Podcasts',
  say: 'Shows and bulletins to listen to whenever you like.',
  goOn: 'Continue listening',
  shows: 'Shows',
  none: 'There are no shows yet',
  noneSays: 'What the station records will be here once it is published.',
  radio: 'Listen live',
  episodes: { zero: 'No episodes yet', one: 'One episode', two: '# episodes', few: '# episodes', many: '# episodes', other: '# episodes' },
  latest: (day) => `latest: ${day}`,
  today: 'Today',
  yesterday: 'Yesterday',
  inSentence: { today: 'today', yesterday: 'yesterday' },
  onAir: 'On the air now',
  explicit: 'Explicit',
  loading: 'Loading…',
  failed: 'The station did not answer.',
  retry: 'Try again',
  allShows: 'All podcasts',
  subscribe: 'Subscribe',
  subscribeSays: 'New episodes come to your podcast app by themselves.',
  openIn: (app) => `Open in ${app}`,
  copyFeed: 'Copy the feed address',
  copied: 'Copied',
  feed: 'Feed address (RSS)',
  search: 'Search in this show',
  clear: 'Clear the search',
  found: { zero: 'Nothing found', one: 'One episode found', two: '# episodes found', few: '# episodes found', many: '# episodes found', other: '# episodes found' },
  noMatch: 'No episode has these words.',
  empty: 'The first episode is still to come.',
  more: 'More episodes',
  newest: 'Newest first',
  fromFirst: 'From the first episode',
  play: 'Listen',
  playNamed: (title) => `Listen to ${title}`,
  pause: 'Pause',
  pauseNamed: (title) => `Pause ${title}`,
  resumeAt: (time) => `Continue at ${time}`,
  playAt: (time) => `Listen from ${time}`,
  heard: 'Listened',
  left: (time) => `${time} left`,
  episode: (n) => `Episode ${n}`,
  download: 'Download',
  share: 'Share',
  shareAt: (time) => `Start at ${time}`,
  linkCopied: 'The link is copied.',
  linkFailed: 'The link could not be copied. It is:',
  about: 'About this episode',
  chapters: 'Chapters',
  transcript: 'Transcript',
  newer: 'Newer episode',
  older: 'Earlier episode',
  following: 'Next episode',
  previous: 'Previous episode',
  around: 'More of this show',
  next: (title) => `Next: ${title}`,
  missing: 'This episode is not here any more',
  missingSays: 'It may have been taken back, or the link is incomplete.',
  missingShow: 'There is no such show',
  missingShowSays: 'It may have been renamed or taken away, or the link is incomplete.',
  toShow: 'All episodes of the show',
  toShows: 'See all podcasts',
  player: 'Player',
  back: 'Back 15 seconds',
  forward: 'Forward 30 seconds',
  position: 'Position',
  speed: 'Speed',
  close: 'Close the player',
  opening: 'Loading…',
  slow: 'It is taking long.',
  broken: 'The sound did not come.',
  gone: 'This episode was taken away.',
  ended: 'That was the end.',
};

const ar: PodcastsWords = {
  title: 'البودكاست',
  say: 'برامج ونشرات تسمعها متى شئت.',
  goOn: 'أكمل الاستماع',
  shows: 'البرامج',
  none: 'لا برامج بعد',
  noneSays: 'تظهر هنا تسجيلات المحطة متى نُشرت.',
  radio: 'استمع مباشرة',
  episodes: { zero: 'لا حلقات بعد', one: 'حلقة واحدة', two: 'حلقتان', few: '# حلقات', many: '# حلقة', other: '# حلقة' },
  latest: (day) => `آخرها ${day}`,
  today: 'اليوم',
  yesterday: 'أمس',
  inSentence: { today: 'اليوم', yesterday: 'أمس' },
  onAir: 'على الهواء الآن',
  explicit: 'للكبار',
  loading: 'لحظة…',
  failed: 'تعذّر الوصول إلى المحطة.',
  retry: 'أعد المحاولة',
  allShows: 'كل البرامج',
  subscribe: 'اشترك',
  subscribeSays: 'تصلك الحلقات الجديدة تلقائيًا في تطبيق البودكاست.',
  openIn: (app) => `افتح في ${app}`,
  copyFeed: 'انسخ رابط الخلاصة',
  copied: 'نُسخ',
  feed: 'رابط الخلاصة (RSS)',
  search: 'ابحث في هذا البرنامج',
  clear: 'امسح البحث',
  found: { zero: 'لا نتائج', one: 'حلقة واحدة', two: 'حلقتان', few: '# حلقات', many: '# حلقة', other: '# حلقة' },
  noMatch: 'لا حلقة فيها هذه الكلمات.',
  empty: 'الحلقة الأولى في الطريق.',
  more: 'حلقات أخرى',
  newest: 'الأحدث أولًا',
  fromFirst: 'من الحلقة الأولى',
  play: 'استمع',
  playNamed: (title) => `استمع إلى ${title}`,
  pause: 'إيقاف مؤقت',
  pauseNamed: (title) => `إيقاف ${title} مؤقتًا`,
  resumeAt: (time) => `أكمل من ${time}`,
  playAt: (time) => `استمع من ${time}`,
  heard: 'سمعتها',
  left: (time) => `المتبقي ${time}`,
  episode: (n) => `الحلقة ${n}`,
  download: 'تنزيل',
  share: 'شارك',
  shareAt: (time) => `ابدأ من ${time}`,
  linkCopied: 'نُسخ الرابط.',
  linkFailed: 'تعذّر نسخ الرابط، وهو:',
  about: 'عن الحلقة',
  chapters: 'الفصول',
  transcript: 'النص المكتوب',
  newer: 'الحلقة الأحدث',
  older: 'الحلقة الأقدم',
  following: 'الحلقة التالية',
  previous: 'الحلقة السابقة',
  around: 'من البرنامج نفسه',
  next: (title) => `التالية: ${title}`,
  missing: 'لم تعد هذه الحلقة هنا',
  missingSays: 'ربما سُحبت، أو نُسخ الرابط ناقصًا.',
  missingShow: 'لم نجد هذا البرنامج',
  missingShowSays: 'ربما تغيّر عنوانه أو أُزيل، أو نُسخ الرابط ناقصًا.',
  toShow: 'كل حلقات البرنامج',
  toShows: 'كل البرامج',
  player: 'المشغّل',
  back: '١٥ ثانية للخلف',
  forward: '٣٠ ثانية للأمام',
  position: 'الموضع',
  speed: 'السرعة',
  close: 'أغلق المشغّل',
  opening: 'جارٍ التحميل…',
  slow: 'طال التحميل.',
  broken: 'تعذّر تشغيل الصوت.',
  gone: 'أُزيلت هذه الحلقة.',
  ended: 'انتهت الحلقة.',
};

export const podcastsWords: Record<Language, PodcastsWords> = { ar, en };
