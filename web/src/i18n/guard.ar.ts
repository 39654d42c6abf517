import type { GuardWords } from './guard.en';

/** What the pages say of the dead-air guard to operators, in Arabic. */
export const arGuard: GuardWords = {
  title: 'حارس الصمت',
  states: {
    off: 'متوقف', starting: 'يبدأ', watching: 'يراقب: كل شيء بخير', alarm: 'إنذار: جارٍ البحث عن السبب', recovering: 'جارٍ استعادة البث', pausing: 'إنذار: لا خطوة أخرى ممكنة من هنا',
    holding: 'صوت الطوارئ على الهواء', proving: 'عاد الصوت، وهو تحت المراقبة',
  },
  kinds: { gone: 'اختفى البث', starved: 'الجهاز لا يلحق بالبث', unreachable: 'عقدة البث لا تستجيب', silence: 'المحطة صامتة', frozen: 'الصوت نفسه يتكرر', playlist: 'تغيّرت قائمة البث من خارج المحطة', emergency: 'صوت الطوارئ على الهواء' },
  steps: {
    skip: 'تخطّي المقطع', repush: 'إرسال القائمة من جديد', restart_engine: 'إعادة تشغيل المحرّك', restart_server: 'إعادة تشغيل خادم البث', emergency: 'وضع صوت الطوارئ على الهواء',
    drop_live: 'فصل المصدر المباشر', wait: 'انتظار عقدة البث', shed: 'تأجيل ضبط الملفات', rewrite: 'كتابة القائمة من جديد',
  },
  since: (when) => `منذ ${when}`,
  step: 'الخطوة',
  none: 'لم تُتخذ خطوة بعد',
  toPanel: 'عرض الحارس',
  level: 'المستوى',
  alarms: 'الإنذارات',
  lasted: (time) => `عاد الصوت بعد ${time}`,
  still: 'لم ينتهِ بعد',
  did: (steps) => `الخطوات: ${steps}`,
};
