import type { Language } from '../text/format';
import { arControl } from './control.ar';
import { enControl } from './control.en';
import { arProgramme } from './programme.ar';
import { enProgramme } from './programme.en';
import { arStudio } from './studio.ar';
import { enStudio } from './studio.en';

/** All that the studio says, by what it is said about. */
export const studioWords = {
  ar: { ...arStudio, control: arControl, programme: arProgramme },
  en: { ...enStudio, control: enControl, programme: enProgramme },
} satisfies Record<Language, object>;
