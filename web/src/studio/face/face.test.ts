import { describe, expect, it } from 'vitest';
import { arFace } from '../../i18n/face.ar';
import { enFace } from '../../i18n/face.en';
import type { Texts } from './answers';
import { brandOf } from './brands';
import { addressOf, changed, faultsIn, keyed, merged, rowOf, sent } from './draft';
import { embedAddress, embedCode } from './embed';
import { fileFault, sizeNote } from './picture';
import { contrast, presets, rgbOf, shadesOf } from './shades';

const plain = (more: Partial<Texts> = {}): Texts => ({
  name: { ar: 'النيل', en: 'Nile' }, tagline: { ar: '', en: '' }, about: { ar: '', en: '' }, languages: ['ar', 'en'], accent: '', links: [],
  contact: { email: '', phone: '', whatsapp: '', address: { ar: '', en: '' } }, credit: true, css: '', ...more,
});
const link = (url: string, ar = 'اسم', key?: number) => ({ label: { ar, en: '' }, url, ...(key === undefined ? {} : { key }) });

describe('the draft of a face', () => {
  it('is no change while nothing but spaces, empty rows and keys of rows differ', () => {
    const base = plain({ links: [link('https://a.example')] });
    const same = { ...base, name: { ar: ' النيل ', en: 'Nile' }, links: [link('https://a.example', 'اسم', 3), link('', '', 4)] };
    expect(changed(base, same)).toEqual([]);
    expect(changed(base, { ...same, credit: false, links: [] })).toEqual(['links', 'credit']);
  });

  it('keeps what each of two changed, and one’s own where both changed the same', () => {
    const base = plain({ accent: '#111111', links: [link('https://a.example')] });
    const mine = { ...base, name: { ar: 'لي', en: 'Nile' }, accent: '#222222' };
    const theirs = { ...base, name: { ar: 'لهم', en: 'Theirs' }, accent: '#333333', credit: false, links: [link('https://b.example')] };
    expect(merged(base, mine, theirs)).toEqual({ ...theirs, name: { ar: 'لي', en: 'Theirs' }, accent: '#222222' });
    expect(merged(base, base, theirs)).toEqual(theirs);
  });

  it('keeps the key of a row over a save', () => {
    let next = 9;
    const before = [link('', '', 1), link('a.example', 'اسم', 2)];
    expect(keyed(plain({ links: sent(plain({ links: before })).links }), () => ++next, before).links.map(({ key }) => key)).toEqual([2]);
    expect(keyed(plain({ links: [link('https://c.example')] }), () => ++next, before).links.map(({ key }) => key)).toEqual([10]);
  });

  it('places a fault of a sent link at its row', () => {
    const texts = plain({ links: [link('', ''), link('https://a.example'), link('', ''), link('https://b.example')] });
    expect([0, 1].map((place) => rowOf(texts, place))).toEqual([1, 3]);
  });

  it('completes an address and leaves others alone', () => {
    expect(['nile.example', ' www.nile.example/a ', 'https://x.com', 'mailto:a@b.example', 'javascript:alert(1)', 'nile', ''].map(addressOf)).toEqual(['https://nile.example', 'https://www.nile.example/a', 'https://x.com', 'mailto:a@b.example', 'javascript:alert(1)', 'nile', '']);
  });

  it('says what the station would refuse, and nothing else', () => {
    const bad = plain({
      accent: '#12', languages: [], css: 'ء'.repeat(40_000),
      links: [link('javascript:alert(1)'), link('nile'), link('', 'اسم'), link('https://a.example', ''), link('', '')],
      contact: { email: 'no', phone: 'call me', whatsapp: '12', address: { ar: '', en: '' } },
    });
    expect(Object.fromEntries(faultsIn(bad))).toEqual({
      accent: 'colour', languages: 'languages', css: 'css', 'links[0].url': 'scheme', 'links[1].url': 'url', 'links[2].url': 'needsUrl', 'links[3].label': 'needsLabel',
      'contact.email': 'email', 'contact.phone': 'phone', 'contact.whatsapp': 'whatsapp',
    });
    expect(faultsIn(plain({ accent: '#0F8F9C', links: [link('nile.example'), link('tel:+20225')], contact: { email: 'a@b.example', phone: '٠١٠٠ ١٢٣', whatsapp: '+20 100 123 4567', address: { ar: '', en: '' } } })).size).toBe(0);
  });
});

describe('shades of an accent', () => {
  it('can be read on every ground, whatever the colour', () => {
    for (let n = 0; n < 512; n++) {
      const accent = `#${[n >> 6, (n >> 3) & 7, n & 7].map((part) => (part * 36).toString(16).padStart(2, '0')).join('')}`;
      for (const ground of ['light', 'dark'] as const) {
        const { on, text, signal, onSignal } = shadesOf(accent, ground);
        expect(Math.min(on, text), `${accent} ${ground}`).toBeGreaterThanOrEqual(4.5);
        expect(contrast(rgbOf(signal) ?? [0, 0, 0], rgbOf(onSignal) ?? [0, 0, 0])).toBe(on);
      }
    }
  });

  it('are the pages’ own without one, and a colour that can be read stays as it is', () => {
    expect(shadesOf('', 'light')).toMatchObject({ signal: '#ffb43f', onSignal: '#1d1303', ink: '#8a4b00' });
    expect(shadesOf('#004d40', 'light').ink).toBe('#004d40');
    expect(shadesOf('#ffffff', 'light').signal).not.toBe('#ffffff');
  });

  it('have a name in both languages for each that is suggested', () => {
    for (const colour of presets) expect([enFace.accent.colours[colour], arFace.accent.colours[colour]].every(Boolean), colour).toBe(true);
  });
});

it('a link is known by its host, and not by letters in it', () => {
  expect(['https://www.facebook.com/nile', 'https://m.youtube.com/x', 'https://youtu.be/x', 'https://x.com/n', 'https://twitter.com/n', 'https://instagram.com/n', 'https://vm.tiktok.com/n', 'https://wa.me/20', 'https://t.me/n', 'https://soundcloud.com/n'].map(brandOf)).toEqual(['facebook', 'youtube', 'youtube', 'x', 'x', 'instagram', 'tiktok', 'whatsapp', 'telegram', 'soundcloud']);
  expect(['https://notfacebook.com', 'https://facebook.com.evil.example', 'https://nile.example/x.com', 'https://netflix.com', 'no address', ''].map(brandOf)).toEqual(Array(6).fill('website'));
});

it('the code of an embedded player holds a name without becoming markup', () => {
  const embed = { way: 'iframe', theme: 'dark', accent: '#0f8f9c', language: 'en', compact: true } as const;
  expect(embedCode('https://nile.example', 'The "<b>Nile</b>" & co', embed)).toBe('<iframe src="https://nile.example/embed?theme=dark&#38;accent=0f8f9c&#38;lang=en&#38;compact=1" title="The &#34;&#60;b&#62;Nile&#60;/b&#62;&#34; &#38; co" width="600" height="80" style="border:0;max-width:100%" allow="autoplay" loading="lazy"></iframe>');
  expect(embedCode('https://nile.example', 'Nile', { ...embed, way: 'script' })).toBe('<script async src="https://nile.example/embed.js" data-theme="dark" data-accent="0f8f9c" data-lang="en" data-compact="1" data-title="Nile"></script>');
  expect(embedAddress('', { theme: 'auto', accent: '', language: '', compact: false })).toBe('/embed');
});

it('a picture is refused, or what is better known of it is said', () => {
  expect([fileFault({ type: 'image/png', size: 10 }), fileFault({ type: 'image/svg+xml', size: 10 }), fileFault({ type: 'image/gif', size: 10 }), fileFault({ type: 'image/webp', size: 5e6 })]).toEqual(['', 'svg', 'type', 'large']);
  expect([sizeNote('logo', 400, 90), sizeNote('logo', 90, 40), sizeNote('icon', 300, 200), sizeNote('icon', 100, 100), sizeNote('icon', 512, 512)]).toEqual(['', 'smallLogo', 'notSquare', 'smallIcon', '']);
});
