import { expect, it } from 'vitest';
import { addressOf } from './share';

it('shares a song’s page, and of all else the station', () => {
  expect(addressOf({ kind: 'song', id: 'abc234' }, 'https://r.example')).toBe('https://r.example/track/abc234');
  expect(addressOf({ kind: 'song', id: '' }, 'https://r.example')).toBe('https://r.example/');
  expect(addressOf({ kind: 'ad', id: 'abc234' }, 'https://r.example')).toBe('https://r.example/');
});
