import type { Language } from '../text/format';
import { arOffice } from './office.ar';
import { enOffice, type OfficeWords } from './office.en';

export const officeWords: Record<Language, OfficeWords> = { ar: arOffice, en: enOffice };
