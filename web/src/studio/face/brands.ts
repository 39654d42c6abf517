/** Where a link leads, by its host: nothing is loaded to find out. */

export type Brand = 'facebook' | 'x' | 'instagram' | 'youtube' | 'tiktok' | 'whatsapp' | 'telegram' | 'soundcloud' | 'website';

const hosts: Record<Exclude<Brand, 'website'>, readonly string[]> = {
  facebook: ['facebook.com', 'fb.com', 'fb.me', 'fb.watch'],
  x: ['x.com', 'twitter.com'],
  instagram: ['instagram.com', 'instagr.am'],
  youtube: ['youtube.com', 'youtu.be'],
  tiktok: ['tiktok.com'],
  whatsapp: ['whatsapp.com', 'wa.me'],
  telegram: ['t.me', 'telegram.me', 'telegram.org'],
  soundcloud: ['soundcloud.com', 'snd.sc'],
};

/** What an address is of; a host that only ends in letters of a known one is not it. */
export function brandOf(url: string): Brand {
  if (!URL.canParse(url)) return 'website';
  const host = new URL(url).hostname.toLowerCase().replace(/\.$/, '');
  for (const [brand, names] of Object.entries(hosts)) {
    if (names.some((name) => host === name || host.endsWith(`.${name}`))) return brand as Brand;
  }
  return 'website';
}
