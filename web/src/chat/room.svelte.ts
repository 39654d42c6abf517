import { beside, Known } from '../live/known';
import type { Counts, Joined, Message, RoomState } from '../live/words';
import { ask } from '../station/control';

export interface RoomInfo extends RoomState {
  room: string;
  /** Shown name. */
  name: string;
  members: number;
}

const pageOf = 50;

/** One room as far as it was looked into: its messages, its rules, and how far one has read. */
export class Room {
  messages = $state.raw<readonly Message[]>([]);
  state = $state.raw<RoomState>({ slow: 0, closed: false, links: false });
  members = $state(0);
  joined = $state(false);
  /** Whether there is more before the oldest. */
  earlier = $state(true);
  loading = $state(false);
  unread = $state(0);
  /** The last message read; what follows it is new. Empty for none. */
  readTo = $state('');
  /** When slow mode allows the next message, epoch ms of this device. */
  writeFrom = $state(0);
  /** Emoji this page has put on messages, by id. */
  pressed = $state.raw<ReadonlyMap<string, ReadonlySet<string>>>(new Map());

  readonly name: string;
  #known = new Known<Message>();
  #asides = 0;

  constructor(name: string) {
    this.name = name;
  }

  join({ history, state, members, welcome }: Joined): void {
    const some = history ?? [];
    const touches = some.some(({ id }) => this.messages.some((known) => known.id === id));
    if (this.messages.length > 0 && some.length > 0 && !touches) {
      this.#known = new Known<Message>(); // more was missed than the history holds: start again
      this.earlier = true;
    }
    if (this.messages.length === 0) this.earlier = some.length >= pageOf;
    this.#take(some);
    this.state = state ?? this.state;
    this.members = members ?? this.members;
    this.joined = true;
    if (welcome) this.#take([this.#numbered(welcome)]);
  }

  hear(message: Message, looked: boolean): void {
    const before = this.#known.newest;
    const fresh = this.#take([this.#numbered(message)]);
    if (fresh === 0 || message.type === 'admin') return;
    const away = document.visibilityState === 'hidden' || !looked;
    if (away && !this.readTo) this.readTo = before;
    if (!looked) this.unread++;
  }

  /** Takes the writer's own message; slow mode does not apply to staff. */
  sent(message: Message, staff = false): void {
    this.readTo = '';
    this.writeFrom = this.state.slow > 0 && !staff ? Date.now() + this.state.slow * 1000 : 0;
    this.#take([message]);
  }

  reacted(id: string, counts: Counts): void {
    this.#known.change(id, (message) => ({ ...message, reactions: counts }));
    this.messages = this.#known.entries;
  }

  isPressed(id: string, emoji: string): boolean {
    return this.pressed.get(id)?.has(emoji) ?? false;
  }

  press(id: string, emoji: string, on: boolean): void {
    const mine = new Set(this.pressed.get(id));
    if (on) mine.add(emoji);
    else mine.delete(emoji);
    this.pressed = new Map(this.pressed).set(id, mine);
  }

  drop(id: string): void {
    this.#known.drop(id);
    this.messages = this.#known.entries;
  }

  rule(state: RoomState): void {
    this.state = state;
  }

  /** Fetches the page before the oldest known. */
  async loadEarlier(): Promise<void> {
    if (this.loading) return;
    this.loading = true;
    try {
      const query = `limit=${pageOf}${this.#known.oldest ? `&before=${this.#known.oldest}` : ''}`;
      const { messages } = await ask<{ messages: Message[] | null }>('GET', `/api/chat/rooms/${encodeURIComponent(this.name)}/messages?${query}`);
      this.earlier = this.#take(messages ?? []) > 0 && (messages ?? []).length >= pageOf;
    } catch {
      // the button stays
    } finally {
      this.loading = false;
    }
  }

  /** The station's welcome has no id and is not stored. */
  #numbered(message: Message): Message {
    return message.id ? message : { ...message, id: beside(this.#known.newest, ++this.#asides) };
  }

  #take(some: readonly Message[]): number {
    const fresh = this.#known.take(some);
    this.messages = this.#known.entries;
    return fresh.length;
  }
}
