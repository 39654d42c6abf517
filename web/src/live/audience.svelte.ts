import { ask, Problem } from '../station/control';
import type { Station } from '../station/station.svelte';
import { Ballot, type Vote } from './ballot';
import { deviceId, keepMine, keepName, keptMine, keptName, randomId } from './device';
import { Known } from './known';
import type { Link } from './link.svelte';
import { Outbox, unheard, type Pending } from './outbox';
import { Taps } from './taps';
import { vibes, type Comment, type Counts, type Vibe } from './words';

export interface Written {
  name: string;
  text: string;
}

const commentsAtOnce = 50;
/** So often it looks while there is no connection. One that broke a moment ago comes back with all that was missed. */
const everyMs = 15_000;
const heart = '❤️';
/** What was not answered the next connection or look asks again. */
const quiet = () => undefined;

/**
 * What listeners do on the home page: reactions, votes, the vibe, comments. It
 * asks for each state when a connection is made, hears of changes, and while
 * there is no connection writes and reads over HTTP.
 */
export class Audience {
  comments = $state.raw<readonly Comment[]>([]);
  pending = $state.raw<readonly Pending<Written>[]>([]);
  /** Grows with each change of the reactions' counts, which are read through count(). */
  counts = $state.raw<(emoji: string) => number>(() => 0);
  popular = $state.raw<Counts>({});
  vibe = $state.raw<Counts>({});
  myVibe = $state<Vibe | ''>('');
  name = $state(keptName());
  /** Comments are read, and written by the staff alone. */
  closed = $state(false);
  /** The last refusal of a tap, a vote or a vibe; forgotten after a while. */
  problem = $state.raw<Problem | null>(null);
  /** Votes as they are to be shown. */
  ballot = $state.raw<{ mine: (file: string) => Vote; shown: (file: string, counted: number) => number }>({ mine: () => 0, shown: (_, n) => n });

  /** The listener's post that is heard; 0 is none. */
  post = 0;

  /** Called for every reaction that should fly, and whether it is one's own. */
  fly: (emoji: string, n: number, own: boolean) => void = () => undefined;

  readonly #link: Link;
  readonly #known = new Known<Comment>(200);
  readonly #mine = new Set(keptMine());
  /** Posts that have one's heart: it is given once. */
  readonly #loved = new Set<number>();
  readonly #taps: Taps;
  readonly #ballot: Ballot;
  readonly #outbox: Outbox<Written, Comment>;
  #quietUntil = 0;
  /** What events have told of reactions since they were asked for: the answer may be older. */
  #counted: Counts = {};
  /** Grows with every event of the vibe. */
  #swings = 0;
  #forget: ReturnType<typeof setTimeout> | undefined;

  constructor(link: Link, station: Station) {
    this.#link = link;
    const refused = (problem: Problem) => this.#refused(problem);
    this.#taps = new Taps({
      send: ({ id, emoji, delta }) => write('/api/reactions', { emoji, delta, id }),
      changed: () => {
        this.counts = (emoji) => this.#taps.shown(emoji);
        this.popular = this.#taps.counts;
      },
      refused,
      newId: randomId,
    });
    this.#ballot = new Ballot({
      send: async (file, delta) => (await write<{ votes: Counts }>('/api/upnext/votes', { file, delta })).votes,
      counted: (votes) => station.counted(votes),
      changed: () => this.#showBallot(),
      refused,
    });
    this.#showBallot();
    this.#outbox = new Outbox<Written, Comment>({
      send: (id, written) => this.#post(id, written),
      sent: (_, comment) => this.#posted(comment),
      changed: (items) => (this.pending = items),
      newId: randomId,
    });
  }

  /** Follows the station until the returned function is called. */
  follow(): () => void {
    const { taps, link } = { taps: this.#taps, link: this.#link };
    let lostAt = 0;
    const offs = [
      link.on('reactions', ({ counts, changed }) => this.#heard(counts ?? {}, changed ?? {})),
      link.on('interaction', ({ counts }) => ((this.vibe = counts ?? {}), this.#swings++)),
      link.on('new_comment', (comment) => this.#take([comment])),
      link.on('message_deleted', ({ id }) => this.#drop(id)),
      link.on('chat_state', ({ room, closed }) => room === 'comments' && (this.closed = closed)),
      link.onBack(() => this.#outbox.resume()),
      link.onDown(() => (lostAt = Date.now())),
      link.onUp(() => {
        this.#quietUntil = Date.now() + 1000; // the first event after connecting repeats old reactions
        this.#outbox.resume();
      }, () => this.#outbox.resume()),
      link.onAnew((first) => (first ? this.#refresh() : this.#missed())),
    ];
    this.#refresh();
    const poll = setInterval(() => !link.up && Date.now() - lostAt > everyMs && document.visibilityState === 'visible' && this.#refresh(), everyMs);
    const leaving = () => taps.flush();
    addEventListener('pagehide', leaving);
    return () => {
      clearInterval(poll);
      removeEventListener('pagehide', leaving);
      for (const off of offs) off();
      taps.flush();
      taps.close();
      this.#outbox.close();
    };
  }

  tap(emoji: string): void {
    this.#taps.tap(emoji);
    this.fly(emoji, 1, true);
    if (emoji === heart && this.post) void this.#love(this.post);
  }

  /** A heart goes to the post on the air as well; where it does not arrive, the next one tries again. */
  async #love(post: number): Promise<void> {
    if (this.#loved.has(post)) return;
    this.#loved.add(post);
    await write(`/api/social/posts/${post}/react`, { kind: 'love', on: true }).catch(() => this.#loved.delete(post));
  }

  vote(file: string, delta: 1 | -1): void {
    this.#ballot.press(file, delta);
  }

  forgetVotes(files: ReadonlySet<string>): void {
    this.#ballot.forget(files);
  }

  async choose(vibe: Vibe): Promise<void> {
    const before = this.myVibe;
    this.myVibe = vibe;
    try {
      const { counts } = await write<{ counts: Counts }>('/api/vibe', { vibe });
      this.vibe = counts;
    } catch (problem) {
      if (this.myVibe === vibe) this.myVibe = before;
      this.#refused(problem as Problem);
    }
  }

  comment(text: string): boolean {
    keepName(this.name);
    return this.#outbox.put({ name: this.name, text });
  }

  again(id: string): void {
    this.#outbox.again(id);
  }

  discard(id: string): void {
    this.#outbox.drop(id);
  }

  /** Pending comments, without those the station has already sent back before acknowledging them. */
  get waiting(): readonly Pending<Written>[] {
    return unheard(this.pending, this.comments, (written, comment) => written.text === comment.text && written.name === comment.name);
  }

  isMine(id: string): boolean {
    return this.#mine.has(id);
  }

  async #post(id: string, written: Written): Promise<Comment> {
    const body = { ...written, id };
    const answer = this.#link.up ? this.#link.ask('send_comment', body) : write<{ comment: Comment }>('/api/comments', body);
    return (await answer).comment;
  }

  #posted(comment: Comment): void {
    this.#mine.add(comment.id);
    keepMine(this.#mine);
    this.#take([comment]);
  }

  #take(some: readonly Comment[]): void {
    this.#known.take(some);
    this.comments = this.#known.entries;
  }

  #drop(id: string): void {
    this.#known.drop(id);
    this.comments = this.#known.entries;
  }

  #heard(counts: Counts, changed: Counts): void {
    Object.assign(this.#counted, counts);
    const others = this.#taps.hear(counts, changed);
    if (Date.now() < this.#quietUntil) return;
    for (const [emoji, n] of Object.entries(others)) this.fly(emoji, n, false);
  }

  /** Asks for the current state, which includes the events missed while disconnected. */
  #refresh(): void {
    const [told, swings]: [Counts, number] = [{}, this.#swings];
    this.#counted = told;
    ask<Counts>('GET', '/api/reactions').then((counts) => this.#taps.take({ ...counts, ...told }), quiet);
    read<{ counts: Counts; mine?: string }>('/api/vibe').then(({ counts, mine }) => {
      if (swings === this.#swings) this.vibe = counts;
      const known = vibes.find((vibe) => vibe === mine);
      if (known) this.myVibe = known;
    }, quiet);
    this.#missed();
  }

  /** Asks for the comments that were missed. All else is told again to whoever joins. */
  #missed(): void {
    const after = this.#known.newest;
    const query = after ? `after=${after}&limit=${commentsAtOnce}` : `limit=${commentsAtOnce}`;
    ask<{ comments: Comment[] | null }>('GET', `/api/comments?${query}`).then(({ comments }) => this.#take(comments ?? []), quiet);
  }

  #showBallot(): void {
    const ballot = this.#ballot;
    this.ballot = { mine: (file) => ballot.mine(file), shown: (file, n) => ballot.shown(file, n) };
  }

  #refused(problem: Problem): void {
    this.problem = problem;
    clearTimeout(this.#forget);
    this.#forget = setTimeout(() => (this.problem = null), Math.max(6000, problem.waitMs));
  }
}

/** The device id tells apart two listeners who share an address. */
const asDevice = () => ({ timeoutMs: 12_000, headers: { 'x-athir-device': deviceId() } });

function write<T>(path: string, body: object): Promise<T> {
  return ask<T>('POST', path, body, asDevice());
}

function read<T>(path: string): Promise<T> {
  return ask<T>('GET', path, undefined, asDevice());
}
