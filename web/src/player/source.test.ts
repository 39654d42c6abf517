import { afterEach, expect, it, vi } from 'vitest';
import { transportsOf } from './source';

const hls = { canPlayType: (type: string) => (type === 'application/vnd.apple.mpegurl' ? ('maybe' as const) : ('' as const)) };
const mse = { isTypeSupported: () => true };

afterEach(() => void vi.unstubAllGlobals());

it('leaves HLS to Safari, whose own can be sent to other devices, and to no other browser that has Media Source Extensions', () => {
  vi.stubGlobal('MediaSource', mse);
  expect(transportsOf(hls)).toEqual(['hls', 'stream']);
  expect(transportsOf({ ...hls, webkitShowPlaybackTargetPicker: () => undefined } as never)).toEqual(['native', 'stream']);
});

it('plays what there is', () => {
  vi.stubGlobal('MediaSource', undefined);
  expect(transportsOf(hls)).toEqual(['native', 'stream']);
  expect(transportsOf({ canPlayType: () => '' })).toEqual(['stream']);
});
