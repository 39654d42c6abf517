import type { Language } from '../text/format';
import { arBroadcast } from './broadcast.ar';
import { enBroadcast, type BroadcastWords } from './broadcast.en';

export const broadcastWords: Record<Language, BroadcastWords> = { ar: arBroadcast, en: enBroadcast };
