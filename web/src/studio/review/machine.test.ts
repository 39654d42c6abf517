import { describe, expect, it } from 'vitest';
import type { Deed, Post } from './answers';
import { classOf, countsOf, emptyQueue, inHand, listed, meant, next, type Class, type Event, type Queue } from './machine';

const post = (id: number, more: Partial<Post> = {}): Post => ({
  id, type: 'song', category: 'arabic_hits', title: `song ${id}`, artist: '', description: '', tags: [], createdBy: '', status: 'pending',
  createdAt: id * 1000, duration: 180_000, page: '', reason: null, history: [], ...more,
});

const after = (events: readonly Event[], queue: Queue = emptyQueue()) => events.reduce(next, queue);
const waiting = (...ids: number[]): Event => ({ type: 'loaded', posts: ids.map((id) => post(id)), asked: 0 });
const decide = (deed: Deed, ...ids: number[]): Event => ({ type: 'decide', ids, order: { deed } });
const move = (by: 1 | -1, extend = false): Event => ({ type: 'move', by, extend });
const ids = (queue: Queue) => listed(queue).map(({ id }) => id);

/** One line for each thing that can happen: what is listed, in hand and selected after it. */
const rows: { name: string; events: Event[]; list: number[]; hand: number; selected?: number[]; lost?: boolean }[] = [
  { name: 'the oldest is in hand first', events: [waiting(3, 1, 2)], list: [1, 2, 3], hand: 1 },
  { name: 'newest first keeps what is in hand', events: [waiting(1, 2, 3), { type: 'sort', newest: true }], list: [3, 2, 1], hand: 1 },
  { name: 'next', events: [waiting(1, 2, 3), move(1)], list: [1, 2, 3], hand: 2 },
  { name: 'next ends at the last', events: [waiting(1, 2), move(1), move(1)], list: [1, 2], hand: 2 },
  { name: 'previous ends at the first', events: [waiting(1, 2), move(-1)], list: [1, 2], hand: 1 },
  { name: 'extend selects what it passes', events: [waiting(1, 2, 3), move(1, true), move(1, true)], list: [1, 2, 3], hand: 3, selected: [1, 2, 3] },
  { name: 'select and unselect', events: [waiting(1, 2), { type: 'select', id: 1 }, { type: 'select', id: 2 }, { type: 'select', id: 1 }], list: [1, 2], hand: 1, selected: [2] },
  { name: 'all', events: [waiting(1, 2), { type: 'all' }], list: [1, 2], hand: 1, selected: [1, 2] },
  { name: 'all again is none', events: [waiting(1, 2), { type: 'all' }, { type: 'all' }], list: [1, 2], hand: 1 },
  { name: 'a decision takes the next at once', events: [waiting(1, 2, 3), move(1), decide('approve', 2)], list: [1, 3], hand: 3 },
  { name: 'a decision on the last takes the one before', events: [waiting(1, 2), move(1), decide('reject', 2)], list: [1], hand: 1 },
  { name: 'the last decision leaves nothing', events: [waiting(1), decide('approve', 1)], list: [], hand: 0 },
  { name: 'several go, and the selection with them', events: [waiting(1, 2, 3, 4), { type: 'all' }, { type: 'select', id: 3 }, decide('approve', 1, 2, 4)], list: [3], hand: 3 },
  { name: 'several elsewhere leave the hand alone', events: [waiting(1, 2, 3), decide('approve', 2, 3)], list: [1], hand: 1 },
  { name: 'a decision on something unknown is none', events: [waiting(1), decide('approve', 9)], list: [1], hand: 1 },
  { name: 'a refused one comes back to its place', events: [waiting(1, 2, 3), decide('approve', 1), { type: 'settled', done: [], refused: [{ id: 1, detail: 'no' }], turn: 1 }], list: [1, 2, 3], hand: 2 },
  { name: 'the station’s word stands', events: [waiting(1, 2), decide('approve', 1), { type: 'settled', done: [post(1, { status: 'approved' })], refused: [], turn: 1 }], list: [2], hand: 2 },
  { name: 'a stale answer brings nothing back', events: [waiting(1, 2), decide('approve', 1), { type: 'settled', done: [post(1, { status: 'approved' })], refused: [], turn: 2 }, { type: 'loaded', posts: [post(1), post(2)], asked: 1 }], list: [2], hand: 2 },
  { name: 'a later answer may', events: [waiting(1, 2), decide('approve', 1), { type: 'settled', done: [post(1, { status: 'approved' })], refused: [], turn: 2 }, { type: 'loaded', posts: [post(1), post(2)], asked: 3 }], list: [1, 2], hand: 2 },
  { name: 'an answer during a decision does not show it again', events: [waiting(1, 2), decide('approve', 1), { type: 'loaded', posts: [post(1), post(2), post(3)], asked: 1 }], list: [2, 3], hand: 2 },
  { name: 'undo restores the hand and the selection', events: [waiting(1, 2, 3), decide('approve', 1, 2), { type: 'settled', done: [post(1, { status: 'approved' }), post(2, { status: 'approved' })], refused: [], turn: 1 }, { type: 'undo', before: [post(1), post(2)], hand: 1, selected: new Set([1, 2]) }], list: [1, 2, 3], hand: 1, selected: [1, 2] },
  { name: 'also when what was decided has left the queue since', events: [waiting(1, 2, 3), decide('approve', 1, 2), { type: 'settled', done: [post(1, { status: 'approved' }), post(2, { status: 'approved' })], refused: [], turn: 1 }, { type: 'loaded', posts: [post(3)], asked: 1 }, { type: 'undo', before: [post(1), post(2)], hand: 1, selected: new Set([1, 2]) }], list: [1, 2, 3], hand: 1, selected: [1, 2] },
  { name: 'what another decides stays in hand', events: [waiting(1, 2, 3), move(1), { type: 'loaded', posts: [post(1), post(3)], asked: 1 }], list: [1, 3], hand: 2, lost: true },
  { name: 'and the next after it is the one that follows', events: [waiting(1, 2, 3), move(1), { type: 'loaded', posts: [post(1), post(3)], asked: 1 }, move(1)], list: [1, 3], hand: 3 },
  { name: 'and the one before is the one before', events: [waiting(1, 2, 3), move(1), { type: 'loaded', posts: [post(1), post(3)], asked: 1 }, move(-1)], list: [1, 3], hand: 1 },
  { name: 'of the last in the list too', events: [waiting(1, 2), move(1), { type: 'loaded', posts: [post(1)], asked: 1 }, move(1)], list: [1], hand: 1 },
  { name: 'of the only one too', events: [waiting(1), { type: 'loaded', posts: [], asked: 1 }, move(1)], list: [], hand: 0 },
  { name: 'it comes back when the other undoes', events: [waiting(1, 2), { type: 'loaded', posts: [post(2)], asked: 1 }, { type: 'loaded', posts: [post(1), post(2)], asked: 2 }], list: [1, 2], hand: 1 },
  { name: 'and when it was only missed', events: [waiting(1, 2), { type: 'loaded', posts: [post(2)], asked: 1 }, { type: 'elsewhere', id: 1, post: post(1) }], list: [1, 2], hand: 1 },
  { name: 'a search that does not list it loses nothing', events: [waiting(1, 2, 3), { type: 'loaded', posts: [post(3)], asked: 1, anew: true }], list: [3], hand: 3 },
  { name: 'others that go leave quietly, from the selection too', events: [waiting(1, 2, 3), { type: 'all' }, { type: 'loaded', posts: [post(1), post(3)], asked: 1 }], list: [1, 3], hand: 1, selected: [1, 3] },
  { name: 'another filter takes its first', events: [{ type: 'loaded', posts: [post(1), post(2, { status: 'failed' }), post(3, { status: 'failed' })], asked: 0 }, { type: 'filter', filter: 'failed' }], list: [2, 3], hand: 2 },
  { name: 'under all a decided one stays, and the next is in hand', events: [waiting(1, 2), { type: 'filter', filter: 'all' }, decide('approve', 1)], list: [1, 2], hand: 2 },
];

describe('the queue', () => {
  it.each(rows)('$name', ({ events, list, hand, selected = [], lost = false }) => {
    const queue = after(events);
    expect({ list: ids(queue), hand: queue.hand, selected: [...queue.selected].sort(), lost: queue.lost !== null }).toEqual({ list, hand, selected, lost });
  });

  it('means what is selected, else what is in hand, and never what someone else decided', () => {
    const queue = after([waiting(1, 2, 3), move(1)]);
    expect(meant(queue)).toEqual([2]);
    expect(meant(after([{ type: 'all' }], queue))).toEqual([1, 2, 3]);
    expect(meant(after([{ type: 'loaded', posts: [post(1), post(3)], asked: 1 }], queue))).toEqual([]);
  });

  it('keeps why a post was refused until it is decided again', () => {
    const refused = after([waiting(1, 2), decide('approve', 1), { type: 'settled', done: [], refused: [{ id: 1, detail: 'its file is gone' }], turn: 1 }]);
    expect(refused.faults.get(1)).toBe('its file is gone');
    expect(after([decide('reject', 1)], refused).faults.size).toBe(0);
  });

  it('shows the lost post and who took it', () => {
    const lost = after([waiting(1, 2), { type: 'loaded', posts: [post(2)], asked: 1 }]);
    const told = after([{ type: 'elsewhere', id: 1, post: post(1, { status: 'approved' }) }], lost);
    expect(inHand(told)?.title).toBe('song 1');
    expect(told.lost?.now?.status).toBe('approved');
    expect(after([{ type: 'elsewhere', id: 2, post: null }], told)).toBe(told); // of another post
  });

  it('counts what decisions under way leave', () => {
    const queue = after([waiting(1, 2, 3), decide('hold', 1), decide('reject', 2)]);
    expect(countsOf(queue)).toMatchObject({ waiting: 1, held: 1, refused: 0, all: 3 });
  });
});

const entry = (action: string, at: number) => ({ at, who: 'someone', action });
const reason = (code: string) => ({ code, en: '', ar: '' });
const classes: [Class, Partial<Post>][] = [
  ['waiting', {}],
  ['held', { reason: reason('held') }],
  ['reported', { reason: reason('reported') }],
  ['failed', { status: 'failed' }],
  ['processing', { status: 'processing' }],
  ['approved', { status: 'approved' }],
  ['refused', { status: 'rejected', reason: reason('too_long') }],
  ['refused', { status: 'rejected', reason: reason('duplicate'), history: [entry('refuse', 1)] }],
  ['decided', { status: 'rejected', reason: reason('duplicate'), history: [entry('pass', 1), entry('reject', 2)] }],
  ['decided', { status: 'rejected', reason: reason('other') }],
  ['decided', { status: 'rejected', reason: reason('withdrawn') }],
  ['appeals', { status: 'rejected', reason: reason('too_long'), appeal: 'it is not', history: [entry('refuse', 1), entry('appeal', 2)] }],
  ['appeals', { status: 'pending', appeal: 'please', history: [entry('reject', 1), entry('appeal', 2)] }],
  ['decided', { status: 'rejected', reason: reason('moderator'), appeal: 'please', history: [entry('appeal', 2), entry('reject', 3), entry('refuse', 1)] }],
];

describe('where a post is listed', () => {
  it.each(classes)('%s: %j', (kind, more) => expect(classOf(post(1, more))).toBe(kind));
});
