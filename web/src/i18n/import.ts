import type { Language } from '../text/format';
import { arImport } from './import.ar';
import { enImport, type ImportWords } from './import.en';

export const importWords: Record<Language, ImportWords> = { ar: arImport, en: enImport };
