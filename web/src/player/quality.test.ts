import { describe, expect, it } from 'vitest';
import { bytesAnHour, fitting, playlistOf } from './quality';

describe('the rendition that is heard', () => {
  it.each([
    [0, [256, 128, 64], 0],
    [256, [256, 128, 64], 256],
    [64, [256, 128, 64], 64],
    ['least', [256, 128, 64], 64],
    [96, [256, 128, 64], 64],
    [48, [256, 128, 64], 64], // it was less before
    [320, [256, 128, 64], 256],
    [64, [], 0],
    ['least', [], 0],
  ] as const)('of %s from %s is %s', (wanted, renditions, heard) => expect(fitting(wanted, renditions)).toBe(heard));

  it('has a playlist of its own', () => {
    expect([256, 128, 64].map((kbps) => playlistOf(kbps, [256, 128, 64]))).toEqual(['main_stream.m3u8', 'main_128.m3u8', 'main_64.m3u8']);
  });

  it('loads what it says', () => expect(Math.round(bytesAnHour(64) / 1e6)).toBe(29));
});
