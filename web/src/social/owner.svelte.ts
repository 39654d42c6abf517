import { SvelteMap } from 'svelte/reactivity';
import { Problem } from '../station/control';
import { api } from './api';
import { forgetPost, keepPost, keptPosts, type Mine } from './kept';
import { moving, stepOf, type Owned, type Post } from './post';

const pace = { moving: 4000, resting: 60_000 };

/** Posts of this browser, followed while they are looked at. */
export class Owner {
  list = $state.raw<readonly Mine[]>(keptPosts());
  /** What the station says of each, as to its owner. */
  readonly posts = new SvelteMap<number, Post>();
  /** Why nothing is known of one: 404 where it is no longer there or the link is not right. */
  readonly problems = new SvelteMap<number, Problem>();

  readonly #learn: (post: Post) => void;
  readonly #askedAt = new Map<number, number>();
  #watched = false;

  constructor(learn: (post: Post) => void) {
    this.#learn = learn;
  }

  /** Begins to look whenever the list is shown; another tab's posts come in by themselves. */
  follow(): () => void {
    const changed = (): void => this.reread();
    addEventListener('storage', changed);
    const ticker = setInterval(() => this.#watched && document.visibilityState === 'visible' && this.#due(), 1000);
    return () => {
      clearInterval(ticker);
      removeEventListener('storage', changed);
    };
  }

  /** Whether the list is shown now. */
  watch(shown: boolean): void {
    this.#watched = shown;
    if (!shown) return;
    this.reread();
    this.look();
  }

  reread(): void {
    this.list = keptPosts();
  }

  /** Takes a post whose secret link was opened or that was just sent. */
  add(owned: Owned, title = '', type: Mine['type'] = ''): void {
    const known = this.list.find(({ id }) => id === owned.id);
    this.list = keepPost({ ...owned, title: known?.title || title, type: known?.type || type, at: known?.at ?? Date.now() });
    void this.#ask(owned);
  }

  /** Forgets a post in this browser alone. */
  forget(id: number): void {
    this.list = forgetPost(id);
    this.posts.delete(id);
    this.problems.delete(id);
  }

  /** Asks for all of them. */
  look(): void {
    this.#askedAt.clear();
    if (this.#watched) this.#due();
  }

  hear(id: number): void {
    const mine = this.list.find((one) => one.id === id);
    if (mine && this.#watched) void this.#ask(mine);
  }

  /** Rejects with a Problem. */
  async withdraw(owned: Owned): Promise<void> {
    await api.withdraw(owned);
    await this.#ask(owned);
  }

  async appeal(owned: Owned, text: string): Promise<void> {
    await api.appeal(owned, text);
    await this.#ask(owned);
  }

  #due(): void {
    const now = performance.now();
    for (const mine of this.list.slice(0, 30)) {
      const post = this.posts.get(mine.id);
      const every = post && moving(stepOf(post)) ? pace.moving : pace.resting;
      const asked = this.#askedAt.get(mine.id);
      if (asked === undefined || now - asked >= every) void this.#ask(mine);
    }
  }

  async #ask({ id, token }: Owned): Promise<void> {
    this.#askedAt.set(id, performance.now());
    try {
      const post = await api.post(id, token);
      this.posts.set(id, post);
      this.problems.delete(id);
      this.#learn(post);
    } catch (failure) {
      this.problems.set(id, failure as Problem);
    }
  }
}
