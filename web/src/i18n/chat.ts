import type { Language } from '../text/format';
import { arChat } from './chat.ar';
import { enChat, type ChatWords } from './chat.en';

export const chatWords: Record<Language, ChatWords> = { ar: arChat, en: enChat };
