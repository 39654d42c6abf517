/** The station's own face: what GET /api/face answers, and what every served page holds in #face. */

import type { Language } from '../text/format';

export type Both = Readonly<Record<Language, string>>;

export interface Face {
  version: number;
  /** Never empty: a language without a name of its own has the other's. */
  name: Both;
  tagline: Both;
  about: Both;
  /** Those that listeners may choose from, the first one first; one alone: nothing to choose. */
  languages: readonly Language[];
  /** #rrggbb, of what is pressed and what shines; empty: the pages' own. */
  accent: string;
  links: readonly { label: Both; url: string }[];
  contact: { email: string; phone: string; whatsapp: string; address: Both };
  /** Path of the logo, as wide and high as it is; empty: there is none. */
  logo: string;
  /** Whether the small line that names Athir is shown. */
  credit: boolean;
}

/** The face that the page was served with; null where it was served without one. */
export function faceOf(page: Document): Face | null {
  try {
    return JSON.parse(page.getElementById('face')?.textContent ?? '') as Face;
  } catch {
    return null;
  }
}

/** The face of this page. */
export const face = typeof document === 'undefined' ? null : faceOf(document);
