import type { Language } from '../../text/format';

/** The code by which another site shows the player. */

export type Theme = 'auto' | 'light' | 'dark';

export interface Embed {
  way: 'script' | 'iframe';
  theme: Theme;
  /** #rrggbb; empty: the station's own. */
  accent: string;
  /** Empty: the listener's, or the station's own. */
  language: Language | '';
  /** The small one. */
  compact: boolean;
}

const heights = { true: 80, false: 140 } as const;

const escaped = (text: string): string => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

/** Where the embedded player is. */
export function embedAddress(origin: string, { theme, accent, language, compact }: Omit<Embed, 'way'>): string {
  const query = new URLSearchParams({ ...(theme === 'auto' ? {} : { theme }), ...(accent ? { accent: accent.replace('#', '') } : {}), ...(language ? { lang: language } : {}), ...(compact ? { compact: '1' } : {}) }).toString();
  return `${origin}/embed${query && `?${query}`}`;
}

/** What to paste, for a station of a name that is reached at an origin. */
export function embedCode(origin: string, name: string, embed: Embed): string {
  const { way, theme, accent, language, compact } = embed;
  if (way === 'iframe') {
    return `<iframe src="${escaped(embedAddress(origin, embed))}" title="${escaped(name)}" width="600" height="${heights[`${compact}`]}" style="border:0;max-width:100%" allow="autoplay" loading="lazy"></iframe>`;
  }
  const options = [theme === 'auto' ? '' : ` data-theme="${theme}"`, accent ? ` data-accent="${escaped(accent.replace('#', ''))}"` : '', language ? ` data-lang="${language}"` : '', compact ? ' data-compact="1"' : '', ` data-title="${escaped(name)}"`].join('');
  return `<script async src="${escaped(origin)}/embed.js"${options}></script>`;
}
