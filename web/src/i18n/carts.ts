import type { Language } from '../text/format';
import { arCarts } from './carts.ar';
import { enCarts, type CartWords } from './carts.en';

export const cartWords: Record<Language, CartWords> = { ar: arCarts, en: enCarts };
