import { reviewWords } from '../../i18n/review';
import { studioWords } from '../../i18n/studio';
import { tongue } from '../../i18n/tongue.svelte';
import { Link } from '../../live/link.svelte';
import { Problem } from '../../station/control';
import { isolate, plain } from '../../text/bidi';
import { NoKey, type Door } from '../door.svelte';
import { problemWords } from '../problem';
import type { Toasts } from '../toasts.svelte';
import type { Decided, Deed, Order, Page, Post, Refused, SocialStatus, Status, Submitter } from './answers';
import { Booth } from './booth.svelte';
import { emptyQueue, inHand, listed, meant, next, shown, type Event, type Filter, type Queue } from './machine';
import type { Waiting } from './waiting.svelte';

const at = '/api/social';
const undoMs = 8000;
const toldMs = 60_000;
const everyMs = 15_000;
const pageSize = 100;
/** More pages than these are not asked for at once: the rest is found by a search. */
const mostPages: Partial<Record<Status, number>> = { pending: 5 };
const atOnce = 100;
const detailsKept = 12;
const keptAutoplay = 'athir.review.autoplay';

/** A decision that can still be taken back. */
interface Undoable {
  before: Post[];
  hand: number;
  selected: ReadonlySet<number>;
  until: number;
  toast: number;
  /** Those the station carried out, once it has answered. */
  done: Promise<number[]>;
}

/** What several at once came to, where the station refused some of them. */
export interface Outcome {
  deed: Deed;
  done: number;
  refused: { post: Post; detail: string }[];
}

/**
 * The moderators' queue: asks for what waits, sends decisions and takes the
 * station's word. What happens to the queue is decided in machine.ts alone.
 */
export class Review {
  queue = $state.raw<Queue>(emptyQueue());
  phase = $state<'loading' | 'ready' | 'locked' | 'closed' | 'missing' | 'failed'>('loading');
  social = $state.raw<SocialStatus | null>(null);
  /** Posts with all that a list leaves out. */
  details = $state.raw<ReadonlyMap<number, Post>>(new Map());
  outcome = $state.raw<Outcome | null>(null);
  /** Of which statuses there are more than were asked for. */
  partial = $state.raw<ReadonlySet<Status>>(new Set());
  kind = $state('');
  sought = $state('');
  autoplay = $state(read());
  readonly booth: Booth;
  readonly link = new Link();

  readonly #door: Door;
  readonly #toasts: Toasts;
  readonly #waiting: Waiting;
  #undos: Undoable[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #open = false;
  #turn = 0;
  #looking = 0;
  /** The search that the queue answers. */
  #answered = ' ';

  constructor(door: Door, toasts: Toasts, waiting: Waiting) {
    this.#door = door;
    this.#toasts = toasts;
    this.#waiting = waiting;
    this.booth = new Booth(door);
  }

  follow(): () => void {
    this.#open = true;
    this.link.open();
    const soon = () => document.visibilityState === 'visible' && this.soon(300);
    const offs = [this.link.on('social_queue', ({ pending }) => ((this.#waiting.count = pending), soon())), this.link.on('social_post', soon), this.link.onUp(soon)];
    document.addEventListener('visibilitychange', soon);
    this.soon();
    return () => {
      this.#open = false;
      clearTimeout(this.#timer);
      document.removeEventListener('visibilitychange', soon);
      for (const off of offs) off();
      this.link.close();
      this.booth.end();
    };
  }

  soon(ms = 0): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#open) this.#timer = setTimeout(() => void this.#look(), ms);
  }

  /** Asks for a key, either of them. */
  async unlock(): Promise<void> {
    await this.#door.moderate('GET', `${at}/posts?status=pending&limit=1`).catch(() => undefined);
    this.soon();
  }

  do(event: Event): void {
    const before = inHand(this.queue);
    const lost = this.queue.lost;
    this.queue = next(this.queue, event);
    if (inHand(this.queue)?.id !== before?.id) this.#taken();
    if (this.queue.lost && !lost) void this.#askWho(this.queue.lost.post.id);
  }

  show(filter: Filter): void {
    const more = filter === 'all';
    this.do({ type: 'filter', filter });
    if (more) this.soon();
  }

  search(kind: string, sought: string): void {
    [this.kind, this.sought] = [kind, sought];
    this.soon(250);
  }

  keepAutoplay(on: boolean): void {
    this.autoplay = on;
    try {
      localStorage.setItem(keptAutoplay, on ? '1' : '');
    } catch {
      // private windows may keep nothing
    }
  }

  /** Whether a decision has anything to be about; says why where it has not. */
  ready(): boolean {
    if (meant(this.queue).length > 0) return true;
    if (this.queue.lost) this.#toasts.say('note', this.#words.lost.already);
    return false;
  }

  /** Decides what is selected, or what is in hand. */
  decide(order: Order): void {
    if (!this.ready()) return;
    const { hand, selected } = this.queue;
    const ids = meant(this.queue);
    const before = shown(this.queue, ids);
    this.do({ type: 'decide', ids, order });
    const undo: Undoable = { before, hand, selected, until: Date.now() + undoMs, toast: 0, done: Promise.resolve([]) };
    this.#offer(undo, order.deed, before);
    this.#undos.push(undo);
    undo.done = this.#send(before, order, undo);
  }

  /** Says what was decided and offers to take it back, for as long as that is possible. */
  #offer(undo: Undoable, deed: Deed, posts: readonly Post[]): void {
    this.#toasts.drop(undo.toast);
    undo.toast = this.#toasts.say('good', this.#said(deed, posts), {
      action: { label: this.#words.undo, run: () => void this.undo(undo) },
      staysMs: Math.max(0, undo.until - Date.now()),
    });
  }

  /** Takes a decision back, the last one where none is named. */
  async undo(which?: Undoable): Promise<void> {
    this.#undos = this.#undos.filter(({ until }) => until > Date.now());
    const undo = which ?? this.#undos.at(-1);
    if (!undo) return void this.#toasts.say('note', this.#words.nothingToUndo);
    this.#undos = this.#undos.filter((other) => other !== undo);
    this.#toasts.drop(undo.toast);
    const done = await undo.done;
    const before = undo.before.filter(({ id }) => done.includes(id));
    if (before.length === 0) return;
    this.do({ type: 'undo', before, hand: undo.hand, selected: undo.selected });
    const taken = await this.#send(before, { deed: 'review' }, null);
    if (taken.length > 0) this.#toasts.say('note', this.#said('review', before));
  }

  async mark(submitter: Submitter, change: Partial<Pick<Submitter, 'trusted' | 'blocked'>>): Promise<void> {
    const { trusted, blocked } = { ...submitter, ...change };
    try {
      await this.#door.moderate('POST', `${at}/submitters/${encodeURIComponent(submitter.id)}`, { trusted, blocked });
      this.details = new Map();
      this.#toasts.say('good', this.#words.sender.marked(trusted, blocked));
      this.#taken();
    } catch (failure) {
      this.#refused(failure);
    }
    this.soon();
  }

  /** What a submitter sent before, newest first; null where the station does not answer. */
  async sentBy(submitter: Submitter): Promise<Post[] | null> {
    try {
      const query = `submitter=${encodeURIComponent(submitter.id)}&limit=${pageSize}`;
      const pages = await Promise.all((['pending', 'approved', 'rejected'] as const).map((status) => this.#page(status, query)));
      return pages.flatMap(({ posts }) => posts ?? []).filter((post) => post.submitter?.id === submitter.id).sort((a, b) => b.createdAt - a.createdAt);
    } catch {
      return null;
    }
  }

  get #words() {
    return reviewWords[tongue.language];
  }

  /** Asks for what a list leaves out of the post in hand and of the next, and puts its sound on. */
  #taken(): void {
    const post = inHand(this.queue);
    const list = listed(this.queue);
    const follower = list[list.findIndex(({ id }) => id === post?.id) + 1];
    void this.booth.put(post ? soundOf(post) : '', { play: this.autoplay && post !== null, fromMs: post?.loudestAt ?? 0 });
    if (post) void this.#detail(post.id);
    if (!follower) return;
    void this.#detail(follower.id);
    this.booth.expect(soundOf(follower));
  }

  async #detail(id: number): Promise<void> {
    if (this.details.has(id)) return;
    const post = await this.#one(id).catch(() => null);
    if (post) this.details = new Map([...this.details, [id, post] as const].slice(-detailsKept));
  }

  /** The picture of a post, of whatever status it is. */
  picture(path: string): Promise<Blob> {
    return this.#door.moderateQuietly<Blob>('GET', path, undefined, { read: (answer) => answer.blob(), headers: { accept: 'image/*' } });
  }

  #one(id: number): Promise<Post> {
    return this.#door.moderateQuietly<Post>('GET', `${at}/posts/${id}`);
  }

  async #askWho(id: number): Promise<void> {
    try {
      this.do({ type: 'elsewhere', id, post: await this.#one(id) });
    } catch (problem) {
      if (problem instanceof Problem && problem.status === 404) this.do({ type: 'elsewhere', id, post: null });
    }
  }

  /** Sends one order for some posts; returns the ids of those it was carried out on. */
  async #send(posts: readonly Post[], order: Order, undo: Undoable | null): Promise<number[]> {
    const { done, refused } = await this.#carried(posts, order);
    this.do({ type: 'settled', done, refused, turn: ++this.#turn });
    for (const post of done) this.#forget(post.id);
    if (refused.length > 0) this.#tell(posts, order, done.length, refused, undo);
    this.soon(done.length > 0 ? 800 : 0);
    return done.map(({ id }) => id);
  }

  async #carried(posts: readonly Post[], { deed, ...rest }: Order): Promise<{ done: Post[]; refused: Refused[] }> {
    const [first] = posts;
    const ids = posts.map(({ id }) => id);
    try {
      if (first && posts.length === 1) return { done: [await this.#door.moderate<Post>('POST', `${at}/posts/${first.id}/${deed}`, rest, { keepalive: true })], refused: [] };
      const done: Post[] = [];
      const refused: Refused[] = [];
      for (let from = 0; from < ids.length; from += atOnce) {
        const some = await this.#door.moderate<Decided>('POST', `${at}/decide`, { ids: ids.slice(from, from + atOnce), action: deed, ...rest }, { keepalive: true });
        done.push(...(some.done ?? []));
        refused.push(...(some.refused ?? []));
      }
      return { done, refused };
    } catch (failure) {
      const detail = this.#because(failure);
      return { done: [], refused: ids.map((id) => ({ id, detail })) };
    }
  }

  #tell(posts: readonly Post[], order: Order, done: number, refused: readonly Refused[], undo: Undoable | null): void {
    const byId = new Map(posts.map((post) => [post.id, post]));
    const [only] = refused;
    if (undo && done === 0) {
      this.#toasts.drop(undo.toast);
      this.#undos = this.#undos.filter((other) => other !== undo);
    } else if (undo && this.#undos.includes(undo)) {
      this.#offer(undo, order.deed, posts.filter(({ id }) => !refused.some((one) => one.id === id)));
    }
    if (posts.length === 1 && only) {
      this.#toasts.say('bad', this.#words.failed[order.deed](this.#name(posts[0] as Post)), { detail: only.detail });
      return;
    }
    this.outcome = { deed: order.deed, done, refused: refused.flatMap(({ id, detail }) => ({ post: byId.get(id) as Post, detail })) };
  }

  #forget(id: number): void {
    this.details = new Map([...this.details].filter(([known]) => known !== id));
  }

  #said(deed: Deed, posts: readonly Post[]): string {
    const [first] = posts;
    return posts.length === 1 && first ? this.#words.done[deed](this.#name(first)) : tongue.counted(posts.length, this.#words.doneMany[deed]);
  }

  #name(post: Post): string {
    return isolate(plain(post.title), tongue.direction);
  }

  #because(failure: unknown): string {
    const control = studioWords[tongue.language].control;
    if (failure instanceof NoKey) return this.#words.noKey;
    const [said, { detail }] = problemWords(failure as Problem, control, tongue.language);
    return detail || said;
  }

  #refused(failure: unknown): void {
    if (failure instanceof NoKey) return;
    this.#toasts.say('bad', ...problemWords(failure as Problem, studioWords[tongue.language].control, tongue.language));
  }

  #page(status: Status, query: string): Promise<Page> {
    return this.#door.moderateQuietly<Page>('GET', `${at}/posts?status=${status}&${query}`);
  }

  /** All of a status that is asked for, page after page. */
  async #pages(status: Status): Promise<{ posts: Post[]; more: boolean }> {
    const query = new URLSearchParams({ sort: 'new', limit: String(pageSize) });
    if (this.kind) query.set('type', this.kind);
    if (this.sought.trim()) query.set('q', this.sought.trim());
    const posts: Post[] = [];
    for (let n = 0; n < (mostPages[status] ?? 1); n++) {
      const page = await this.#page(status, query.toString());
      posts.push(...(page.posts ?? []));
      if (!page.next) return { posts, more: false };
      query.set('cursor', page.next);
    }
    return { posts, more: true };
  }

  async #look(): Promise<void> {
    this.#timer = undefined;
    const looking = ++this.#looking;
    const asked = ++this.#turn;
    const search = `${this.kind} ${this.sought.trim()}`;
    try {
      const statuses: Status[] = ['pending', 'failed', 'rejected', ...(this.queue.filter === 'all' ? (['processing', 'approved'] as const) : [])];
      this.social = await this.#door.moderateQuietly<SocialStatus>('GET', `${at}/status`);
      if (!(this.social.adminKey || this.#door.user) || !this.social.enabled) return void (this.phase = 'closed');
      const pages = await Promise.all(statuses.map((status) => this.#pages(status)));
      if (looking !== this.#looking) return; // a later look knows better
      this.partial = new Set(statuses.filter((_, i) => pages[i]?.more));
      if (this.social.queue) this.#waiting.count = this.social.queue.pending;
      this.phase = 'ready';
      const anew = search !== this.#answered;
      this.#answered = search;
      this.do({ type: 'loaded', posts: pages.flatMap(({ posts }) => posts), asked, anew });
    } catch (problem) {
      if (looking === this.#looking) this.phase = phaseOf(problem);
    } finally {
      // What was told meanwhile has set the next look already.
      if (looking === this.#looking && this.#timer === undefined) this.soon(this.link.up ? toldMs : everyMs);
    }
  }
}

/** Where a post is heard by moderators. */
export function soundOf(post: Pick<Post, 'id'>): string {
  return `${at}/posts/${post.id}/audio`;
}

function phaseOf(problem: unknown): Review['phase'] {
  const status = problem instanceof Problem ? problem.status : 0;
  return status === 401 ? 'locked' : status === 403 ? 'closed' : status === 404 || status === 405 ? 'missing' : 'failed';
}

function read(): boolean {
  try {
    return localStorage.getItem(keptAutoplay) === '1';
  } catch {
    return false;
  }
}
