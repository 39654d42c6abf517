import { expect, it } from 'vitest';
import { renumbering } from './renumber';

it('discontinuities count from the first that was seen, and everything else stays', () => {
  const renumbered = renumbering();
  const list = (n: number) => `#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:91228288\n#EXT-X-DISCONTINUITY-SEQUENCE:${n}\n#EXTINF:2,\nseg91228288.ts\n`;
  expect(renumbered('#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nmain_stream.m3u8\n')).toContain('main_stream.m3u8');
  expect(renumbered(list(91_227_393))).toBe(list(0));
  expect(renumbered(list(91_227_395))).toBe(list(2)); // one second later the relay was killed
  expect(renumbered(list(7))).toBe(list(0)); // another relay took over: never below nothing
});
