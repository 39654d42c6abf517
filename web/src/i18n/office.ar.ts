import type { OfficeWords } from './office.en';

/** What the chat says to the staff, in Arabic. */
export const arOffice: OfficeWords = {
  title: 'الكتابة باسم المحطة',
  say: 'تحمل رسائلك شارة المحطة. الدخول بمفتاح المحطة، ولا يحفظه إلا الاستوديو.',
  name: 'الاسم الذي يراه المستمعون',
  key: 'مفتاح المحطة',
  enter: 'دخول',
  trying: 'جارٍ التحقق…',
  refused: 'مفتاح غير صحيح.',
  stale: 'المفتاح المحفوظ لم يعد صالحًا.',
  away: 'المحطة لا تستجيب. حاول مرة أخرى.',
  limited: (wait) => `محاولات خاطئة كثيرة من هنا. لن يُقبل أي مفتاح قبل ${wait}.`,
  act: (name) => `حذف أو كتم: رسالة ${name}`,
  acts: (name) => `رسالة ${name}`,
  remove: 'حذف للجميع',
  removeSay: 'لا يمكن التراجع.',
  mute: 'كتم كاتبها',
  spans: { 10: 'عشر دقائق', 60: 'ساعة', 1440: 'يوم', 0: 'بلا نهاية' },
  more: 'المزيد في الاستوديو',
  close: 'إغلاق',
  removed: 'حُذفت.',
  muted: (name, span) => `كُتم ${name}: ${span}.`,
  undo: 'تراجع',
  lifted: (name) => `يستطيع ${name} الكتابة من جديد.`,
  failed: 'تعذّر ذلك. حاول مرة أخرى.',
  news: 'ما حدث',
};
