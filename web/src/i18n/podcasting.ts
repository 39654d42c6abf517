import type { Language } from '../text/format';
import { arPodcasting } from './podcasting.ar';
import { enPodcasting, type PodcastingWords } from './podcasting.en';

export const podcastingWords: Record<Language, PodcastingWords> = { ar: arPodcasting, en: enPodcasting };
