import { expect, it } from 'vitest';
import type { Deed } from './answers';
import { changesOf } from './changes';

const deed: Deed = { id: 1, at: 0, by: '', kind: 'edit', tracks: 1, path: 'a.mp3', fields: ['crossMs', 'cueInMs'], before: { crossMs: 2500 }, after: { crossMs: 12_000, cueInMs: 64_500 } };

it('figures have the decimal mark of their language', () => {
  expect(changesOf(deed, 'ar')).toEqual([{ field: 'crossMs', before: '٢٫٥', after: '١٢' }, { field: 'cueInMs', before: '', after: '\u2066١:٠٤٫٥\u2069' }]);
  expect(changesOf(deed, 'en')).toEqual([{ field: 'crossMs', before: '2.5', after: '12' }, { field: 'cueInMs', before: '', after: '\u20661:04.5\u2069' }]);
});
