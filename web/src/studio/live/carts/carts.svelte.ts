import { cartWords } from '../../../i18n/carts';
import { tongue } from '../../../i18n/tongue.svelte';
import { Problem } from '../../../station/control';
import { isolate } from '../../../text/bidi';
import type { Door } from '../../door.svelte';
import { sayRefused } from '../../problem';
import type { Toasts } from '../../toasts.svelte';
import { at as cartAt, heardNow, mostPages, staleMs, nameOf, sent, type CartPage, type CartsAnswer, type Playing, type ShownCart, type WallDraft } from './wall';

const at = '/api/station/carts';
const everyMs = 1000;
/** While nothing is live and nothing is edited: the section says when that begins. */
const restMs = 5000;
const hiddenMs = 10_000;
/** Two presses of Escape within this stop all. */
export const twiceMs = 1000;

/** The cart wall: what the station says of it, presses, and a draft while it is edited. */
export class CartWall {
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  answer = $state.raw<CartsAnswer | null>(null);
  page = $state(0);
  /** The pages as they are edited; null: they are not. */
  draft = $state.raw<CartPage[] | null>(null);
  saving = $state(false);
  /** Somebody else saved first. */
  conflict = $state(false);
  /** What a screen reader is told. */
  said = $state('');
  /** Places whose press is on its way. */
  pressed = $state.raw<ReadonlySet<string>>(new Set());
  #tick = $state(Date.now());
  #ahead = $state(0);

  readonly pages = $derived<readonly CartPage[]>(this.draft ?? this.answer?.pages ?? []);
  readonly shown = $derived<CartPage | undefined>(this.pages[this.page] ?? this.pages[0]);
  readonly index = $derived(this.pages[this.page] ? this.page : 0);
  readonly now = $derived(this.#tick + this.#ahead);
  readonly playing = $derived<readonly Playing[]>((this.answer?.playing ?? []).filter(({ loop, startedAt, durationMs }) => loop || this.now < startedAt + durationMs));
  readonly live = $derived(this.answer?.live ?? false);

  readonly #door: Door;
  readonly #toasts: Toasts;
  #version = 0;
  /** Presses and stops of here that an answer may not know of yet. */
  #fires: { one: Playing; at: number }[] = [];
  readonly #stops = new Map<string, number>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #open = false;
  #turn = 0;
  #air = false;

  constructor(door: Door, toasts: Toasts, kept: WallDraft | null) {
    this.#door = door;
    this.#toasts = toasts;
    if (kept) [this.draft, this.#version, this.page] = [kept.pages, kept.version, kept.page];
  }

  /** The draft as it is taken up again; null: nothing is edited. */
  get kept(): WallDraft | null {
    return this.draft && { pages: this.draft, version: this.#version, page: this.page };
  }

  /** Something live is on the air, or not any more, as the section knows. */
  heed(air: boolean): void {
    if (air === this.#air) return;
    this.#air = air;
    this.#soon(0);
  }

  /** Asks until the returned function is called. */
  follow(): () => void {
    this.#open = true;
    const ticker = setInterval(() => this.playing.length > 0 && (this.#tick = Date.now()), 100);
    const seen = () => document.visibilityState === 'visible' && this.#soon(0);
    document.addEventListener('visibilitychange', seen);
    this.#soon(0);
    return () => {
      this.#open = false;
      clearTimeout(this.#timer);
      clearInterval(ticker);
      document.removeEventListener('visibilitychange', seen);
    };
  }

  on(slot: number): Playing | undefined {
    return this.playing.findLast((one) => one.page === this.index && one.slot === slot);
  }

  /** Lets a cart be heard. A press whose answer was lost is sent again by its name, and heard once. */
  async fire(cart: ShownCart): Promise<void> {
    const [page, place] = [this.index, `${this.index}.${cart.slot}`];
    const body = { page, slot: cart.slot, request: Math.random().toString(36).slice(2) };
    const order = () => this.#door.order<{ id: string; startedAt: number; durationMs: number }>('POST', `${at}/fire`, body, { timeoutMs: 6000 });
    this.pressed = new Set([...this.pressed, place]);
    try {
      const heard = await order().catch((failure: unknown) => (failure instanceof Problem && failure.status === 0 ? order() : Promise.reject(failure)));
      this.said = this.#words.playing(isolate(nameOf(cart), tongue.direction));
      this.#tick = Date.now();
      this.#fires = [...this.#fires.filter(({ at }) => Date.now() - at < staleMs), { one: { ...heard, page, slot: cart.slot, positionMs: 0, loop: cart.loop }, at: Date.now() }];
      this.#merge(this.answer);
    } catch (failure) {
      await this.#look();
      if (failure instanceof Problem && failure.status === 409) this.#toasts.say('bad', cartAt(this.answer?.pages[page], cart.slot)?.missing ? this.#words.gone : this.#words.notLive);
      else sayRefused(this.#toasts, failure);
    } finally {
      this.pressed = new Set([...this.pressed].filter((other) => other !== place));
      this.#soon(everyMs);
    }
  }

  /** Fades out what is heard of a place; without one, all. */
  async stop(slot?: number): Promise<void> {
    const ids = slot === undefined ? [''] : this.playing.filter((one) => one.page === this.index && one.slot === slot).map(({ id }) => id);
    try {
      await Promise.all(ids.map((id) => this.#door.order('POST', `${at}/stop`, id ? { id } : {})));
      for (const [id, at] of this.#stops) if (Date.now() - at >= staleMs) this.#stops.delete(id);
      for (const id of slot === undefined ? this.playing.map(({ id }) => id) : ids) this.#stops.set(id, Date.now());
      this.#merge(this.answer);
      if (slot === undefined) this.said = this.#words.stopped;
    } catch (failure) {
      sayRefused(this.#toasts, failure);
    }
    this.#soon(0);
  }

  edit(): void {
    const pages = this.answer?.pages ?? [];
    this.#version = this.answer?.version ?? 0;
    this.draft = pages.length > 0 ? [...pages] : [{ name: this.#words.firstPage, carts: [] }];
    [this.page, this.conflict] = [Math.min(this.page, this.draft.length - 1), false];
  }

  discard(): void {
    [this.draft, this.conflict, this.page] = [null, false, Math.max(0, Math.min(this.page, (this.answer?.pages.length ?? 1) - 1))];
  }

  change(how: (page: CartPage) => CartPage): void {
    if (this.draft) this.draft = this.draft.map((page, i) => (i === this.index ? how(page) : page));
  }

  addPage(name: string): void {
    if (!this.draft || this.draft.length >= mostPages) return;
    this.draft = [...this.draft, { name, carts: [] }];
    this.page = this.draft.length - 1;
  }

  removePage(): void {
    if (!this.draft) return;
    const gone = this.index;
    this.draft = this.draft.filter((_, i) => i !== gone);
    this.page = Math.max(0, gone - 1);
  }

  /** Saves the draft; over: also where somebody else saved first. */
  async save(over = false): Promise<void> {
    if (!this.draft || this.saving) return;
    this.saving = true;
    try {
      if (over) {
        await this.#look();
        this.#version = this.answer?.version ?? 0;
      }
      const turn = ++this.#turn;
      const answer = await this.#door.order<CartsAnswer>('PUT', at, { version: this.#version, pages: sent(this.draft) });
      if (turn === this.#turn) this.#take(answer);
      [this.draft, this.conflict] = [null, false];
      this.#toasts.say('good', this.#words.saved);
    } catch (failure) {
      if (failure instanceof Problem && failure.status === 409) this.conflict = true;
      else sayRefused(this.#toasts, failure);
    } finally {
      this.saving = false;
      this.#soon(0);
    }
  }

  get #words() {
    return cartWords[tongue.language];
  }

  #soon(ms: number): void {
    clearTimeout(this.#timer);
    if (!this.#open) return;
    this.#timer = setTimeout(async () => {
      await this.#look();
      this.#soon(document.visibilityState === 'visible' ? (this.#air || this.live || this.draft ? everyMs : restMs) : hiddenMs);
    }, ms);
  }

  async #look(): Promise<void> {
    const turn = ++this.#turn;
    try {
      const answer = await this.#door.quietly<CartsAnswer>('GET', at, undefined, { timeoutMs: 8000 });
      if (turn === this.#turn) this.#take(answer);
    } catch (failure) {
      if (!(failure instanceof Problem)) throw failure;
      if (turn === this.#turn) this.phase = 'failed';
    }
  }

  #merge(answer: CartsAnswer | null): void {
    if (answer) this.answer = { ...answer, playing: answer.live ? heardNow(answer.playing, this.#fires, this.#stops, Date.now()) : [] };
  }

  #take(answer: CartsAnswer): void {
    [this.phase, this.#ahead, this.#tick] = ['ready', answer.now - Date.now(), Date.now()];
    this.#merge(answer);
    if (this.draft && answer.version !== this.#version) this.conflict = true; // told before they have done more
  }
}
