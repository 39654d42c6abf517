import type { Language } from '../text/format';
import { arReview } from './review.ar';
import { enReview, type ReviewWords } from './review.en';

export const reviewWords: Record<Language, ReviewWords> = { ar: arReview, en: enReview };
