import type { OfficeWords } from './office.en';

/** What the chat says to the staff, in Arabic. */
export const arOffice: OfficeWords = {
  title: 'اكتب باسم المحطة',
  say: 'يحمل ما تكتبه شارة المحطة. يفتحه مفتاح الاستوديو، ويبقى المفتاح في الاستوديو.',
  name: 'الاسم الذي يراه المستمعون',
  key: 'مفتاح المحطة',
  enter: 'ادخل',
  trying: 'جارٍ التجربة…',
  refused: 'ليس هذا مفتاح المحطة.',
  stale: 'المفتاح المحفوظ هنا لم يعد مفتاح المحطة.',
  away: 'المحطة لا تجيب. حاول مرة أخرى.',
  limited: (wait) => `مفاتيح خاطئة كثيرة من هنا. حتى المفتاح الصحيح ينتظر ${wait}.`,
  act: (name) => `احذف أو اكتم: رسالة ${name}`,
  acts: (name) => `رسالة ${name}`,
  remove: 'احذفها للجميع',
  removeSay: 'لا يمكن إعادتها.',
  mute: 'اكتم كاتبها',
  spans: { 10: 'عشر دقائق', 60: 'ساعة', 1440: 'يومًا', 0: 'بلا نهاية' },
  more: 'المزيد في الاستوديو',
  close: 'إغلاق',
  removed: 'حُذفت.',
  muted: (name, span) => `كُتم ${name}: ${span}.`,
  undo: 'تراجع',
  lifted: (name) => `يمكن ${name} الكتابة من جديد.`,
  failed: 'لم يتم ذلك.',
  news: 'ما حدث',
};
