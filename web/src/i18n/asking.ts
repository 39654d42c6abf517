import type { Language } from '../text/format';
import { arAsking } from './asking.ar';
import { enAsking, type AskingWords } from './asking.en';

export const askingWords: Record<Language, AskingWords> = { ar: arAsking, en: enAsking };
