import { describe, expect, it } from 'vitest';
import { begun, isDone, readPlaces, resumeAt, withPlace, type Place } from './places';

const place = (more: Partial<Place> = {}): Place => ({ at: 100, of: 3600, done: false, when: 1, title: 't', showTitle: 's', cover: '/c', ...more });
const key = (n: number) => `news/${'a'.repeat(14)}${[...String(n).padStart(3, '0')].map((d) => 'abcdefghij'[Number(d)]).join('').slice(1)}`;

describe('remembered places', () => {
  it('are gone on from, unless an episode was ended or only tried', () => {
    expect([resumeAt(place()), resumeAt(place({ done: true })), resumeAt(place({ at: 3 })), resumeAt(undefined)]).toEqual([100, 0, 0, 0]);
    expect([isDone(3590, 3600), isDone(3500, 3600), isDone(58.5, 60), isDone(50, 60), isDone(0, 0)]).toEqual([true, false, true, false, false]);
  });

  it('are bounded, and the oldest go', () => {
    let all = {};
    for (let i = 0; i < 400; i++) all = withPlace(all, `news/${i}`, place({ when: i }));
    expect(Object.keys(all)).toHaveLength(300);
    expect(all).toHaveProperty(['news/399']);
    expect(all).not.toHaveProperty(['news/99']);
  });

  it('are listed by when they were last heard', () => {
    expect(begun({ a: place({ when: 1 }), b: place({ when: 3 }), c: place({ when: 2, done: true }) }).map((one) => one.key)).toEqual(['b', 'a']);
  });

  it('survive whatever stands in the storage', () => {
    for (const text of [null, '', 'null', '[]', '7', '{', '{"x":1}', `{"${key(1)}":{"at":"1"}}`, `{"../../evil":${JSON.stringify(place())}}`]) expect(readPlaces(text)).toEqual({});
    expect(readPlaces(JSON.stringify({ [key(1)]: place(), bad: place() }))).toEqual({ [key(1)]: place() });
  });
});
