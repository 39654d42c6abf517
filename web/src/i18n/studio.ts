import type { Language } from '../text/format';
import { arStudio } from './studio.ar';
import { enStudio, type StudioWords } from './studio.en';

export const studioWords: Record<Language, StudioWords> = { ar: arStudio, en: enStudio };
