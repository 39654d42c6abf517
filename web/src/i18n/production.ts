import type { Language } from '../text/format';
import { arProduction } from './production.ar';
import { enProduction, type ProductionWords } from './production.en';

export const productionWords: Record<Language, ProductionWords> = { ar: arProduction, en: enProduction };
