import { expect, test } from 'vitest';
import { arSocial } from '../i18n/social.ar';
import { reasonOf } from './say';

test('a reason has the digits of the page, but for titles and Latin words', () => {
  const reason = { code: 'x', en: 'Sent 42 times: MP3', ar: 'مدته 42 ثانية، ويمكن الإرسال ابتداءً من الساعة 15:04 بصيغة MP3 «Track 5»' };
  expect(reasonOf(reason, 'ar')).toBe('مدته ٤٢ ثانية، ويمكن الإرسال ابتداءً من الساعة ١٥:٠٤ بصيغة MP3 «Track 5»');
  expect(reasonOf(reason, 'en')).toBe(reason.en);
});

test('a span in Arabic has the case that its words ask for', () => {
  expect(arSocial.window('ثانيتان', '١٥ ثانية')).toBe('من ثانيتين إلى ١٥ ثانية');
});
