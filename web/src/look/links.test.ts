import { expect, it } from 'vitest';
import { dialled, isLink, markOf, webAddress } from './links';

it.each([
  ['https://www.instagram.com/nile', 'instagram'],
  ['https://m.facebook.com/nile', 'facebook'],
  ['https://youtu.be/x', 'youtube'],
  ['https://open.spotify.com/show/x', 'music'],
  ['https://notfacebook.com/', 'globe'],
  ['https://x.com.evil.example/', 'globe'],
  ['no address', 'globe'],
  ['mailto:studio@nile.example', 'mail'],
  ['tel:+20212345', 'phone'],
])('%s is marked as %s', (url, mark) => expect(markOf(url)).toBe(mark));

it.each(['javascript:alert(1)', 'data:text/html,x', 'blob:https://a/b', '//host', ''])('%s is no link', (url) => {
  expect(webAddress(url)).toBeNull();
  expect(isLink(url)).toBe(false);
});

it.each(['https://nile.example', 'http://nile.example/x', 'mailto:studio@nile.example', 'tel:+20212345'])('%s is a link, as the station takes it', (url) => expect(isLink(url)).toBe(true));

it('dials what a person wrote', () => {
  expect(dialled('+20 (100) 123-4567')).toBe('+201001234567');
  expect(dialled('0020 2 1234')).toBe('+2021234');
  expect(dialled('٠١٠٠ ١٢٣')).toBe('0100123');
  expect(dialled('none')).toBe('');
});
