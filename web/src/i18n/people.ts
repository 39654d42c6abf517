import type { Language } from '../text/format';
import { arPeople } from './people.ar';
import { enPeople, type PeopleWords } from './people.en';

export const peopleWords: Record<Language, PeopleWords> = { ar: arPeople, en: enPeople };
