import type { Entry, Order, Post, Refused, Status } from './answers';

/**
 * The queue under a moderator's hands.
 *
 *   loaded     the station's posts replace those known, but for what was touched since it was asked
 *   move, take another post is in hand; with extend those passed over are selected
 *   decide     the post shows what it will become, and the next is in hand at once
 *   settled    the station's word replaces the expectation; a refused post comes back with why
 *   undo       the post shows what it was, and is in hand again with the selection of then
 *   elsewhere  someone else decided what is in hand: it stays there, and can no longer be decided
 *
 * After each of them something is in hand while anything is listed.
 */
export interface Queue {
  /** As the station last told them. */
  readonly posts: ReadonlyMap<number, Post>;
  /** What decisions under way will have made of posts. */
  readonly expected: ReadonlyMap<number, Post>;
  /** The turn of the last word of the station on a post: an answer asked for before it is stale. */
  readonly touched: ReadonlyMap<number, number>;
  readonly filter: Filter;
  readonly newest: boolean;
  /** Id of the post in hand; 0 is none. */
  readonly hand: number;
  /** Its place in the list, which stays when it goes. */
  readonly place: number;
  /** What is in hand went from the list without us. */
  readonly lost: Lost | null;
  readonly selected: ReadonlySet<number>;
  /** Why the station refused a decision on a post. */
  readonly faults: ReadonlyMap<number, string>;
}

export interface Lost {
  readonly post: Post;
  /** The post as it is now; null is gone, undefined not yet known. */
  readonly now: Post | null | undefined;
}

export const filters = ['waiting', 'candidates', 'held', 'reported', 'appeals', 'failed', 'refused', 'all'] as const;
export type Filter = (typeof filters)[number];
/** Where a post is listed; the others are listed under all alone. */
export type Class = Exclude<Filter, 'all'> | 'processing' | 'approved' | 'decided';

export type Event =
  /** anew answers another search than before: what it does not list is not lost. */
  | { type: 'loaded'; posts: readonly Post[]; asked: number; anew?: boolean }
  | { type: 'told'; post: Post; turn: number }
  | { type: 'filter'; filter: Filter }
  | { type: 'sort'; newest: boolean }
  | { type: 'move'; by: 1 | -1; extend: boolean }
  | { type: 'take'; id: number }
  | { type: 'select'; id: number }
  | { type: 'all' }
  | { type: 'clear' }
  | { type: 'decide'; ids: readonly number[]; order: Order }
  | { type: 'undo'; before: readonly Post[]; hand: number; selected: ReadonlySet<number> }
  | { type: 'settled'; done: readonly Post[]; refused: readonly Refused[]; turn: number }
  | { type: 'elsewhere'; id: number; post: Post | null };

export function emptyQueue(): Queue {
  return {
    posts: new Map(), expected: new Map(), touched: new Map(), filter: 'waiting', newest: false,
    hand: 0, place: 0, lost: null, selected: new Set(), faults: new Map(),
  };
}

export function next(queue: Queue, event: Event): Queue {
  switch (event.type) {
    case 'loaded':
      return loaded(queue, event.posts, event.asked, event.anew ?? false);
    case 'told':
      return settle({ ...queue, posts: including(queue.posts, [event.post]), touched: stamped(queue, [event.post.id], event.turn) });
    case 'filter':
      return settle({ ...queue, filter: event.filter, hand: 0, place: 0, lost: null, selected: new Set() });
    case 'sort':
      return settle({ ...queue, newest: event.newest });
    case 'move':
      return move(queue, event.by, event.extend);
    case 'take':
      return settle({ ...queue, hand: event.id, lost: null });
    case 'select':
      return settle({ ...queue, selected: toggled(queue.selected, event.id) });
    case 'all': {
      const ids = listed(queue).map(({ id }) => id);
      return { ...queue, selected: new Set(ids.every((id) => queue.selected.has(id)) ? [] : ids) };
    }
    case 'clear':
      return { ...queue, selected: new Set() };
    case 'decide':
      return decide(queue, event.ids, event.order);
    case 'undo': {
      // What was decided may have left the queue since, as what is asked for is what still waits.
      const gone = event.before.filter(({ id }) => !queue.posts.has(id));
      return settle({ ...queue, posts: including(queue.posts, gone), expected: including(queue.expected, event.before), hand: event.hand, lost: null, selected: event.selected });
    }
    case 'settled':
      return settled(queue, event.done, event.refused, event.turn);
    case 'elsewhere':
      return elsewhere(queue, event.id, event.post);
  }
}

/** The posts of the filter, in order, as they will be once decisions under way are done. */
export function listed(queue: Queue): Post[] {
  const found = shown(queue, [...queue.posts.keys()]).filter((post) => queue.filter === 'all' || classOf(post) === queue.filter);
  const sign = queue.newest ? -1 : 1;
  return found.sort((a, b) => sign * (a.createdAt - b.createdAt || a.id - b.id));
}

export function inHand(queue: Queue): Post | null {
  if (queue.lost) return queue.lost.post;
  return queue.expected.get(queue.hand) ?? queue.posts.get(queue.hand) ?? null;
}

/** Some posts as they are shown: while a decision on one is under way, what it will become. */
export function shown(queue: Queue, ids: readonly number[]): Post[] {
  return ids.flatMap((id) => queue.expected.get(id) ?? queue.posts.get(id) ?? []);
}

/** What a decision is about: those selected, or the one in hand. */
export function meant(queue: Queue): number[] {
  if (queue.selected.size > 0) return listed(queue).map(({ id }) => id).filter((id) => queue.selected.has(id));
  return queue.hand && !queue.lost ? [queue.hand] : [];
}

export function countsOf(queue: Queue): Record<Filter, number> {
  const counts: Record<string, number> = Object.fromEntries(filters.map((filter) => [filter, 0]));
  for (const post of shown(queue, [...queue.posts.keys()])) {
    const kind = classOf(post);
    counts[kind] = (counts[kind] ?? 0) + 1;
    counts.all = (counts.all ?? 0) + 1;
  }
  return counts as Record<Filter, number>;
}

export function classOf(post: Post): Class {
  switch (post.status) {
    case 'failed':
    case 'processing':
    case 'approved':
      return post.status;
    case 'rejected':
      return appealed(post) ? 'appeals' : refusedByMachine(post) ? 'refused' : 'decided';
    default:
      if (post.reason?.code === 'held') return 'held';
      if (post.reason?.code === 'reported') return 'reported';
      return appealed(post) ? 'appeals' : post.candidate ? 'candidates' : 'waiting';
  }
}

/** An appeal that nobody has answered yet. */
function appealed(post: Post): boolean {
  if (!post.appeal) return false;
  return lastOf(post, ['appeal', 'approve', 'reject', 'refuse', 'withdraw'])?.action !== 'reject';
}

/** Reasons that people give; lists leave out the history, which would tell. */
const byPeople: readonly string[] = ['quality', 'rights', 'language', 'offtopic', 'offensive', 'advertising', 'other', 'moderator', 'withdrawn'];

function refusedByMachine(post: Post): boolean {
  const last = lastOf(post, ['refuse', 'reject', 'withdraw']);
  return last ? last.action === 'refuse' : !byPeople.includes(post.reason?.code ?? '');
}

function lastOf(post: Post, actions: readonly string[]): Entry | undefined {
  return (post.history ?? []).filter(({ action }) => actions.includes(action)).sort((a, b) => a.at - b.at).at(-1);
}

const becomes: Record<Order['deed'], Status> = { approve: 'approved', reject: 'rejected', hold: 'pending', process: 'processing', review: 'pending' };

/** What an order will make of a post. */
export function expectation(post: Post, { deed, code = '', note = '' }: Order): Post {
  const of = { reject: code, hold: 'held' }[deed as string];
  const history = [...(post.history ?? []), { at: Infinity, who: '', action: deed }];
  return { ...post, status: becomes[deed], candidate: null, reason: of ? { code: of, en: '', ar: '', note } : null, history };
}

/** What someone did last to a post, for whoever has it in hand. */
export function lastDeed(post: Post): Entry | null {
  return [...(post.history ?? [])].sort((a, b) => a.at - b.at).at(-1) ?? null;
}

function loaded(queue: Queue, posts: readonly Post[], asked: number, anew: boolean): Queue {
  const fresh = new Map(posts.map((post) => [post.id, post]));
  for (const [id, turn] of queue.touched) {
    if (turn <= asked) continue;
    const known = queue.posts.get(id);
    if (known) fresh.set(id, known);
  }
  for (const id of queue.expected.keys()) {
    const known = queue.posts.get(id);
    if (known && !fresh.has(id)) fresh.set(id, known); // its decision may yet be refused
  }
  const before = inHand(queue);
  const after = { ...queue, posts: fresh };
  if (!before || anew || listed(after).some(({ id }) => id === before.id)) return settle({ ...after, lost: null });
  if (queue.lost) return settle(after);
  return settle({ ...after, lost: { post: before, now: fresh.get(before.id) } });
}

/** What was missed beyond the end of a page is listed again; what someone decided is told. */
function elsewhere(queue: Queue, id: number, post: Post | null): Queue {
  if (queue.lost?.post.id !== id) return queue;
  if (post && (queue.filter === 'all' || classOf(post) === queue.filter)) return settle({ ...queue, posts: including(queue.posts, [post]), lost: null });
  return { ...queue, lost: { ...queue.lost, now: post } };
}

function move(queue: Queue, by: 1 | -1, extend: boolean): Queue {
  const ids = listed(queue).map(({ id }) => id);
  // Where what was in hand has gone, the next one stands in its place.
  const at = queue.lost ? queue.place - (by > 0 ? 1 : 0) : ids.indexOf(queue.hand);
  const to = ids[Math.min(ids.length - 1, Math.max(0, at + by))] ?? 0;
  const selected = extend ? new Set([...queue.selected, queue.hand, to]) : queue.selected;
  return settle({ ...queue, hand: to, lost: null, selected });
}

function decide(queue: Queue, ids: readonly number[], order: Order): Queue {
  const known = ids.flatMap((id) => queue.posts.get(id) ?? []);
  if (known.length === 0) return queue;
  const list = listed(queue).map(({ id }) => id);
  const at = list.indexOf(queue.hand);
  const open = (id: number) => !ids.includes(id);
  const hand = ids.includes(queue.hand) ? (list.slice(at + 1).find(open) ?? list.slice(0, Math.max(0, at)).findLast(open) ?? 0) : queue.hand;
  const faults = new Map([...queue.faults].filter(([id]) => open(id)));
  return settle({ ...queue, expected: including(queue.expected, known.map((post) => expectation(post, order))), hand, faults, selected: new Set() });
}

function settled(queue: Queue, done: readonly Post[], refused: readonly Refused[], turn: number): Queue {
  const ids = [...done, ...refused].map(({ id }) => id);
  const expected = new Map([...queue.expected].filter(([id]) => !ids.includes(id)));
  const faults = new Map([...queue.faults, ...refused.map(({ id, detail }) => [id, detail] as const)]);
  const touched = stamped(queue, done.map(({ id }) => id), turn);
  return settle({ ...queue, posts: including(queue.posts, done), expected, faults, touched });
}

/** Keeps something in hand while anything is listed, and nothing selected that is not. */
function settle(queue: Queue): Queue {
  const ids = listed(queue).map(({ id }) => id);
  const kept = [...queue.selected].filter((id) => ids.includes(id));
  const selected = kept.length === queue.selected.size ? queue.selected : new Set(kept);
  if (queue.lost) return { ...queue, selected, place: Math.min(queue.place, ids.length) };
  const at = ids.indexOf(queue.hand);
  const place = at >= 0 ? at : Math.max(0, Math.min(queue.place, ids.length - 1));
  return { ...queue, selected, place, hand: ids[place] ?? 0 };
}

function including(posts: ReadonlyMap<number, Post>, some: readonly Post[]): ReadonlyMap<number, Post> {
  return new Map([...posts, ...some.map((post) => [post.id, post] as const)]);
}

function stamped(queue: Queue, ids: readonly number[], turn: number): ReadonlyMap<number, number> {
  return new Map([...queue.touched, ...ids.map((id) => [id, turn] as const)]);
}

function toggled(selected: ReadonlySet<number>, id: number): ReadonlySet<number> {
  const set = new Set(selected);
  if (!set.delete(id)) set.add(id);
  return set;
}
