import { describe, expect, it } from 'vitest';
import { redundancyPays, redundantFirst, wayNow, type Way } from './redundancy';

const near: Way = { sound: 'voice', saveData: false, rttMs: null, downlinkMbps: null, lossPct: 0, broke: false, redundant: false };

describe('redundant audio', () => {
  it.each<[string, Partial<Way>, boolean]>([
    ['nothing is known', {}, false],
    ['near', { rttMs: 50, downlinkMbps: 10 }, false],
    ['almost far', { rttMs: 199 }, false],
    ['far', { rttMs: 200 }, true],
    ['the session before lost little', { lossPct: 3 }, false],
    ['the session before lost more', { lossPct: 3.1 }, true],
    ['the session before broke', { broke: true }, true],
    ['the session before lost much, with copies', { lossPct: 10, redundant: true }, true],
    ['far, and the session before broke with copies', { rttMs: 500, lossPct: 20, broke: true, redundant: true }, false],
    ['far, in music', { sound: 'music', rttMs: 500, lossPct: 20, broke: true }, false],
    ['far, saving data', { saveData: true, rttMs: 500, lossPct: 20, broke: true }, false],
    ['far and too narrow for it', { rttMs: 500, lossPct: 20, downlinkMbps: 0.2 }, false],
    ['far and just wide enough', { rttMs: 500, downlinkMbps: 0.25 }, true],
  ])('%s', (_, way, pays) => {
    expect(redundancyPays({ ...near, ...way })).toBe(pays);
  });

  it('goes before all other codecs, which keep their order', () => {
    const codecs = ['audio/opus', 'audio/red', 'audio/G722', 'audio/PCMU'].map((mimeType) => ({ mimeType }));
    expect(redundantFirst(codecs)?.map((c) => c.mimeType)).toEqual(['audio/red', 'audio/opus', 'audio/G722', 'audio/PCMU']);
    expect(redundantFirst(codecs.filter((c) => c.mimeType !== 'audio/red'))).toBeNull();
    expect(redundantFirst([])).toBeNull();
  });

  it('is judged by what the browser tells of its network, if anything', () => {
    const told = (connection: unknown): unknown => wayNow({ connection } as unknown as Navigator);
    const nothing = { saveData: false, rttMs: null, downlinkMbps: null };
    expect(told({ saveData: true, rtt: 300, downlink: 1.5 })).toEqual({ saveData: true, rttMs: 300, downlinkMbps: 1.5 });
    for (const odd of [undefined, null, {}, { rtt: 'far', downlink: NaN, saveData: 'on' }, { rtt: 0, downlink: 0 }]) expect(told(odd)).toEqual(nothing);
  });
});
