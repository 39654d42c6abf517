import type { GuardWords } from './guard.en';

/** What the pages say of the dead-air guard to operators, in Arabic. */
export const arGuard: GuardWords = {
  title: 'حارس الصمت',
  states: {
    off: 'متوقف', starting: 'يبدأ', watching: 'يراقب: كل شيء بخير', alarm: 'إنذار: يبحث عن السبب', recovering: 'يستعيد البث', pausing: 'ينتظر قبل الخطوة التالية',
    holding: 'صوت الطوارئ يشغل الأثير', proving: 'عاد الصوت وهو تحت المراقبة',
  },
  kinds: { gone: 'اختفى البث', silence: 'المحطة صامتة', frozen: 'الصوت نفسه يتكرر', playlist: 'تغيّرت قائمة البث من خارج المحطة', emergency: 'صوت الطوارئ على الأثير' },
  steps: {
    skip: 'تخطي المقطع', repush: 'دفع القائمة من جديد', restart_engine: 'إعادة تشغيل المحرّك', restart_server: 'إعادة تشغيل خادم البث', emergency: 'وضع صوت الطوارئ على الأثير',
    drop_live: 'قطع المصدر المباشر', wait: 'انتظار المشرف على البرامج', wait_feed: 'انتظار اتصال المحرّك', rewrite: 'كتابة القائمة من جديد',
  },
  since: (when) => `منذ ${when}`,
  step: 'الخطوة',
  none: 'لم تُتخذ خطوة بعد',
  toPanel: 'إلى الحارس',
  level: 'المستوى',
  alarms: 'الإنذارات',
  lasted: (time) => `عاد الصوت بعد ${time}`,
  still: 'ما زال قائمًا',
  did: (steps) => `ما فُعل: ${steps}`,
};
