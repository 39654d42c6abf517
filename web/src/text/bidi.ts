/** Text from outside (titles, artists, file names) inside a page of either direction. */

const rtl = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
const letter = /\p{L}/u;
const controls = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

export type Direction = 'rtl' | 'ltr';

/** Direction of the first letter, as dir="auto" decides it; null where there is none. */
export function directionOf(text: string): Direction | null {
  for (const c of text) {
    if (letter.test(c)) return rtl.test(c) ? 'rtl' : 'ltr';
  }
  return null;
}

/** Removes control characters and direction overrides, which could reorder their surroundings. */
export function plain(text: string): string {
  return text.replace(controls, ' ').replace(/\s+/g, ' ').trim();
}

/**
 * Plain text that keeps its own order inside a sentence of the page's
 * direction, where no <bdi> can be used: document.title, labels, MediaSession.
 */
export function isolate(text: string, page: Direction): string {
  const clean = plain(text);
  const own = directionOf(clean);
  return own === null || own === page ? clean : `\u2068${clean}\u2069`;
}
