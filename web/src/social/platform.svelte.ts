import { SvelteMap } from 'svelte/reactivity';
import { Link } from '../live/link.svelte';
import { Problem } from '../station/control';
import { api } from './api';
import { Feed } from './feed.svelte';
import { LastWord } from './lastword';
import { Owner } from './owner.svelte';
import { told, withReaction, withVote, type Post, type Reaction, type SocialEvent, type Status, type Vote } from './post';
import { Upload } from './upload.svelte';

/** What the page knows of the listeners' platform: every post once, whichever list shows it. */
export class Platform {
  status = $state.raw<Status | null>(null);
  /** The station did not say what it takes. */
  unreachable = $state(false);
  online = $state(navigator.onLine);
  /** Posts that are gone since they were shown. */
  readonly gone = new SvelteMap<number, true>();
  /** Last refusal of a press, and on which post; forgotten after a while. */
  refusal = $state.raw<{ id: number; problem: Problem } | null>(null);

  readonly link = new Link();
  readonly upload = new Upload();
  readonly feed = new Feed((posts) => this.learn(posts));
  /** Songs that listeners choose from. */
  readonly choice = new Feed((posts) => this.learn(posts), 'candidate');
  readonly owner = new Owner((post) => this.learn([post]));

  readonly #known = new SvelteMap<number, Post>();
  readonly #votes = new LastWord<Vote>({
    send: async (key, delta) => {
      const { votes } = await api.vote(Number(key), delta);
      this.#change(Number(key), (post) => ({ ...post, votes: { ...votes, mine: delta } }));
    },
    changed: () => this.#presses++,
    refused: (key, problem) => this.#refused(Number(key), problem),
  });
  readonly #reactions = new LastWord<boolean>({
    send: async (key, on) => {
      const [id, kind] = key.split(' ') as [string, Reaction];
      const { reactions, reacted } = await api.react(Number(id), kind, on);
      this.#change(Number(id), (post) => ({ ...post, reactions, reacted: reacted ?? [] }));
    },
    changed: () => this.#presses++,
    refused: (key, problem) => this.#refused(Number.parseInt(key), problem),
  });
  #presses = $state(0);
  #forget: ReturnType<typeof setTimeout> | undefined;

  /** Follows the station until the returned function is called. */
  follow(): () => void {
    const online = (): void => void (this.online = navigator.onLine);
    const ends = [
      this.link.on('social_post', (event) => this.#hear(event)),
      this.link.onAnew(() => this.#again()), // what happened while there was no connection, also before the first one
      this.upload.follow(),
      this.owner.follow(),
    ];
    for (const name of ['online', 'offline']) addEventListener(name, online);
    const poll = setInterval(() => !this.link.up && document.visibilityState === 'visible' && this.#again(), 60_000);
    void this.refresh();
    this.link.open();
    return () => {
      clearInterval(poll);
      for (const name of ['online', 'offline']) removeEventListener(name, online);
      for (const end of ends) end();
      this.link.close();
    };
  }

  /** Asks what the station takes. */
  async refresh(): Promise<void> {
    try {
      this.status = await api.status();
      this.unreachable = false;
    } catch {
      this.unreachable = this.status === null;
    }
  }

  /** A post as it shows, with what is pressed and not yet counted; undefined where nothing is known of it. */
  post(id: number): Post | undefined {
    void this.#presses;
    let post = this.#known.get(id);
    const mine = this.#votes.wanted(String(id));
    if (post && mine !== undefined) post = withVote(post, mine);
    for (const [key, on] of this.#reactions.open) {
      const [of, kind] = key.split(' ') as [string, Reaction];
      if (post && Number(of) === id) post = withReaction(post, kind, on);
    }
    return post;
  }

  learn(posts: readonly Post[]): void {
    for (const post of posts) {
      const known = this.#known.get(post.id);
      this.#known.set(post.id, known ? { ...post, peaks: post.peaks ?? known.peaks ?? null } : post);
    }
  }

  /** Votes, or takes the same vote back. */
  vote(id: number, vote: 1 | -1): void {
    const mine = this.post(id)?.votes.mine ?? 0;
    this.#votes.want(String(id), mine === vote ? 0 : vote);
  }

  react(id: number, kind: Reaction): void {
    const on = this.post(id)?.reacted?.includes(kind) ?? false;
    this.#reactions.want(`${id} ${kind}`, !on);
  }

  #hear(event: SocialEvent): void {
    const { id, action, post } = event;
    if (post) {
      this.gone.delete(id);
      this.#known.set(id, told(post, this.#known.get(id)));
    }
    if (action === 'removed') this.gone.set(id, true);
    this.feed.hear(event);
    this.choice.hear(event);
    this.owner.hear(id);
  }

  #again(): void {
    void this.refresh();
    void this.feed.again();
    void this.choice.again();
    this.owner.look();
  }

  #change(id: number, by: (post: Post) => Post): void {
    const post = this.#known.get(id);
    if (post) this.#known.set(id, by(post));
  }

  #refused(id: number, problem: Problem): void {
    this.refusal = { id, problem };
    clearTimeout(this.#forget);
    this.#forget = setTimeout(() => (this.refusal = null), Math.max(8000, problem.waitMs));
  }
}
