import { describe, expect, it } from 'vitest';
import type { Encoder, Entry, Session, Source } from './answers';
import { kindOf, place, rowsOf, startable, stateOf, toneOf } from './rows';

const entry = (id: string, url: string, available = true): Entry => ({ id, url, title: id, creator: '', listeners: 0, votes: 0, ingest: 'rtmp', addedAt: 1, lastLiveAt: 0, available });
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

  it('starts what is sent, and what the station fetches itself', () => {
    const row = (url: string, available: boolean, state?: Source['state']) => rowsOf({ registry: [entry('a', url, available)], sources: state ? [source('a', state)] : [], sessions: [], encoders: [] })[0]!;
    expect([row('source:/a', true, 'ready'), row('source:/a', true, 'gone'), row('https://a', true), row('rtmp://own/a', true), row('rtmp://own/a', false), row('rtmp://own/a', false, 'connecting')].map(startable)).toEqual([true, false, true, true, false, false]);
  });

  it('starts phones as soon as one has the pipe, and not without one', () => {
    const row = (sessions: Session[], state?: Source['state']) => rowsOf({ registry: [entry('a', 'pipe:/a', sessions.length > 0)], sources: state ? [source('a', state)] : [], sessions, encoders: [] })[0]!;
    const speaks = { ...session, holds: true } as Session;
    const rows = [row([]), row([], 'connecting'), row([session]), row([session], 'connecting'), row([speaks]), row([speaks], 'connecting'), row([session, speaks], 'ready')];
    expect(rows.map(startable)).toEqual([false, false, false, false, true, true, true]);
    expect(rows.map(stateOf)).toEqual(['away', 'away', 'connected', 'connected', 'connected', 'connecting', 'ready']);
  });

  it('calls an encoder connected that nobody reads', () => {
    const rows = rowsOf({ registry: [entry('a', 'rtmp://own/a'), entry('b', 'rtmp://own/b', false)], sources: [], sessions: [], encoders: [{ session: 'e', stream: 'a' } as Encoder] });
    expect(rows.map(stateOf)).toEqual(['connected', 'away']);
  });
});

describe('levels', () => {
  it('spreads sixty decibels over the meter', () => {
    expect([-120, -60, -30, 0, 3].map(place)).toEqual([0, 0, 0.5, 1, 1]);
    expect([-120, -50, -18, -0.3].map(toneOf)).toEqual(['none', 'low', 'good', 'hot']);
  });
});
