import { listenersWords } from '../../i18n/listeners';
import { studioWords } from '../../i18n/studio';
import { tongue } from '../../i18n/tongue.svelte';
import { fetchJSON, type Alarm, type Guard } from '../../station/api';
import { Problem, type Method } from '../../station/control';
import { NoKey, type Door } from '../door.svelte';
import { problemWords } from '../problem';
import type { Toasts } from '../toasts.svelte';
import type { Deed, Delivery, Found, Hook, HookEvent, KeptRoom, Purge, Sanction, Sentence, Word } from './answers';

const everyMs = 8000;
/** How long a purge is held so that it can be undone; afterwards it cannot. */
const heldMs = 8000;
const at = '/api/station';

/**
 * What the section knows of the listeners: what they write, who is
 * told. It asks only while the section is open, and for what stands behind the
 * key only quietly: the operator is asked for it by an order.
 */
export class Audience {
  phase = $state<'loading' | 'ready' | 'locked' | 'failed'>('loading');
  guard = $state.raw<Guard | null>(null);
  alarms = $state.raw<readonly Alarm[]>([]);
  rooms = $state.raw<readonly KeptRoom[]>([]);
  messages = $state.raw<readonly Found[]>([]);
  sought = $state('');
  sanctions = $state.raw<readonly Sanction[]>([]);
  words = $state.raw<readonly Word[] | null>(null);
  deeds = $state.raw<readonly Deed[]>([]);
  hooks = $state.raw<readonly Hook[]>([]);
  events = $state.raw<readonly HookEvent[]>([]);
  deliveries = $state.raw<Readonly<Record<string, readonly Delivery[]>>>({});
  busy = $state(false);

  readonly #door: Door;
  readonly #toasts: Toasts;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #open = false;
  #turn = 0;
  #held: { run: (keepalive: boolean) => Promise<void>; timer: ReturnType<typeof setTimeout> } | null = null;

  constructor(door: Door, toasts: Toasts) {
    this.#door = door;
    this.#toasts = toasts;
  }

  follow(): () => void {
    this.#open = true;
    this.soon();
    const leaving = () => this.#purgeNow(true);
    addEventListener('pagehide', leaving);
    return () => {
      this.#open = false;
      clearTimeout(this.#timer);
      removeEventListener('pagehide', leaving);
      this.#purgeNow();
    };
  }

  soon(ms = 0): void {
    clearTimeout(this.#timer);
    if (this.#open) this.#timer = setTimeout(() => void this.#look(), ms);
  }

  async unlock(): Promise<void> {
    await this.#order('GET', `${at}/guard?limit=20`);
    this.soon();
  }

  remove(found: Found): Promise<unknown> {
    const kind = found.room === 'comments' ? 'comments' : 'messages';
    return this.#order('DELETE', `${at}/chat/${kind}/${found.id}`, undefined, this.#words.chat.done.removed);
  }

  sentence({ kind, minutes, shadow, ...rest }: Sentence): Promise<unknown> {
    const body = { ...rest, minutes, ...(kind === 'mute' && shadow ? { shadow } : {}) };
    return this.#order('POST', `${at}/chat/${kind}`, body, this.#words.chat.done[kind]);
  }

  /** How many a purge would delete, and some of them; null where the station does not say. */
  async wouldPurge(purge: Purge): Promise<{ n: number; some: readonly Found[] } | null> {
    try {
      const { deleted } = await this.#door.quietly<{ deleted: number }>('POST', `${at}/chat/purge`, { ...purge, dryRun: true });
      const { messages } = await this.#door.quietly<{ messages: Found[] }>('GET', `${at}/chat/messages?of=${purge.of}&limit=60`);
      const device = messages.find(({ id }) => id === purge.of)?.device ?? this.messages.find(({ id }) => id === purge.of)?.device;
      const since = Date.now() - purge.minutes * 60_000;
      const some = messages.filter((found) => found.state !== 'deleted' && !found.staff && found.at >= since && (purge.address || found.device === device));
      return { n: deleted, some: some.slice(0, Math.min(deleted, 5)) };
    } catch (problem) {
      this.#refused(problem);
      return null;
    }
  }

  /** Purges after heldMs unless undone; leaving the section purges at once. */
  purge(purge: Purge, name: string): void {
    this.#purgeNow();
    const run = async (keepalive: boolean) => {
      const answer = await this.#order<{ deleted: number }>('POST', `${at}/chat/purge`, purge, '', keepalive);
      if (answer) this.#toasts.say('good', tongue.counted(answer.deleted, this.#words.chat.purged));
    };
    this.#held = { run, timer: setTimeout(() => this.#purgeNow(), heldMs) };
    const undo = () => {
      if (!this.#held) return;
      clearTimeout(this.#held.timer);
      this.#held = null;
      this.#toasts.say('note', this.#words.chat.purgeUndone);
    };
    this.#toasts.say('note', this.#words.chat.purgeHeld(name), { action: { label: this.#words.chat.undo, run: undo } });
  }

  #purgeNow(keepalive = false): void {
    const held = this.#held;
    if (!held) return;
    clearTimeout(held.timer);
    this.#held = null;
    this.#toasts.closeOffers();
    void held.run(keepalive);
  }

  lift(sanction: Sanction): Promise<unknown> {
    return this.#order('POST', `${at}/chat/lift`, { id: sanction.id }, this.#words.chat.done.lift);
  }

  keepRoom(room: string, change: Partial<Pick<KeptRoom, 'slow' | 'closed' | 'links'>>): Promise<unknown> {
    return this.#order('PUT', `${at}/chat/rooms/${room}`, change, this.#words.chat.done.room);
  }

  async keepWords(words: Word[]): Promise<void> {
    const kept = await this.#order<{ words: Word[] }>('PUT', `${at}/chat/words`, { words }, this.#words.chat.done.words);
    if (kept) this.words = kept.words;
  }

  /** The new hook with its secret, which no later answer shows; null where it was refused. */
  addHook(url: string, events: string[]): Promise<Hook | null> {
    return this.#order<Hook>('POST', `${at}/webhooks`, { url, events }, this.#words.hooks.added);
  }

  turnHook(hook: Hook): Promise<unknown> {
    return this.#order('PUT', `${at}/webhooks/${hook.id}`, { enabled: !hook.enabled });
  }

  removeHook(hook: Hook): Promise<unknown> {
    return this.#order('DELETE', `${at}/webhooks/${hook.id}`);
  }

  async testHook(hook: Hook): Promise<void> {
    const delivery = await this.#order<Delivery>('POST', `${at}/webhooks/${hook.id}/test`);
    if (!delivery) return;
    const arrived = delivery.state === 'delivered';
    this.#toasts.say(arrived ? 'good' : 'bad', this.#words.hooks.tested[String(arrived)] ?? '', { detail: delivery.attempts.at(-1)?.error ?? '' });
    await this.readLog(hook);
  }

  async readLog(hook: Hook): Promise<void> {
    const said = await this.#order<{ deliveries: Delivery[] }>('GET', `${at}/webhooks/${hook.id}/deliveries?limit=20`);
    if (said) this.deliveries = { ...this.deliveries, [hook.id]: said.deliveries };
  }

  async redeliver(hook: Hook, delivery: Delivery): Promise<void> {
    await this.#order('POST', `${at}/webhooks/${hook.id}/deliveries/${delivery.id}/redeliver`);
    await this.readLog(hook);
  }

  get #words() {
    return listenersWords[tongue.language];
  }

  /** Sends one order; returns its answer, or null after telling why it was refused. */
  async #order<T>(method: Method, path: string, body?: unknown, done = '', keepalive = false): Promise<T | null> {
    this.busy = true;
    try {
      const answer = await this.#door.order<T>(method, path, body, { keepalive });
      if (done) this.#toasts.say('good', done);
      return answer ?? ({} as T);
    } catch (failure) {
      this.#refused(failure);
      return null;
    } finally {
      this.busy = false;
      this.soon();
    }
  }

  #refused(failure: unknown): void {
    if (failure instanceof NoKey) return;
    this.#toasts.say('bad', ...problemWords(failure as Problem, studioWords[tongue.language].control, tongue.language));
  }

  async #look(): Promise<void> {
    const turn = ++this.#turn;
    try {
      const { rooms, comments } = await fetchJSON<{ rooms: KeptRoom[] | null; comments: KeptRoom }>('/api/chat/rooms');
      if (turn !== this.#turn) return; // a later look knows better
      this.rooms = [...(rooms ?? []), { ...comments, room: 'comments', name: this.#words.chat.comments }];
      await this.#lookBehind(turn);
      if (turn === this.#turn) this.phase = 'ready';
    } catch (problem) {
      if (turn !== this.#turn) return;
      this.phase = problem instanceof Problem && problem.status === 401 ? 'locked' : 'failed';
    }
    if (turn === this.#turn) this.soon(everyMs);
  }

  async #lookBehind(turn: number): Promise<void> {
    const quietly = <T>(path: string) => this.#door.quietly<T>('GET', at + path);
    const { guard, alarms } = await quietly<{ guard: Guard; alarms: Alarm[] }>('/guard?limit=20');
    if (turn !== this.#turn) return;
    [this.guard, this.alarms] = [guard, alarms];
    const text = this.sought.trim() ? `&text=${encodeURIComponent(this.sought.trim())}` : '';
    // Who may not moderate sees nothing of the chat's order, and owners alone see what goes out.
    const chat = this.#door.may('moderate')
      ? Promise.all([
          quietly<{ messages: Found[] }>(`/chat/messages?limit=60${text}`),
          quietly<{ sanctions: Sanction[] }>('/chat/sanctions'),
          quietly<{ words: Word[] }>('/chat/words'),
          quietly<{ deeds: Deed[] }>('/chat/audit?limit=30'),
        ])
      : null;
    const [said, hooks] = await Promise.all([chat, this.#door.may('own') ? quietly<{ webhooks: Hook[]; events: HookEvent[] }>('/webhooks') : null]);
    if (turn !== this.#turn) return;
    if (said) {
      const [found, sanctions, words, audit] = said;
      this.messages = found.messages;
      this.sanctions = sanctions.sanctions;
      this.words ??= words.words; // what the operator is writing is not overwritten
      this.deeds = audit.deeds;
    }
    if (hooks) [this.hooks, this.events] = [hooks.webhooks, hooks.events];
  }
}
