import { keepMine, keepName, keptMine, keptName, randomId } from '../live/device';
import type { Link } from '../live/link.svelte';
import { away, Outbox, type Pending } from '../live/outbox';
import type { Message } from '../live/words';
import { ask, Problem } from '../station/control';
import { Room, type RoomInfo } from './room.svelte';

/** What is written to a room: text, or a picture or voice note as a data URL with words beside it. */
export interface Written {
  room: string;
  user: string;
  type: 'text' | 'voice' | 'image';
  text: string;
  data?: string;
  /** Preview for the sender while it is being sent. */
  durationMs?: number;
}

const fileMs = 60_000;
const textMs = 15_000;

/**
 * The chat: the rooms one has looked into, and what is under way to them. One
 * enters with a name and is in every room looked into until the page closes; a
 * connection that comes back enters them again and asks for what was missed.
 */
export class Chat {
  rooms = $state.raw<readonly RoomInfo[]>([]);
  room = $state.raw<Room | null>(null);
  name = $state(keptName());
  /** Writes as the station: any name, in closed rooms, as fast as one likes. */
  staff = $state(false);
  /** In the room that is looked at. */
  entered = $state(false);
  /** A name was entered; also while there is no connection or no room yet. */
  entering = $state(false);
  /** Why one could not enter. */
  refused = $state.raw<Problem | null>(null);
  /** Why a reaction was not taken; the last one. */
  problem = $state.raw<Problem | null>(null);
  pending = $state.raw<readonly Pending<Written>[]>([]);

  readonly link: Link;
  readonly #looked = new Map<string, Room>();
  readonly #mine = new Set(keptMine());
  readonly #outbox: Outbox<Written, { message: Message }>;
  #wanted = false;
  /** The name that is wanted was not taken yet. */
  #atDoor = false;
  #keep = keepName;

  constructor(link: Link) {
    this.link = link;
    this.#outbox = new Outbox<Written, { message: Message }>({
      send: (id, { durationMs: _, ...written }) => this.#send(id, written),
      sent: (item, { message }) => this.#sent(item, message),
      changed: (items) => (this.pending = items),
      newId: randomId,
    });
  }

  follow(): () => void {
    const { link } = this;
    const roomOf = (name: string | undefined) => (name === undefined ? undefined : this.#looked.get(name));
    const offs = [
      link.on('message', (message) => roomOf(message.room)?.hear(message, this.room?.name === message.room)),
      link.on('message_reaction', ({ msgId, room, counts }) => roomOf(room)?.reacted(msgId, counts)),
      link.on('message_deleted', ({ id }) => this.#looked.forEach((room) => room.drop(id))),
      link.on('chat_state', (state) => roomOf(state.room)?.rule(state)),
      link.on('presence', ({ rooms }) => (this.rooms = this.rooms.map((info) => ({ ...info, members: rooms?.[info.room] ?? 0 })))),
      link.onAnew((first) => first || void this.#list()),
      link.onUp(
        () => void this.#return(),
        () => this.#takenUp(),
      ),
      link.onDown(() => (this.entered = false)),
      link.onBack(() => this.#heardAgain()),
    ];
    void this.#list();
    const poll = setInterval(() => (this.rooms.length > 0 && link.brings && !link.away) || void this.#list(), 30_000);
    return () => {
      clearInterval(poll);
      for (const off of offs) off();
      this.#outbox.close();
    };
  }

  /** Shows a room, and enters it once a name is chosen. */
  look(name: string): void {
    if (this.room?.name === name) return;
    let room = this.#looked.get(name);
    if (!room) this.#looked.set(name, (room = new Room(name)));
    room.unread = 0;
    this.room = room;
    this.entered = room.joined && this.link.up;
    if (this.#wanted && !this.entered) void this.#enterFirst();
  }

  /** Becomes staff under a name that is kept apart from the listener's. */
  asStaff(name: string, keep: (name: string) => void): void {
    this.staff = true;
    this.name = name;
    this.#keep = keep;
  }

  /** Enters under a name, as soon as there is a connection and after each loss of it. */
  async enter(name: string): Promise<void> {
    this.name = name;
    this.#wanted = true;
    this.#atDoor = true;
    await this.#enterFirst();
  }

  /** Back to the door, to choose another name. */
  step(): void {
    this.#wanted = false;
    this.entered = false;
    this.entering = false;
    this.refused = null;
  }

  write(written: Omit<Written, 'room' | 'user'>): boolean {
    return this.room !== null && this.#outbox.put({ ...written, room: this.room.name, user: this.name });
  }

  again(id: string): void {
    this.#outbox.again(id);
  }

  discard(id: string): void {
    this.#outbox.drop(id);
  }

  isMine(id: string): boolean {
    return this.#mine.has(id);
  }

  /** Puts a reaction on a message, or takes one's own back. To react twice is to react once. */
  async react(message: Message, emoji: string): Promise<void> {
    const room = this.#looked.get(message.room);
    if (!room) return;
    const on = !room.isPressed(message.id, emoji);
    this.problem = null;
    try {
      const { counts } = await this.link.ask('reaction', { msgId: message.id, emoji, user: this.name, on });
      room.reacted(message.id, counts);
      room.press(message.id, emoji, on);
    } catch (problem) {
      this.problem = problem as Problem;
    }
  }

  /** Enters the room that is looked at. Without a room or a connection it waits: both call it again. */
  async #enterFirst(): Promise<void> {
    this.entering = true;
    if (!this.room || !this.link.up) return;
    await this.#enter(this.room);
    if (!this.#atDoor) return;
    if (this.entered) this.#keep(this.name);
    else if (this.refused && !away(this.refused)) this.#wanted = false;
    this.#atDoor = !this.entered;
  }

  async #enter(room: Room): Promise<void> {
    this.entering = true;
    this.refused = null;
    try {
      const joined = await this.link.ask('join', { name: this.name, room: room.name });
      this.name = joined.name || this.name;
      room.join(joined);
      if (this.room === room) this.entered = true;
      this.#outbox.resume();
    } catch (problem) {
      this.refused = problem as Problem;
    } finally {
      this.entering = false;
    }
  }

  /** Connected: enters every room again, the shown one first. */
  async #return(): Promise<void> {
    const others = [...this.#looked.values()].filter((room) => room !== this.room && room.joined);
    for (const room of this.#looked.values()) room.joined = false;
    if (!this.#wanted) return;
    await this.#enterFirst();
    for (const room of others) await this.#enter(room);
  }

  /** The connection goes on where it broke: its rooms are those that were entered. */
  #takenUp(): void {
    if (!this.#wanted) return;
    if (!this.room?.joined) return void this.#return();
    this.entered = true;
    this.refused = null;
    this.#outbox.resume();
  }

  /** The station is back: enters the rooms that could not be entered meanwhile. */
  #heardAgain(): void {
    if (this.entered) this.#outbox.resume();
    else if (!this.entering) void this.#return();
    if (this.rooms.length === 0) void this.#list();
  }

  async #list(): Promise<void> {
    try {
      const { rooms } = await ask<{ rooms: RoomInfo[] | null }>('GET', '/api/chat/rooms');
      this.rooms = rooms ?? [];
      const first = this.rooms[0];
      if (!this.room && first) this.look(first.room);
    } catch {
      // asked again soon
    }
  }

  #send(id: string, written: Written): Promise<{ message: Message }> {
    if (!this.#looked.get(written.room)?.joined) return Promise.reject(new Problem(0, '')); // not entered again yet
    return this.link.ask('sendMessage', { ...written, id }, written.data ? fileMs : textMs);
  }

  #sent({ body }: Pending<Written>, message: Message): void {
    this.#mine.add(message.id);
    keepMine(this.#mine);
    this.#looked.get(body.room)?.sent(message, this.staff);
  }
}
