import type { Both } from '../../station/face';
import type { Language } from '../../text/format';

export interface Link {
  label: Both;
  url: string;
  /** Of its row on this page, and nothing of the station's. */
  key?: number;
}

export interface Contact {
  email: string;
  phone: string;
  whatsapp: string;
  address: Both;
}

/** What the operator writes of the station; every text may be empty. */
export interface Texts {
  name: Both;
  tagline: Both;
  about: Both;
  languages: readonly Language[];
  accent: string;
  links: readonly Link[];
  contact: Contact;
  credit: boolean;
  css: string;
}

/** What GET and PUT /api/station/face answer. */
export interface FaceAnswer {
  /** Of the face: who sets it names the one it was made of. */
  version: number;
  face: Texts;
  /** Address of the operator's own picture; empty: none. */
  logo: string;
  icon: string;
  /** The settings' own, which stand in for what is empty. */
  defaults: { name: string; language: Language };
}

export type Which = 'logo' | 'icon';

/** What a picture becomes when the draft is saved: another one, none, or as it is. */
export type Picked = { blob: Blob; url: string } | 'none' | null;

/** The most that the station takes: characters of texts, links, and bytes (internal/face/clean.go). */
export const most = { name: 40, tagline: 120, about: 2000, label: 40, url: 500, email: 254, phone: 40, address: 300, links: 12, css: 65_536 } as const;
