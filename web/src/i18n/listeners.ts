import type { Language } from '../text/format';
import { arListeners } from './listeners.ar';
import { enListeners, type ListenersWords } from './listeners.en';

export const listenersWords: Record<Language, ListenersWords> = { ar: arListeners, en: enListeners };
