import { Problem } from '../../station/control';
import { NoKey, type Door } from '../door.svelte';
import type { Role } from '../rights';
import type { Account, Passkey, ProgramKey, Setting } from './answers';
import { answerOf, creationOptions, type CreationJSON } from './webauthn';

const at = '/api/account';

/** One's own account. What changes it rejects as the station refuses: each form says that beside its fields. */
export class MyAccount {
  known = $state.raw<Account | null>(null);
  phase = $state<'loading' | 'ready' | 'locked' | 'none' | 'failed'>('loading');
  readonly #door: Door;

  constructor(door: Door) {
    this.#door = door;
  }

  async load(): Promise<void> {
    try {
      this.known = await this.#door.order<Account>('GET', at);
      this.phase = 'ready';
    } catch (failure) {
      const status = failure instanceof Problem ? failure.status : 0;
      this.phase = failure instanceof NoKey || status === 401 ? 'locked' : status === 403 ? 'none' : 'failed';
    }
  }

  changePassword(old: string, password: string): Promise<void> {
    return this.#change(() => this.#door.order('PUT', `${at}/password`, { old, password }));
  }

  beginFactor(password: string): Promise<Setting> {
    return this.#door.order<Setting>('POST', `${at}/totp`, { password });
  }

  async confirmFactor(secret: string, code: string): Promise<string[]> {
    return this.#change(async () => (await this.#door.order<{ codes: string[] }>('PUT', `${at}/totp`, { secret, code })).codes);
  }

  removeFactor(password: string): Promise<void> {
    return this.#change(() => this.#door.order('POST', `${at}/totp/remove`, { password }));
  }

  /** Has the browser make a passkey. Rejects with a DOMException where it does not. */
  addPasskey(password: string, name: string): Promise<Passkey> {
    return this.#change(async () => {
      const { options, state } = await this.#door.order<{ options: { publicKey: CreationJSON }; state: string }>('POST', `${at}/passkeys/begin`, { password });
      const credential = await navigator.credentials.create({ publicKey: creationOptions(options.publicKey) });
      if (!credential) throw new DOMException('', 'NotAllowedError');
      return this.#door.order<Passkey>('POST', `${at}/passkeys`, { state, name, answer: answerOf(credential as PublicKeyCredential) });
    });
  }

  addKey(order: { name: string; role: Role; until: number; password: string }): Promise<ProgramKey> {
    return this.#change(() => this.#door.order<ProgramKey>('POST', `${at}/keys`, order));
  }

  /** Ends a login, a key or a passkey of one's own. */
  end(kind: 'sessions' | 'keys' | 'passkeys', id: string): Promise<void> {
    return this.#change(() => this.#door.order('DELETE', `${at}/${kind}/${id}`));
  }

  endOthers(): Promise<void> {
    return this.#change(() => this.#door.order('POST', `${at}/sessions/end`, {}));
  }

  /** Asks again behind a change: what it moved is the station's to say. */
  async #change<T>(run: () => Promise<T>): Promise<T> {
    const answer = await run();
    await this.load();
    return answer;
  }
}

/** What a device calls itself, as a name for its passkey. */
export function deviceName(agent: { browser: string; system: string }): string {
  return [agent.browser, agent.system].filter(Boolean).join(' · ');
}

