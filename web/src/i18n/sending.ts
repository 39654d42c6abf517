import type { Language } from '../text/format';
import { arSending } from './sending.ar';
import { enSending, type SendingWords } from './sending.en';
import { arSocial } from './social.ar';
import { enSocial, type SocialWords } from './social.en';

/** All words of the listeners' page; those of sending are loaded with its parts. */
export const sendingWords: Record<Language, SocialWords & SendingWords> = { ar: { ...arSocial, ...arSending }, en: { ...enSocial, ...enSending } };
