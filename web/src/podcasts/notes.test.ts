import { describe, expect, it } from 'vitest';
import { linesOf } from './notes';

const hrefs = (text: string) => linesOf(text).flat().filter(({ href }) => href).map(({ href }) => href);

describe('notes of an episode', () => {
  it('have links to sites, without what ends the sentence', () => {
    expect(hrefs('See https://nile.example/a. And (https://en.wikipedia.org/wiki/Oud_(instrument)), then http://x.example/?q=1!')).toEqual(['https://nile.example/a', 'https://en.wikipedia.org/wiki/Oud_(instrument)', 'http://x.example/?q=1']);
    expect(hrefs('تابعونا على https://nile.example/عربي، ثم اكتبوا لنا')).toEqual(['https://nile.example/%D8%B9%D8%B1%D8%A8%D9%8A']);
  });

  it('lead nowhere else', () => {
    for (const text of ['javascript:alert(1)', 'data:text/html,<script>', 'https://bank.example@evil.example/', 'https://u:p@evil.example', 'http://localhost/x', 'file:///etc/passwd', 'https://', 'mailto:a@b.c']) expect(hrefs(text), text).toEqual([]);
  });

  it('lose nothing that was written, but what would turn their surroundings', () => {
    const text = '<script>alert(1)</script> https://a.example/"onclick="x" end';
    expect(linesOf(text).flat().map((piece) => piece.text).join('')).toBe(text);
    expect(linesOf('a\u202eb\r\n\n  c ')).toEqual([[{ text: 'a b', href: '' }], [{ text: 'c', href: '' }]]);
  });
});
