import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { libraryWords } from '../../i18n/library';

it('every code of a reason of the archive has words in both languages', () => {
  const go = readFileSync(new URL('../../../../internal/web/api/shelf_orders.go', import.meta.url), 'utf8');
  const codes = /Code +string `json:"code,omitempty" enum:"([^"]+)"/.exec(go)?.[1]?.split(',') ?? [];
  expect(codes).toContain('retired');
  for (const words of Object.values(libraryWords)) expect(Object.keys(words.archive.reasons).sort()).toEqual([...codes].sort());
});
