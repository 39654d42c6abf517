import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { coverOf, coverSVG } from './cover';

describe('a drawn cover', () => {
  it('is the same for the same name and differs between names', () => {
    expect(coverSVG(coverOf('فرقة النيلليل القاهرة'), 64)).toBe(coverSVG(coverOf('فرقة النيلليل القاهرة'), 64));
    const many = new Set(Array.from({ length: 300 }, (_, i) => coverSVG(coverOf(`track ${i}`), 64)));
    expect(many.size).toBeGreaterThan(295);
  });

  it('carries nothing of the name, and only finite numbers', () => {
    for (const name of ['"><script>alert(1)</script>', '', '\u0000', '😀', 'ليل']) {
      const svg = coverSVG(coverOf(name), 64);
      expect(svg).toMatch(/^<svg [^<>]+>(<path [^<>"]*(?:"[^<>"]*"[^<>"]*)*\/>)+<\/svg>$/);
      expect(svg).not.toMatch(/script|NaN|Infinity|undefined/);
    }
  });

  // internal/web/card draws the same covers for where a link is shared, and is held to the same file.
  it('is the one that the station draws', () => {
    const file = new URL('../../../internal/web/card/testdata/covers.json', import.meta.url);
    const want = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
    const sums = Object.keys(want).map((name) => [name, createHash('sha256').update(coverSVG(coverOf(name), 100)).digest('hex')]);
    expect(Object.fromEntries(sums)).toEqual(want);
  });
});
