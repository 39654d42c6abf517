import { count, type Language } from '../text/format';
import type { Direction } from '../text/bidi';
import { ar } from './ar';
import { chooseLanguage, plural, type Forms } from './choose';
import { en, type Words } from './en';
import { face } from '../station/face';

const kept = 'athir.language';

function read(): string | null {
  try {
    return localStorage.getItem(kept);
  } catch {
    return null;
  }
}

/** Whoever works at the station chooses freely, whatever its listeners are offered. */
const staff = document.documentElement.hasAttribute('data-staff');

/** The language the page speaks. Setting it also turns the page's direction and is kept for next time. */
class Tongue {
  /** Those that can be chosen. */
  readonly offered: readonly Language[] = !staff && face?.languages.length ? face.languages : ['ar', 'en'];
  language = $state<Language>(chooseLanguage(read(), !staff && face ? [] : navigator.languages, this.offered));

  constructor() {
    this.#turn();
  }

  get words(): Words {
    return this.language === 'ar' ? ar : en;
  }

  get direction(): Direction {
    return this.language === 'ar' ? 'rtl' : 'ltr';
  }

  /** Whether there is another language to choose. */
  get choosable(): boolean {
    return this.offered.length > 1;
  }

  get other(): Language {
    return this.language === 'ar' ? 'en' : 'ar';
  }

  switch(): void {
    this.language = this.other;
    this.#turn();
    try {
      localStorage.setItem(kept, this.language);
    } catch {
      // private windows may keep nothing
    }
  }

  counted(n: number, forms: Forms): string {
    return plural(n, forms, this.language, count(n, this.language));
  }

  #turn(): void {
    document.documentElement.lang = this.language;
    document.documentElement.dir = this.direction;
  }
}

export const tongue = new Tongue();
