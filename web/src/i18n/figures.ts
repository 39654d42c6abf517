import type { Language } from '../text/format';
import { arFigures } from './figures.ar';
import { enFigures, type FiguresWords } from './figures.en';

export const figuresWords: Record<Language, FiguresWords> = { ar: arFigures, en: enFigures };
