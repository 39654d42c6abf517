import { describe, expect, it } from 'vitest';
import { optionsOf, readableOn, standsOut } from './options';

const none = { theme: '', accent: '', language: '', compact: false };

describe('what an embedding page may choose', () => {
  it('is taken where it is written as it must be', () => {
    expect(optionsOf('?theme=dark&accent=FF8800&lang=en&compact=1')).toEqual({ theme: 'dark', accent: '#ff8800', language: 'en', compact: true });
    expect(optionsOf('?accent=%23ff8800')).toEqual({ ...none, accent: '#ff8800' });
  });

  it('is nothing else, whatever it holds', () => {
    for (const said of ['theme=red', 'accent=fff', 'accent=ff8800;}body{', 'accent=url(//x)', 'lang=fr', 'lang=../', 'compact=true', 'accent=gggggg']) expect(optionsOf(`?${said}`)).toEqual(none);
  });
});

it('what stands on an accent is read, whichever the accent', () => {
  const part = (text: string) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  const luminance = (text: string) => part(text).map((v) => ((v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4))).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i]!, 0);
  for (let i = 0; i < 4096; i++) {
    const colour = `#${[i >> 8, (i >> 4) & 15, i & 15].map((v) => (v * 17).toString(16).padStart(2, '0')).join('')}`;
    const [a, b] = [luminance(colour), luminance(readableOn(colour))];
    expect((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)).toBeGreaterThanOrEqual(4.5);
  }
  expect(standsOut('#ffffff', '#f6f9f7')).toBe(false);
  expect(standsOut('#0f5c62', '#f6f9f7')).toBe(true);
});
