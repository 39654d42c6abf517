import { describe, expect, it } from 'vitest';
import { addressOf, isOurs, routeOf } from './route';

const id = 'abcdefghij234567';

describe('addresses of the history', () => {
  it('lead where they came from', () => {
    for (const address of ['/history', '/history?q=%D9%84%D9%8A%D9%84', '/history?at=1790000000000', `/track/${id}`]) {
      const url = new URL(address, 'http://x');
      expect(addressOf(routeOf(url.pathname, url.search))).toBe(address);
      expect(isOurs(url.pathname)).toBe(true);
    }
  });

  it('take nothing that is no moment, and no id that is none', () => {
    for (const at of ['x', '-1', '1e400', '0', '1.5', '99999999999999999']) expect(routeOf('/history', `?at=${at}`)).toMatchObject({ at: 0 });
    for (const path of ['/track/short', `/track/${id}x`, '/track/ABCDEFGHIJ234567', `/track/${id}/`]) {
      expect(routeOf(path, '').view).toBe('list');
      expect(isOurs(path)).toBe(false);
    }
    expect(routeOf('/history', `?q=${'ل'.repeat(300)}`)).toMatchObject({ query: 'ل'.repeat(100) });
  });
});
