import type { Language } from '../text/format';
import { arAudience } from './audience.ar';
import { enAudience, type AudienceWords } from './audience.en';

export const audienceWords: Record<Language, AudienceWords> = { ar: arAudience, en: enAudience };
