import type { Language } from '../text/format';
import { arByHand } from './byhand.ar';
import { enByHand, type ByHandWords } from './byhand.en';

export const byHandWords: Record<Language, ByHandWords> = { ar: arByHand, en: enByHand };
