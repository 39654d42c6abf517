import { askingWords } from '../../i18n/asking';
import { tongue } from '../../i18n/tongue.svelte';
import { Link } from '../../live/link.svelte';
import { inOrder } from '../../requests/order';
import { Problem, type Method } from '../../station/control';
import { isolate } from '../../text/bidi';
import type { Door } from '../door.svelte';
import { sayRefused } from '../problem';
import type { Toasts } from '../toasts.svelte';
import type { Deed, Desk, StudioRequest } from './answers';

const everyMs = 8000;
/** While events arrive, looking only confirms them. */
const toldMs = 30_000;
const at = '/api/station/requests';

/** The studio's side of requests: what waits, what is over, and what the presenter does with it. It asks while it is looked at; the event requests says when. */
export class RequestDesk {
  phase = $state<'loading' | 'ready' | 'locked' | 'off' | 'failed'>('loading');
  open = $state(true);
  requests = $state.raw<readonly StudioRequest[]>([]);
  closed = $state.raw<readonly StudioRequest[]>([]);
  audit = $state.raw<readonly Deed[]>([]);
  /** An order is on its way. */
  busy = $state(false);
  /** Those that were put next from here. */
  next = $state.raw<ReadonlySet<number>>(new Set());

  readonly #link = new Link();
  readonly #door: Door;
  readonly #toasts: Toasts;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #following = false;
  #turn = 0;
  #refused = 0;

  constructor(door: Door, toasts: Toasts) {
    this.#door = door;
    this.#toasts = toasts;
  }

  /** Follows the station until the returned function is called. */
  follow(): () => void {
    this.#following = true;
    this.#link.open();
    const soon = () => this.soon(200);
    const seen = () => document.visibilityState === 'visible' && this.soon();
    const offs = [this.#link.on('requests', soon), this.#link.onUp(soon), this.#link.onBack(soon)];
    document.addEventListener('visibilitychange', seen);
    this.soon();
    return () => {
      this.#following = false;
      clearTimeout(this.#timer);
      document.removeEventListener('visibilitychange', seen);
      for (const off of offs) off();
      this.#link.close();
    };
  }

  soon(ms = 0): void {
    clearTimeout(this.#timer);
    if (this.#following) this.#timer = setTimeout(() => void this.#look(), ms);
  }

  /** Asks for the key, and looks again. */
  async unlock(): Promise<void> {
    try {
      await this.#door.order('GET', at);
    } catch (failure) {
      sayRefused(this.#toasts, failure);
    }
    this.soon();
  }

  async setOpen(open: boolean): Promise<void> {
    const answer = await this.#give<Desk>('PUT', `${at}/open`, { open }, this.#words.done[open ? 'opened' : 'closed']);
    if (answer) this.#take(answer);
  }

  /** The asker is told the word. */
  async refuse(request: StudioRequest, word: string): Promise<void> {
    const answer = await this.#give<Desk>('POST', `${at}/${request.id}/refuse`, word ? { word } : {}, this.#words.done.refused);
    if (answer) this.#take(answer);
  }

  /** Takes one away without a word. */
  async remove(request: StudioRequest): Promise<void> {
    // A station without a key tells the studio from a listener by any.
    const headers: Record<string, string> = this.#door.key || this.#door.user ? {} : { 'x-station-key': 'none' };
    await this.#give('DELETE', `/api/requests/${request.id}`, undefined, this.#words.done.removed, headers);
  }

  /** Puts its song next, whatever the rules say. */
  async playNext(request: StudioRequest): Promise<void> {
    const done = this.#words.done.next(isolate(request.title, tongue.direction));
    if (await this.#give('POST', '/api/channels/main/queue', { file: request.file }, done)) this.next = new Set([...this.next, request.id]);
  }

  get #words() {
    return askingWords[tongue.language];
  }

  async #give<T>(method: Method, path: string, body: unknown, done: string, headers: Record<string, string> = {}): Promise<T | null> {
    if (this.busy) return null;
    this.busy = true;
    ++this.#turn; // a look that is under way shows what was
    try {
      const answer = await this.#door.order<T>(method, path, body, { headers });
      this.#toasts.drop(this.#refused); // it is no longer how things stand
      this.#toasts.say('good', done);
      return answer ?? ({} as T);
    } catch (failure) {
      this.#refused = sayRefused(this.#toasts, failure);
      return null;
    } finally {
      this.busy = false;
      this.soon();
    }
  }

  #take({ open, requests, closed, audit }: Desk): void {
    [this.open, this.requests, this.closed, this.audit] = [open, inOrder(requests), closed, audit];
    this.phase = 'ready';
  }

  async #look(): Promise<void> {
    const turn = ++this.#turn;
    // Where the key is missing, another order may have brought it meanwhile.
    if (this.phase !== 'locked' || this.#door.open) {
      try {
        const desk = await this.#door.quietly<Desk>('GET', at, undefined, { timeoutMs: 8000 });
        if (turn === this.#turn) this.#take(desk);
      } catch (failure) {
        const status = failure instanceof Problem ? failure.status : 0;
        if (status === 401 || status === 429) {
          [this.requests, this.closed, this.audit] = [[], [], []];
          this.phase = 'locked';
        } else this.phase = status === 409 || status === 404 ? 'off' : 'failed';
      }
    }
    if (turn === this.#turn) this.soon(this.#link.up ? toldMs : everyMs);
  }
}
