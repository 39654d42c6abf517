import type { Face } from '../../src/station/face';

/** A station with everything in its face. */
export const nile: Face = {
  version: 3,
  name: { ar: 'إذاعة النيل', en: 'Nile Radio' },
  tagline: { ar: 'موسيقى القاهرة ليلًا ونهارًا', en: 'The music of Cairo, day and night' },
  about: {
    ar: 'نبث من الزمالك منذ ٢٠١٠: أغنيات جديدة، وتسجيلات نادرة من أرشيف الإذاعة.\nصوتكم يصل إلينا كل مساء.',
    en: 'We broadcast from Zamalek since 2010: new songs, and rare recordings from the archives.\nYour voices reach us every evening.',
  },
  languages: ['ar', 'en'],
  accent: '#2f8fa3',
  links: [
    { label: { ar: 'إنستجرام', en: 'Instagram' }, url: 'https://www.instagram.com/nile' },
    { label: { ar: 'يوتيوب', en: 'YouTube' }, url: 'https://youtube.com/@nile' },
    { label: { ar: 'موقعنا', en: 'Our site' }, url: 'https://nile.example/' },
    { label: { ar: 'شرير', en: 'Evil' }, url: 'javascript:alert(1)' },
  ],
  contact: { email: 'studio@nile.example', phone: '+20 2 1234 5678', whatsapp: '+20 100 123 4567', address: { ar: '١٢ شارع حسن صبري، الزمالك، القاهرة', en: '12 Hassan Sabri St., Zamalek, Cairo' } },
  logo: '/face/logo.png?v=3',
  credit: true,
};

/** The page with the face in it, as a station serves it: nothing of the face closes the element. */
export function withFace(html: string, face: Face): string {
  const json = JSON.stringify(face).replace(/</g, '\\u003c');
  return html.replace('</head>', `<link rel="stylesheet" href="/face/theme.css?v=${face.version}" /><link rel="stylesheet" href="/face/custom.css?v=${face.version}" /><script type="application/json" id="face">${json}</script></head>`);
}

export function themeOf({ accent }: Face): string {
  return accent ? `:root{--signal:${accent};--on-signal:#fff;--signal-ink:#1c5f6e}@media(prefers-color-scheme:dark){:root{--on-signal:#04171b;--signal:#6cc4d6;--signal-ink:#6cc4d6}}` : '';
}
