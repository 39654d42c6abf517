import type { Language } from '../text/format';
import { arLibrary } from './library.ar';
import { enLibrary, type LibraryWords } from './library.en';

export const libraryWords: Record<Language, LibraryWords> = { ar: arLibrary, en: enLibrary };
