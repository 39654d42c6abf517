import type { Language } from '../text/format';

/** What the page that embeds the player may choose: /embed?theme=dark&accent=ff8800&lang=ar&compact=1 */
export interface Options {
  /** Empty: as the listener's device has it. */
  theme: '' | 'light' | 'dark';
  /** #rrggbb; empty: the station's own. */
  accent: string;
  /** Empty: the station's own, or the listener's. */
  language: Language | '';
  compact: boolean;
}

export function optionsOf(search: string): Options {
  const said = new URLSearchParams(search);
  const theme = said.get('theme') ?? '';
  const accent = (said.get('accent') ?? '').replace(/^#/, '');
  const language = said.get('lang') ?? '';
  return {
    theme: theme === 'light' || theme === 'dark' ? theme : '',
    accent: /^[\da-f]{6}$/i.test(accent) ? `#${accent.toLowerCase()}` : '',
    language: language === 'ar' || language === 'en' ? language : '',
    compact: said.get('compact') === '1',
  };
}

/** Relative luminance by WCAG 2. */
function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Of black and white what is read better on a colour: 4.5 at least on any. */
export const readableOn = (colour: string): string => (luminance(colour) > 0.179 ? '#000000' : '#ffffff');

/** Whether a colour stands out from a ground, by 3 as a control's parts must. */
export function standsOut(colour: string, ground: string): boolean {
  const [a, b] = [luminance(colour), luminance(ground)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) >= 3;
}
