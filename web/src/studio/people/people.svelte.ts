import { peopleWords } from '../../i18n/people';
import { tongue } from '../../i18n/tongue.svelte';
import { Problem, type Method } from '../../station/control';
import { isolate } from '../../text/bidi';
import { NoKey, type Door } from '../door.svelte';
import { sayRefused } from '../problem';
import type { Role } from '../rights';
import type { Toasts } from '../toasts.svelte';
import type { Detail, Invitation, Person } from './answers';

const at = '/api/people';

export const nameOf = (person: Pick<Person, 'name' | 'login'>): string => isolate(person.name || person.login, tongue.direction);

/** The station's users, as an owner sees and changes them. */
export class People {
  users = $state.raw<readonly Person[]>([]);
  phase = $state<'loading' | 'ready' | 'locked' | 'denied' | 'failed'>('loading');
  busy = $state.raw<ReadonlySet<string>>(new Set());
  readonly #door: Door;
  readonly #toasts: Toasts;

  constructor(door: Door, toasts: Toasts) {
    this.#door = door;
    this.#toasts = toasts;
  }

  async load(): Promise<void> {
    try {
      const { users } = await this.#door.order<{ users: Person[] | null }>('GET', at);
      [this.users, this.phase] = [users ?? [], 'ready'];
    } catch (failure) {
      const status = failure instanceof Problem ? failure.status : 0;
      this.phase = failure instanceof NoKey || status === 401 ? 'locked' : status === 403 ? 'denied' : 'failed';
    }
  }

  /** Makes an account with its invitation; rejects as the station refuses. */
  async add(order: { login: string; name: string; role: Role }): Promise<Invitation> {
    const invitation = await this.#door.order<Invitation>('POST', at, order);
    this.#take(invitation.user);
    void this.#door.learn(); // from the first on somebody can log in
    return invitation;
  }

  /** Rejects as the station refuses. */
  async change(id: string, order: { name?: string; role?: Role; locked?: boolean }): Promise<void> {
    this.#take(await this.#door.order<Person>('PUT', `${at}/${id}`, order));
    if (id === this.#door.user?.id) void this.#door.learn();
  }

  async lock(person: Person, locked: boolean): Promise<void> {
    const { done } = this.#words;
    await this.#give(person.id, (locked ? done.lock : done.unlock)(nameOf(person)), () => this.change(person.id, { locked }));
  }

  async remove(person: Person): Promise<void> {
    const gone = await this.#give(person.id, this.#words.done.remove(nameOf(person)), () => this.#order('DELETE', `${at}/${person.id}`));
    if (gone) this.users = this.users.filter(({ id }) => id !== person.id);
  }

  async newLink(person: Person): Promise<Invitation | null> {
    let made: Invitation | null = null;
    await this.#give(person.id, '', async () => this.#take((made = await this.#order<Invitation>('POST', `${at}/${person.id}/invite`, {})).user));
    return made;
  }

  async removeFactors(person: Person): Promise<void> {
    await this.#give(person.id, this.#words.done.factors, async () => this.#take(await this.#order<Person>('POST', `${at}/${person.id}/factors/remove`, {})));
  }

  /** The logins and keys of somebody; null where they cannot be had, which is told. */
  async detail(person: Person): Promise<Detail | null> {
    try {
      const detail = await this.#order<Detail>('GET', `${at}/${person.id}`);
      this.#take(detail.user);
      return detail;
    } catch (failure) {
      sayRefused(this.#toasts, failure);
      return null;
    }
  }

  async end(person: Person, kind: 'sessions' | 'keys', id: string): Promise<void> {
    const { done } = this.#words;
    await this.#give(person.id, kind === 'keys' ? done.key : done.session, () => this.#order('DELETE', `${at}/${person.id}/${kind}/${id}`));
  }

  get #words() {
    return peopleWords[tongue.language].people;
  }

  #order<T>(method: Method, path: string, body?: unknown): Promise<T> {
    return this.#door.order<T>(method, path, body);
  }

  /** The last owner stays: the one refusal that is no fault, and has words of its own. */
  async #give(about: string, done: string, run: () => Promise<unknown>): Promise<boolean> {
    if (this.busy.has(about)) return false;
    this.busy = new Set([...this.busy, about]);
    try {
      await run();
      if (done) this.#toasts.say('good', done);
      return true;
    } catch (failure) {
      if (failure instanceof Problem && failure.status === 409) this.#toasts.say('bad', failure.reason?.[tongue.language] ?? this.#words.lastOwner);
      else sayRefused(this.#toasts, failure);
      return false;
    } finally {
      this.busy = new Set([...this.busy].filter((other) => other !== about));
    }
  }

  #take(person: Person): void {
    const known = this.users.some(({ id }) => id === person.id);
    this.users = known ? this.users.map((other) => (other.id === person.id ? person : other)) : [...this.users, person];
  }
}
