import { expect, it } from 'vitest';
import { narrows, paramsOf, queryIn, sameQuery, sortedBy, tidy, toggled } from './query';

it('a query says only what it asks for, in one order', () => {
  expect(paramsOf({ order: 'asc', q: '  ليل ', genre: ['pop', 'jazz'], category: ['english'] }).toString()).toBe(new URLSearchParams([['q', 'ليل'], ['category', 'english'], ['genre', 'pop'], ['genre', 'jazz']]).toString());
  expect(tidy({ q: ' ', state: [], sort: 'plays', order: 'desc' })).toEqual({ sort: 'plays', order: 'desc' });
  expect([narrows({ sort: 'title' }), narrows({ q: 'a' }), narrows({ state: ['cut'] })]).toEqual([false, true, true]);
  expect(sameQuery({ order: 'asc', q: 'x' }, { q: 'x ' })).toBe(true);
});

it('facets go in and out; a column sorts, then the other way round', () => {
  expect(toggled(toggled({}, 'genre', 'pop'), 'genre', 'pop')).toEqual({ genre: [] });
  expect(sortedBy({}, 'artist')).toMatchObject({ sort: 'artist', order: 'desc' });
  expect(sortedBy({}, 'added')).toMatchObject({ sort: 'added', order: 'desc' });
  expect(sortedBy({ sort: 'title', order: 'asc' }, 'title').order).toBe('desc');
});

it('a view of another version is read for what is known', () => {
  expect(queryIn({ sort: 'mood' as never, state: ['cut', 'sleepy'], q: 'a' })).toEqual({ q: 'a', state: ['cut'] });
});
