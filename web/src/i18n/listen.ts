import type { Language } from '../text/format';
import type { Forms } from './choose';

/** What only the listeners’ page says, once it has begun. */
export interface ListenWords {
  close: string;
  quality: {
    title: string;
    short: string;
    auto: string;
    autoSays: string;
    best: string;
    middle: string;
    saver: string;
    /** Bitrate in kbit/s, megabytes an hour. */
    says: (kbps: string, megabytes: string) => string;
  };
  sleep: {
    title: string;
    short: string;
    say: string;
    minutes: Forms;
    song: string;
    custom: string;
    start: string;
    /** While it runs: what is left, or until when. */
    left: (time: string) => string;
    untilSong: string;
    off: string;
  };
  lyrics: { title: string; short: string; loading: string; none: string };
  share: { title: string; short: string; song: (name: string) => string; copied: string; copy: string };
  cast: { title: string; short: string; on: string; stop: string; failed: string };
  history: string;
  podcasts: string;
  about: { title: string; links: string; contact: string; email: string; phone: string; whatsapp: string; credit: string };
  install: { title: string; say: string; yes: string; no: string; ios: string };
}

const en: ListenWords = {
  close: 'Close',
  quality: {
    title: 'Sound quality',
    short: 'Quality',
    auto: 'Automatic',
    autoSays: 'As good as the network allows',
    best: 'Best',
    middle: 'Good',
    saver: 'Data saver',
    says: (kbps, megabytes) => `${kbps} kbit/s · about ${megabytes} MB an hour`,
  },
  sleep: {
    title: 'Sleep timer',
    short: 'Sleep',
    say: 'The sound fades out and stops by itself.',
    minutes: { zero: '# minutes', one: 'One minute', two: 'Two minutes', few: '# minutes', many: '# minutes', other: '# minutes' },
    song: 'At the end of this song',
    custom: 'Another number of minutes',
    start: 'Start',
    left: (time) => `Stops in ${time}`,
    untilSong: 'Stops at the end of the song',
    off: 'Turn the timer off',
  },
  lyrics: { title: 'Lyrics', short: 'Lyrics', loading: 'Fetching the words…', none: 'There are no words for this song.' },
  share: {
    title: 'Share',
    short: 'Share',
    song: (name) => `Listening now: ${name}`,
    copied: 'The link is copied',
    copy: 'Copy this link:',
  },
  cast: { title: 'Play on another device', short: 'Cast', on: 'Playing on another device', stop: 'Stop there and go on here', failed: 'The device did not answer. The sound goes on here.' },
  history: 'What was that song?',
  podcasts: 'Podcasts',
  about: { title: 'About the station', links: 'Follow us', contact: 'Get in touch', email: 'E-mail', phone: 'Telephone', whatsapp: 'WhatsApp', credit: 'Runs on Athir' },
  install: {
    title: 'The station as an app',
    say: 'It opens from your home screen.',
    yes: 'Install',
    no: 'No, thanks',
    ios: 'To keep the station at hand, choose Share in Safari, then Add to Home Screen.',
  },
};

const ar: ListenWords = {
  close: 'إغلاق',
  quality: {
    title: 'جودة الصوت',
    short: 'الجودة',
    auto: 'تلقائية',
    autoSays: 'أفضل ما تسمح به الشبكة',
    best: 'الأفضل',
    middle: 'جيدة',
    saver: 'توفير البيانات',
    says: (kbps, megabytes) => `${kbps} كيلوبت/ث · نحو ${megabytes} ميغابايت في الساعة`,
  },
  sleep: {
    title: 'مؤقت النوم',
    short: 'النوم',
    say: 'يخفت الصوت تدريجيًا ثم يتوقف تلقائيًا.',
    minutes: { zero: '# دقيقة', one: 'دقيقة واحدة', two: 'دقيقتين', few: '# دقائق', many: '# دقيقة', other: '# دقيقة' },
    song: 'عند نهاية هذه الأغنية',
    custom: 'مدة أخرى بالدقائق',
    start: 'ابدأ',
    left: (time) => `يتوقف بعد ${time}`,
    untilSong: 'يتوقف عند نهاية الأغنية',
    off: 'إلغاء المؤقت',
  },
  lyrics: { title: 'كلمات الأغنية', short: 'الكلمات', loading: 'جارٍ تحميل الكلمات…', none: 'لا توجد كلمات لهذه الأغنية.' },
  share: {
    title: 'مشاركة',
    short: 'مشاركة',
    song: (name) => `أستمع الآن إلى: ${name}`,
    copied: 'نُسخ الرابط',
    copy: 'انسخ هذا الرابط:',
  },
  cast: { title: 'التشغيل على جهاز آخر', short: 'جهاز آخر', on: 'الصوت على جهاز آخر', stop: 'إيقافه هناك والمتابعة هنا', failed: 'لم يستجب الجهاز. الصوت مستمر هنا.' },
  history: 'ما اسم تلك الأغنية؟',
  podcasts: 'البودكاست',
  about: { title: 'عن المحطة', links: 'تابعنا', contact: 'تواصل معنا', email: 'البريد الإلكتروني', phone: 'الهاتف', whatsapp: 'واتساب', credit: 'تعمل بنظام أثير' },
  install: {
    title: 'تطبيق المحطة',
    say: 'تفتحه من شاشتك الرئيسية.',
    yes: 'تثبيت',
    no: 'لا، شكرًا',
    ios: 'لتبقى المحطة في متناولك، اختر «مشاركة» في سفاري ثم «إضافة إلى الشاشة الرئيسية».',
  },
};

export const listenWords: Record<Language, ListenWords> = { ar, en };
