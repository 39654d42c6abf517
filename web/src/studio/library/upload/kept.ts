import { randomId } from '../../../live/device';
import type { Sending } from './queue';

/** Where the browser keeps what is not sent yet: each tab has a list of its own, below this. */
const under = 'athir.uploads.';
/** A tab's name, which a reload finds again. */
const tabUnder = 'athir.uploads-tab';
/** A page that is reloaded may hold its lock for another moment. */
const patienceMs = 1000;

/** Whether any tab has left anything unfinished. */
export function isAnyKept(): boolean {
  try {
    return lists().length > 0;
  } catch {
    return false;
  }
}

const lists = (): string[] => Object.keys(localStorage).filter((name) => name.startsWith(under));

function read(list: string): Sending[] {
  try {
    const said: unknown = JSON.parse(localStorage.getItem(list) ?? '[]');
    return Array.isArray(said) ? (said as Sending[]) : [];
  } catch {
    return [];
  }
}

/** Locks are for pages that came by HTTPS, or from this machine. Without them the last tab to open takes everything over. */
const locks = (): LockManager | undefined => navigator.locks;

/** Holds a list as long as the page lives; false where another tab has it. */
function hold(list: string): Promise<boolean> {
  return new Promise((done) => {
    const held = locks()?.request(list, { signal: AbortSignal.timeout(patienceMs) }, () => {
      done(true);
      return new Promise<void>(() => undefined);
    });
    if (held) held.catch(() => done(false));
    else done(true);
  });
}

/** Takes a list over whose tab is gone. */
async function inherit(list: string): Promise<Sending[]> {
  const take = (): Sending[] => {
    const left = read(list);
    localStorage.removeItem(list);
    return left;
  };
  return (await locks()?.request(list, { ifAvailable: true }, (lock) => (lock ? take() : []))) ?? (locks() ? [] : take());
}

/**
 * What this tab has not sent yet, over a reload. Tabs tell by a lock which of the lists
 * are somebody's: those of tabs that are gone belong to whoever comes next.
 */
export class Kept {
  /** Empty until this tab has one. */
  #list = '';

  /** What a reload of this tab left. Private windows may keep nothing. */
  async claim(): Promise<Sending[]> {
    try {
      const known = sessionStorage.getItem(tabUnder);
      // A tab that was duplicated has the name of the one it was made from.
      const name = known !== null && (await hold(under + known)) ? known : randomId();
      if (name !== known) await hold(under + name);
      sessionStorage.setItem(tabUnder, name);
      this.#list = under + name;
      return read(this.#list);
    } catch {
      return [];
    }
  }

  /** What tabs left that are gone; it is this tab's from now on. */
  async left(): Promise<Sending[]> {
    if (!this.#list) return [];
    const out: Sending[] = [];
    for (const list of lists()) if (list !== this.#list) out.push(...(await inherit(list)));
    return out;
  }

  /** Whether another tab is sending. */
  async isElsewhere(): Promise<boolean> {
    if (!this.#list) return false;
    const { held = [] } = (await locks()?.query()) ?? {};
    const others = new Set(held.map(({ name }) => name ?? ''));
    const moves = ({ state }: Sending): boolean => state === 'line' || state === 'sending' || state === 'waiting';
    return lists().some((list) => list !== this.#list && others.has(list) && read(list).some(moves));
  }

  write(list: readonly Sending[]): void {
    if (!this.#list) return;
    try {
      if (list.length > 0) localStorage.setItem(this.#list, JSON.stringify(list));
      else localStorage.removeItem(this.#list);
    } catch {
      // full, or forbidden: a reload begins anew then
    }
  }

  /** Whether a change of the browser's store was one of these lists. */
  static isOne(event: StorageEvent): boolean {
    return event.key === null || event.key.startsWith(under);
  }
}
