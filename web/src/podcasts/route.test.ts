import { describe, expect, it } from 'vitest';
import { addressOf, isOurs, routeOf } from './route';

const id = 'abcdefghij234567';

describe('addresses of the podcasts', () => {
  it('lead where they came from', () => {
    for (const address of ['/podcasts', '/podcasts/thursday-night', '/podcasts/thursday-night?q=%D9%84%D9%8A%D9%84', `/podcasts/news/${id}`, `/podcasts/news/${id}?t=754`]) {
      const url = new URL(address, 'http://x');
      expect(addressOf(routeOf(url.pathname, url.search))).toBe(address);
      expect(isOurs(url.pathname)).toBe(true);
    }
  });

  it('leave the files of a show to the browser', () => {
    for (const path of ['/podcasts/', '/podcasts/news/', '/podcasts/news/feed.xml', '/podcasts/news/cover.jpg', `/podcasts/news/${id}/audio.mp3`, `/podcasts/news/${id}/`, '/podcasts/-x', '/podcasts/NEWS', `/podcasts/news/${id}x`, '/podcasts/..', '/history']) {
      expect(isOurs(path), path).toBe(false);
    }
  });

  it('take nothing that is no second', () => {
    for (const t of ['x', '-1', '1e4', '1.5', '9999999', '999999', '']) expect(routeOf(`/podcasts/news/${id}`, `?t=${t}`)).toMatchObject({ at: 0 });
    expect(routeOf('/podcasts/news', `?q=${'ل'.repeat(300)}`)).toMatchObject({ query: 'ل'.repeat(100) });
  });
});
