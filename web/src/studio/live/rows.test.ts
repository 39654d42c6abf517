import { describe, expect, it } from 'vitest';
import type { Encoder, Entry, Session, Source } from './answers';
import { kindOf, place, rowsOf, startable, toneOf } from './rows';

const entry = (id: string, url: string): Entry => ({ id, url, title: id, creator: '', listeners: 0, votes: 0, ingest: 'rtmp', addedAt: 1, lastLiveAt: 0 });
const source = (id: string, state: Source['state'] = 'ready', url = 'source:/x'): Source => ({ id, url, title: id, creator: '', state, since: 1, peakDbfs: -20, lufs: -23, gainDb: 0, silentMs: 0, bufferedMs: 0 });
const session = { id: 's', name: 'سارة' } as Session;

describe('rows', () => {
  it('keeps the order of the registry and adds what comes in and is not in it', () => {
    const rows = rowsOf({ registry: [entry('b', 'rtmp://x/y'), entry('a', 'pipe:/run/live.pcm')], sources: [source('a'), source('new')], sessions: [session], encoders: [] });
    expect(rows.map(({ id, kept, kind }) => [id, kept, kind])).toEqual([['b', true, 'rtmp'], ['a', true, 'phone'], ['new', false, 'encoder']]);
    expect(rows.map(({ source, sessions }) => [source?.state, sessions.length])).toEqual([[undefined, 0], ['ready', 1], ['ready', 0]]);
  });

  it('shows phones before their pipe is registered', () => {
    const [row] = rowsOf({ registry: [], sources: [], sessions: [session], encoders: [] });
    expect([row?.kind, row?.sessions.length, row && startable(row)]).toEqual(['phone', 1, false]);
  });

  it('has the encoders of each source', () => {
    const encoder = { session: 'e', stream: 'a' } as Encoder;
    const rows = rowsOf({ registry: [entry('a', 'rtmp://x/y'), entry('b', 'source:/b')], sources: [], sessions: [], encoders: [encoder] });
    expect(rows.map(({ encoders }) => encoders)).toEqual([[encoder], []]);
  });

  it('tells kinds by the address', () => {
    expect(['pipe:/a', 'source:/studio', 'source:/sara', 'rtmps://a/b', 'https://a/b.m3u8'].map(kindOf)).toEqual(['phone', 'studio', 'encoder', 'rtmp', 'address']);
  });

  it('starts what comes in and what the station fetches itself', () => {
    const row = (url: string, state?: Source['state']) => rowsOf({ registry: [entry('a', url)], sources: state ? [source('a', state)] : [], sessions: [], encoders: [] })[0]!;
    expect([row('pipe:/a'), row('pipe:/a', 'ready'), row('source:/a', 'gone'), row('https://a')].map(startable)).toEqual([false, true, false, true]);
  });
});

describe('levels', () => {
  it('spreads sixty decibels over the meter', () => {
    expect([-120, -60, -30, 0, 3].map(place)).toEqual([0, 0, 0.5, 1, 1]);
    expect([-120, -50, -18, -0.3].map(toneOf)).toEqual(['none', 'low', 'good', 'hot']);
  });
});
