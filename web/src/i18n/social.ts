import type { Language } from '../text/format';
import { arSocial } from './social.ar';
import { enSocial, type SocialWords } from './social.en';

export const socialWords: Record<Language, SocialWords> = { ar: arSocial, en: enSocial };
