import type { Face } from '../station/face';
import { latinDigits } from '../text/format';

/** Drawn as a line in a 24 square: what a link leads to, by its host. */
const paths = {
  globe: 'M12 3.500a8.500 8.500 0 1 0 0 17 8.500 8.500 0 0 0 0-17zM3.500 12h17M12 3.500c-5 5-5 12 0 17M12 3.500c5 5 5 12 0 17',
  facebook: 'M14 20.500V13h3l.500-3H14V8.500c0-1 .500-1.500 1.500-1.500h2V4.200C15 3.800 11 3.500 11 8v2H8v3h3v7.500',
  instagram: 'M7.500 3.500h9a4 4 0 0 1 4 4v9a4 4 0 0 1-4 4h-9a4 4 0 0 1-4-4v-9a4 4 0 0 1 4-4zM12 8.500a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7zM17 7v.100',
  x: 'M4.500 4.500l15 15M19.500 4.500l-15 15M4.500 4.500h3.500l11.500 15H16z',
  youtube: 'M4.500 6.500c5-.700 10-.700 15 0 1.500 3.500 1.500 7.500 0 11-5 .700-10 .700-15 0-1.500-3.500-1.500-7.500 0-11zM10.500 9.500v5l4-2.500z',
  tiktok: 'M13 4v11.500a3.200 3.200 0 1 1-3.200-3.200M13 4c.300 2.700 2 4.300 5 4.500',
  telegram: 'M3.500 11.500l17-7-3 15-5-3.500-2.500 3-1-5.500zM9 13.500l11-8.500',
  whatsapp: 'M4 20l1.200-4.200A8.300 8.300 0 1 1 8.400 19zM9 8.500c-.500 3.500 3 7 6.500 6.500l.500-2-2-1-1 1c-1.200-.500-2-1.300-2.500-2.500l1-1-1-2z',
  music: 'M9 18V6l10-2v12M9 18a2.500 2.500 0 1 1-5 0 2.500 2.500 0 0 1 5 0zM19 16a2.500 2.500 0 1 1-5 0 2.500 2.500 0 0 1 5 0z',
  mail: 'M3.500 6h17v12h-17zM4 6.500l8 6.500 8-6.500',
  phone: 'M6.500 4H10l1.200 4-2 1.500a11 11 0 0 0 5.300 5.300l1.500-2 4 1.200v3.500a2 2 0 0 1-2.200 2A15.500 15.500 0 0 1 4.500 6.200 2 2 0 0 1 6.500 4z',
  place: 'M12 21c5-5 7-8.300 7-11a7 7 0 0 0-14 0c0 2.700 2 6 7 11zM12 7.500a2.500 2.500 0 1 0 0 5 2.500 2.500 0 0 0 0-5z',
} as const;

export type Mark = keyof typeof paths;

const hosts: readonly (readonly [Mark, readonly string[]])[] = [
  ['facebook', ['facebook.com', 'fb.com', 'fb.me']],
  ['instagram', ['instagram.com']],
  ['x', ['x.com', 'twitter.com']],
  ['youtube', ['youtube.com', 'youtu.be']],
  ['tiktok', ['tiktok.com']],
  ['telegram', ['t.me', 'telegram.me', 'telegram.org']],
  ['whatsapp', ['wa.me', 'whatsapp.com']],
  ['music', ['soundcloud.com', 'spotify.com', 'anghami.com', 'mixcloud.com', 'apple.com', 'deezer.com']],
];

export const pathOf = (mark: Mark): string => paths[mark];

/** What a link leads to. */
export function markOf(url: string): Mark {
  const scheme = /^(mailto|tel):/i.exec(url)?.[1]?.toLowerCase();
  if (scheme) return scheme === 'tel' ? 'phone' : 'mail';
  const host = webAddress(url)?.hostname.replace(/^www\./, '') ?? '';
  return hosts.find(([, names]) => names.some((name) => host === name || host.endsWith(`.${name}`)))?.[0] ?? 'globe';
}

/** An address of the web; null of anything else, which must not become a link. */
export function webAddress(url: string): URL | null {
  try {
    const address = new URL(url);
    return address.protocol === 'https:' || address.protocol === 'http:' ? address : null;
  } catch {
    return null;
  }
}

/** Whether a link of the face may become one: to a site, a mailbox or a phone, as the station itself takes them. */
export const isLink = (url: string): boolean => webAddress(url) !== null || /^(mailto|tel):[^\s]/i.test(url);

/** The digits of a telephone number as tel: and wa.me write them. */
export function dialled(number: string): string {
  const western = latinDigits(number);
  const digits = western.replace(/\D/g, '');
  return digits && /^\s*(\+|00)/.test(western) ? `+${digits.replace(/^00/, '')}` : digits;
}

/** Whether a face says anything beyond its name. */
export function tells({ tagline, about, links, contact, credit }: Face, language: 'ar' | 'en'): boolean {
  return credit || links.length > 0 || [tagline[language], about[language], contact.email, contact.phone, contact.whatsapp, contact.address[language]].some(Boolean);
}
