import type { Language } from '../text/format';
import { arGuard } from './guard.ar';
import { enGuard, type GuardWords } from './guard.en';

export const guardWords: Record<Language, GuardWords> = { ar: arGuard, en: enGuard };
