/** Colours that the pages make of one accent, with their contrasts: the arithmetic of internal/face/theme.go. */

export type Rgb = readonly [number, number, number];
export type Ground = 'light' | 'dark';

/** What WCAG asks of text, and what is asked between what is pressed and the ground beneath. */
const readable = 4.5;
const seen = 1.45;

const grounds = {
  light: { all: ['#e9efec', '#f6f9f7', '#dde6e2'], away: 0 },
  dark: { all: ['#0b1618', '#112124', '#081012'], away: 255 },
} as const;

/** A few that go with the pages: of the river, its banks and its evenings. */
export const presets = ['#e2574c', '#d6457f', '#8e5bd0', '#3f74d8', '#0f8f9c', '#2f9a5f', '#b98a4b'] as const;
/** The pages' own accent, for a control that must show one. */
export const ownAccent = '#ffb43f';

export interface Shades {
  /** Of what is pressed, of text on it, and of text. */
  signal: string;
  onSignal: string;
  ink: string;
  /** Of the text on what is pressed, and the least of the text on the grounds. */
  on: number;
  text: number;
}

/** The pages' own (web/src/look/base.css). */
const own = { light: ['#ffb43f', '#1d1303', '#8a4b00'], dark: ['#ffb84d', '#1d1303', '#ffb84d'] } as const;

export function rgbOf(hex: string): Rgb | null {
  const found = /^#([\da-f]{2})([\da-f]{2})([\da-f]{2})$/i.exec(hex.trim());
  return found ? [parseInt(found[1] ?? '', 16), parseInt(found[2] ?? '', 16), parseInt(found[3] ?? '', 16)] : null;
}

const known = (hex: string): Rgb => rgbOf(hex) ?? [0, 0, 0];
const hexOf = (rgb: Rgb): string => `#${rgb.map((part) => part.toString(16).padStart(2, '0')).join('')}`;

/** Relative luminance as WCAG defines it. */
function luminance(rgb: Rgb): number {
  const [r, g, b] = rgb.map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4)) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(a: Rgb, b: Rgb): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

const leastOn = (rgb: Rgb, ground: Ground): number => Math.min(...grounds[ground].all.map((other) => contrast(rgb, known(other))));

/** A colour moved away from the grounds by as little as gives the contrast on each. */
function apart(rgb: Rgb, ground: Ground, least: number): Rgb {
  const { away } = grounds[ground];
  for (let step = 0; step < 256; step++) {
    const out = rgb.map((part) => Math.floor((part * (255 - step) + away * step) / 255)) as unknown as Rgb;
    if (leastOn(out, ground) >= least) return out;
  }
  return [away, away, away];
}

/** The shades of an accent on a ground; the pages' own where it is empty or no colour. */
export function shadesOf(accent: string, ground: Ground): Shades {
  const rgb = rgbOf(accent);
  const made = rgb && ([apart(rgb, ground, seen), apart(rgb, ground, readable)] as const);
  const [black, white] = [known('#000000'), known('#ffffff')];
  const [signal, onSignal, ink] = made
    ? [made[0], contrast(made[0], white) >= contrast(made[0], black) ? white : black, made[1]]
    : own[ground].map(known) as [Rgb, Rgb, Rgb];
  return { signal: hexOf(signal), onSignal: hexOf(onSignal), ink: hexOf(ink), on: contrast(signal, onSignal), text: leastOn(ink, ground) };
}
