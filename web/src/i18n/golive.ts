import type { Language } from '../text/format';
import { arGoLive } from './golive.ar';
import { enGoLive, type GoLiveWords } from './golive.en';

export const goLiveWords: Record<Language, GoLiveWords> = { ar: arGoLive, en: enGoLive };
