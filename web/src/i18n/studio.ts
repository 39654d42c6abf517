import type { Language } from '../text/format';
import { arControl } from './control.ar';
import { enControl } from './control.en';
import { arStudio } from './studio.ar';
import { enStudio } from './studio.en';

/** All that the studio says, by what it is said about. */
export const studioWords = {
  ar: { ...arStudio, control: arControl },
  en: { ...enStudio, control: enControl },
} satisfies Record<Language, object>;
