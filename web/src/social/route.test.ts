import { expect, it } from 'vitest';
import { addressOf, routeOf, secretLink, secretOf, type Route } from './route';

it('an address leads where it was made for', () => {
  const routes: Route[] = [{ view: 'listen' }, { view: 'choose' }, { view: 'send' }, { view: 'mine' }, { view: 'chart' }, { view: 'post', id: 12 }];
  for (const route of routes) {
    const url = new URL(addressOf(route), 'https://radio.example');
    expect(routeOf(url.search, url.hash)).toEqual(route);
  }
});

it('what is no post leads to the list', () => {
  for (const search of ['?post=', '?post=0', '?post=-1', '?post=1e9', '?post=12x', '?post=99999999999999999999']) expect(routeOf(search, ''), search).toEqual({ view: 'listen' });
  expect(routeOf('', '#nothing')).toEqual({ view: 'listen' });
});

it('an owner’s link carries its post and secret behind #, and opens the list of one’s own', () => {
  const url = new URL(secretLink('https://radio.example', { id: 12, token: 'aB-9_x~y.z' }));
  expect([url.search, url.pathname]).toEqual(['', '/social.html']);
  expect(secretOf(url.hash)).toEqual({ id: 12, token: 'aB-9_x~y.z' });
  expect(routeOf('', url.hash)).toEqual({ view: 'mine' });
});

it('a link without a whole secret is none', () => {
  for (const hash of ['', '#mine', '#post=12', '#post=12&token=', '#post=x&token=abcd', '#post=12&token=a b"c<d']) expect(secretOf(hash), hash).toBeNull();
});
