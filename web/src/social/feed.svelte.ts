import { Problem } from '../station/control';
import { api, type Page, type Query } from './api';
import type { Post, SocialEvent } from './post';

/** A list of posts in one order: what was loaded of it, and what came since. */
export class Feed {
  query = $state.raw<Query>({ sort: 'new', type: '', q: '' });
  ids = $state.raw<readonly number[]>([]);
  total = $state(0);
  state = $state<'loading' | 'ready' | 'failed'>('loading');
  problem = $state.raw<Problem | null>(null);
  /** An answer is on its way, also to a list that is shown already. */
  busy = $state(false);
  /** Posts that would stand above the first one shown; they are let in by a press, so that nothing moves under a finger. */
  above = $state.raw<readonly number[]>([]);
  /** More is being fetched, or could not be. */
  further = $state<'' | 'loading' | 'failed'>('');

  readonly #learn: (posts: readonly Post[]) => void;
  readonly #status: '' | 'candidate';
  #next = $state('');
  #turn = 0;

  /** Of approved posts, or of those that listeners choose from. */
  constructor(learn: (posts: readonly Post[]) => void, status: '' | 'candidate' = '') {
    this.#learn = learn;
    this.#status = status;
  }

  get more(): boolean {
    return this.#next !== '';
  }

  async load(query: Query = this.query): Promise<void> {
    const turn = ++this.#turn;
    if (query !== this.query || this.state === 'failed') {
      this.state = 'loading';
      this.ids = [];
      this.further = '';
    }
    if (this.further === 'failed') this.further = '';
    this.query = query;
    this.busy = true;
    try {
      const page = await api.posts(query, '', this.#status);
      // An older answer to the same question is better than none, until the newer one comes.
      if (turn !== this.#turn && !(this.state === 'loading' && query === this.query)) return;
      if (this.state === 'ready') this.#join(page);
      else this.#show([], page);
      this.above = [];
      this.state = 'ready';
      this.problem = null;
    } catch (failure) {
      if (turn !== this.#turn) return;
      this.problem = failure as Problem;
      if (this.ids.length === 0) this.state = 'failed';
    } finally {
      if (turn === this.#turn) this.busy = false;
    }
  }

  /** Asks again for what is shown, if anything is. */
  async again(): Promise<void> {
    if (this.#turn > 0) await this.load();
  }

  async loadMore(): Promise<void> {
    if (!this.more || this.further === 'loading' || this.state !== 'ready') return;
    const { query } = this; // whose first page may be asked for again meanwhile
    this.further = 'loading';
    try {
      const page = await api.posts(query, this.#next, this.#status);
      if (query !== this.query) return;
      this.#show(this.ids, page);
      this.further = '';
    } catch {
      if (query === this.query) this.further = 'failed';
    }
  }

  hear({ id, action, post }: SocialEvent): void {
    if (action === 'removed') {
      this.above = this.above.filter((other) => other !== id);
      if (!this.ids.includes(id)) return;
      this.ids = this.ids.filter((other) => other !== id);
      this.total = Math.max(0, this.total - 1);
      return;
    }
    const { sort, type, q } = this.query;
    // What listeners have chosen stays in sight among the candidates until they are asked for again.
    const belongs = action === (this.#status || 'approved') && post && sort === 'new' && !q && (!type || type === post.type);
    if (belongs && !this.ids.includes(id) && !this.above.includes(id)) this.above = [id, ...this.above];
    if (this.state === 'ready' && this.ids.length === 0) this.letIn(); // nobody is reading who could lose the place
  }

  /** Lets in what came. */
  letIn(): void {
    this.ids = [...this.above, ...this.ids.filter((id) => !this.above.includes(id))];
    this.total += this.above.length;
    this.above = [];
  }

  /** Puts the newest page before what is shown already: who has scrolled down stays there. */
  #join(page: Page): void {
    const next = this.#next;
    const before = this.ids;
    this.#show([], page);
    if (before.length <= this.ids.length) return;
    this.ids = [...new Set([...this.ids, ...before])];
    this.#next = next;
  }

  /** Adds a page; what moved between two pages is shown once. */
  #show(before: readonly number[], page: Page): void {
    const posts = page.posts ?? [];
    this.#learn(posts);
    this.ids = [...new Set([...before, ...posts.map(({ id }) => id)])];
    this.#next = page.next;
    this.total = page.total;
  }
}
