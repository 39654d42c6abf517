import type { Both } from '../../station/face';
import type { Language } from '../../text/format';
import { most, type Link, type Texts } from './answers';

export const languages: readonly Language[] = ['ar', 'en'];

/** Parts of the face by which a change is told. */
export const parts = ['name', 'tagline', 'about', 'languages', 'accent', 'links', 'contact', 'credit', 'css'] as const;
export type Part = (typeof parts)[number];

const trimmed = (text: Both): Both => ({ ar: text.ar.trim(), en: text.en.trim() });

/** An address as it is meant: nobody types https://. */
export function addressOf(text: string): string {
  const url = text.trim();
  return url === '' || /^[a-z][a-z\d+.-]*:/i.test(url) || !/^[^\s/]+\.[^\s/]/.test(url) ? url : `https://${url}`;
}

/** The draft as it is sent: without what belongs to this page, and without rows that nobody filled in. */
export function sent(texts: Texts): Texts {
  const { email, phone, whatsapp, address } = texts.contact;
  return {
    name: trimmed(texts.name),
    tagline: trimmed(texts.tagline),
    about: trimmed(texts.about),
    languages: texts.languages,
    accent: texts.accent.trim().toLowerCase(),
    links: texts.links.filter(filled).map(({ label, url }) => ({ label: trimmed(label), url: addressOf(url) })),
    contact: { email: email.trim(), phone: phone.trim(), whatsapp: whatsapp.trim(), address: trimmed(address) },
    credit: texts.credit,
    css: texts.css,
  };
}

export const filled = ({ label, url }: Link): boolean => `${label.ar}${label.en}${url}`.trim() !== '';

const alike = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The parts in which two faces differ. */
export function changed(a: Texts, b: Texts): Part[] {
  const [from, to] = [sent(a), sent(b)];
  return parts.filter((part) => !alike(from[part], to[part]));
}

/**
 * What was changed here, over what somebody else made of the same face: each
 * text by itself, the links as one list.
 */
export function merged(base: Texts, mine: Texts, theirs: Texts): Texts {
  const pick = <T>(was: T, here: T, there: T): T => (alike(was, here) ? there : here);
  const both = (was: Both, here: Both, there: Both): Both => ({ ar: pick(was.ar, here.ar, there.ar), en: pick(was.en, here.en, there.en) });
  return {
    name: both(base.name, mine.name, theirs.name),
    tagline: both(base.tagline, mine.tagline, theirs.tagline),
    about: both(base.about, mine.about, theirs.about),
    languages: pick(base.languages, mine.languages, theirs.languages),
    accent: pick(base.accent, mine.accent, theirs.accent),
    links: pick<readonly Link[]>(sent(base).links, sent(mine).links, sent(theirs).links),
    contact: {
      email: pick(base.contact.email, mine.contact.email, theirs.contact.email),
      phone: pick(base.contact.phone, mine.contact.phone, theirs.contact.phone),
      whatsapp: pick(base.contact.whatsapp, mine.contact.whatsapp, theirs.contact.whatsapp),
      address: both(base.contact.address, mine.contact.address, theirs.contact.address),
    },
    credit: pick(base.credit, mine.credit, theirs.credit),
    css: pick(base.css, mine.css, theirs.css),
  };
}

/** The links with a key for each row: that of the row before it was saved, where it is the same one. */
export function keyed(texts: Texts, next: () => number, before: readonly Link[] = []): Texts {
  const rows = before.filter(filled);
  const key = ({ url, key }: Link, i: number): number => key ?? (addressOf(rows[i]?.url ?? '') === url ? rows[i]?.key : undefined) ?? next();
  return { ...texts, links: texts.links.map((link, i) => ({ ...link, key: key(link, i) })) };
}

/** The row that a link of what is sent stands in: rows that nobody filled in are not sent. */
export function rowOf(texts: Texts, place: number): number {
  return texts.links.flatMap((link, row) => (filled(link) ? [row] : []))[place] ?? place;
}

export const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

export type FaultCode = 'colour' | 'url' | 'scheme' | 'needsUrl' | 'needsLabel' | 'email' | 'phone' | 'whatsapp' | 'css' | 'languages';

/** What the station would refuse, by the path of the field on this page. */
export function faultsIn(texts: Texts): Map<string, FaultCode> {
  const found = new Map<string, FaultCode>();
  const { accent, links, contact, css } = texts;
  if (accent.trim() && !/^#[\da-f]{6}$/i.test(accent.trim())) found.set('accent', 'colour');
  if (texts.languages.length === 0) found.set('languages', 'languages');
  links.forEach((link, i) => {
    if (!filled(link)) return;
    const url = addressOf(link.url);
    if (!url) found.set(`links[${i}].url`, 'needsUrl');
    else if (!URL.canParse(url)) found.set(`links[${i}].url`, 'url');
    else if (!/^(https?|mailto|tel):/i.test(url)) found.set(`links[${i}].url`, 'scheme');
    if (`${link.label.ar}${link.label.en}`.trim() === '') found.set(`links[${i}].label`, 'needsLabel');
  });
  if (contact.email.trim() && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(contact.email.trim())) found.set('contact.email', 'email');
  for (const way of ['phone', 'whatsapp'] as const) {
    const digits = contact[way].replace(/[^\d٠-٩]/g, '').length;
    if (contact[way].trim() && (digits < (way === 'phone' ? 3 : 6) || /[^\d٠-٩\s().+/-]/.test(contact[way]))) found.set(`contact.${way}`, way);
  }
  if (bytesOf(css) > most.css) found.set('css', 'css');
  return found;
}
