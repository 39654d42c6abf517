import { describe, expect, it } from 'vitest';
import type { Played, Status } from './api';
import { airAt, heardAt, remember, turned, type Air, type Ear } from './ear';

function track(title: string, startedAt: number): Played {
  return { title, artist: '', file: `${title}.mp3`, category: 'english', type: 'english', durationMs: 60_000, startedAt };
}

function status(now: Played | null, ...history: Played[]): Status {
  return { track: now, history } as unknown as Status;
}

describe('the ear', () => {
  const [a, b, c] = [track('a', 1000), track('b', 2000), track('c', 3000)];

  it('names what was on at the moment that is heard, not what the station plays', () => {
    const ear = remember([], status(c, b, a));
    expect(heardAt(ear, 2999)?.title).toBe('b');
    expect(heardAt(ear, 3000)?.title).toBe('c');
    expect(heardAt(ear, 99_999)?.title).toBe('c');
  });

  it('names the oldest it knows for an earlier moment, and nothing when it knows nothing', () => {
    expect(heardAt(remember([], status(b)), 10)?.title).toBe('b');
    expect(heardAt([], 10)).toBeNull();
  });

  it('keeps each start once, in order, however the answers repeat and mix them', () => {
    let ear: Ear = [];
    for (const said of [status(b, a), status(b, a), status(c, a, b)]) ear = remember(ear, said);
    expect(ear.map((t) => t.title)).toEqual(['a', 'b', 'c']);
    expect(remember(ear, status(track('a', 9000))).map((t) => t.title)).toEqual(['a', 'b', 'c', 'a']);
  });

  it('remembers whose post a track is, which its history does not tell', () => {
    const post = { id: 12, by: 'نور', page: '/social.html?post=12' };
    let ear = remember([], { ...status(a), nowPlaying: { title: 'a', artist: '', file: 'a.mp3', post } });
    ear = remember(ear, status(b, a));
    expect(ear.map((track) => track.post?.id)).toEqual([12, undefined]);
    expect(remember([], { ...status(b), nowPlaying: { title: 'a', artist: '', file: 'a.mp3', post } })[0]?.post).toBeUndefined(); // of another track
  });

  it('stays small over a day, and takes a station without tracks', () => {
    let ear: Ear = [];
    for (let i = 1; i < 500; i++) ear = remember(ear, status(track(`t${i}`, i * 1000)));
    expect(ear.length).toBeLessThan(40);
    expect(heardAt(ear, 499_000)?.title).toBe('t499');
    expect(remember([], { track: null, history: null } as unknown as Status)).toEqual([]);
  });
});

describe('what the ear knows of the air', () => {
  const music = (from: number): Air => ({ from, state: 'music', nowPlaying: null });
  const live = (from: number, title: string): Air => ({ from, state: 'live', nowPlaying: { title, artist: '', file: '' } });

  it('lets a live broadcast begin and end when the ear gets there, not before', () => {
    let airs: readonly Air[] = [];
    for (const air of [music(1000), live(5000, 'concert'), music(9000)]) airs = turned(airs, air);
    expect([4999, 5000, 8999, 9000].map((moment) => airAt(airs, moment)?.state)).toEqual(['music', 'live', 'live', 'music']);
    expect(airAt(airs, 10)?.state).toBe('music');
    expect(airAt([], 10)).toBeNull();
  });

  it('takes the same again for no change, and another title of the same broadcast for one', () => {
    let airs: readonly Air[] = [];
    for (const air of [music(1000), music(2000), live(3000, 'a'), live(4000, 'a'), live(5000, 'b')]) airs = turned(airs, air);
    expect(airs.map(({ from }) => from)).toEqual([1000, 3000, 5000]);
  });
});
