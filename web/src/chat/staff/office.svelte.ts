import { officeWords } from '../../i18n/office';
import { tongue } from '../../i18n/tongue.svelte';
import { explain } from '../../live/explain';
import type { Message } from '../../live/words';
import { Problem, type Method } from '../../station/control';
import type { Station } from '../../station/station.svelte';
import { Door } from '../../studio/door.svelte';
import { Toasts } from '../../studio/toasts.svelte';
import { isolate, plain } from '../../text/bidi';
import type { Chat } from '../chat.svelte';

const at = '/api/station/chat';
const kept = 'athir.staff-name';

/**
 * What an operator does in the chat. Who is logged in needs no key: orders go
 * by the cookie, and the handshake of the event transport shows a ticket. The
 * key is the studio's: kept where the studio keeps it, shown in the handshake
 * and in the header of an order, and nowhere else.
 */
export class Office {
  readonly door = new Door();
  readonly toasts = new Toasts();
  readonly chat: Chat;
  readonly station: Station;
  /** The message to act on, and the button that opened it. */
  meant = $state.raw<{ message: Message; by: HTMLElement } | null>(null);
  entering = $state(false);
  /** The saved key was refused. */
  stale = $state(false);
  /** It was no key but a login that has ended. */
  ended = $state(false);

  constructor(chat: Chat, station: Station) {
    this.chat = chat;
    this.station = station;
    chat.link.refused = () => this.#shut();
  }

  get name(): string {
    try {
      return localStorage.getItem(kept) ?? '';
    } catch {
      return '';
    }
  }

  /** Whether a key has to be typed: no login may write as the station, and the studio keeps no key. */
  get asksKey(): boolean {
    return !this.door.hasKey && !this.#loggedIn;
  }

  /** Logged in as somebody whose role does not write as the station. */
  get denied(): boolean {
    return this.door.user !== null && !this.door.may('moderate');
  }

  /** Tries the key if one is given, else the login or the key that the studio kept, and writes under the name from then on. */
  async enter(name: string, key: string): Promise<void> {
    if (this.entering) return;
    this.entering = true;
    this.stale = false;
    try {
      this.door.refused = null;
      if (key) await this.door.offer(key, false);
      if (this.asksKey || (key && this.door.refused)) return;
      this.chat.link.key = this.#loggedIn ? this.door.handshake : this.door.key;
      this.chat.asStaff(name, keep);
      this.chat.link.close();
      this.chat.link.open();
      await this.chat.enter(name);
    } finally {
      this.entering = false;
    }
  }

  /** Label of a message's button. */
  label(message: Message): string {
    return this.#words.act(nameOf(message));
  }

  open(message: Message, by: HTMLElement): void {
    this.meant = { message, by };
  }

  async remove(message: Message): Promise<void> {
    if (await this.#order('DELETE', `${at}/messages/${message.id}`)) this.toasts.say('good', this.#words.removed);
  }

  async mute(message: Message, minutes: number): Promise<void> {
    const sanction = await this.#order<{ id: number }>('POST', `${at}/mute`, { of: message.id, minutes });
    if (!sanction) return;
    const name = nameOf(message);
    const undo = async () => {
      if (await this.#order('POST', `${at}/lift`, { id: sanction.id })) this.toasts.say('good', this.#words.lifted(name));
    };
    this.toasts.say('good', this.#words.muted(name, this.#words.spans[minutes] ?? ''), { action: { label: this.#words.undo, run: () => void undo() } });
  }

  get #loggedIn(): boolean {
    return this.door.user !== null && this.door.may('moderate');
  }

  get #words() {
    return officeWords[tongue.language];
  }

  async #order<T>(method: Method, path: string, body?: unknown): Promise<T | null> {
    try {
      return (await this.door.quietly<T>(method, path, body)) ?? ({} as T);
    } catch (failure) {
      if (!(failure instanceof Problem)) throw failure;
      if (failure.status === 401) this.#shut();
      else this.toasts.say('bad', this.#words.failed, { detail: explain(failure, tongue.language) });
      return null;
    }
  }

  /** The key or the login is no longer valid: returns to the sign-in form. */
  #shut(): void {
    this.stale = true;
    this.ended = this.door.user !== null;
    this.door.forget();
    void this.door.learn();
    this.chat.link.close();
    this.chat.link.key = '';
    this.chat.staff = false;
    this.chat.step();
    this.meant = null;
  }
}

const nameOf = (message: Message): string => isolate(plain(message.user), tongue.direction);

function keep(name: string): void {
  try {
    localStorage.setItem(kept, name);
  } catch {
    // private windows may keep nothing
  }
}
