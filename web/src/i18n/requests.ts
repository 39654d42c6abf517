import type { Language } from '../text/format';
import { arRequests } from './requests.ar';
import { enRequests, type RequestsWords } from './requests.en';

export const requestsWords: Record<Language, RequestsWords> = { ar: arRequests, en: enRequests };
