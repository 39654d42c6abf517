/**
 * What is known of a list that grows at its end: each entry once, in the order
 * of the numbers in their ids, however answers and events repeat and mix them.
 */
export class Known<T extends { id: string }> {
  #entries: readonly T[] = [];
  readonly #gone = new Set<string>();
  readonly #most: number;

  constructor(most = 3000) {
    this.#most = most;
  }

  /** Oldest first; another array after every change. */
  get entries(): readonly T[] {
    return this.#entries;
  }

  /** The newest id that the station gave. */
  get oldest(): string {
    return this.#entries.find(({ id }) => isTheirs(id))?.id ?? '';
  }

  get newest(): string {
    return this.#entries.at(-1)?.id ?? '';
  }

  /** Adds what is new and renews what is known; returns what was new. */
  take(some: readonly T[]): T[] {
    const byId = new Map(this.#entries.map((entry) => [entry.id, entry]));
    const fresh = some.filter((entry) => numberOf(entry.id) >= 0 && !byId.has(entry.id) && !this.#gone.has(entry.id));
    for (const entry of some) {
      if (numberOf(entry.id) >= 0 && !this.#gone.has(entry.id)) byId.set(entry.id, { ...byId.get(entry.id), ...entry });
    }
    this.#entries = [...byId.values()].sort((a, b) => numberOf(a.id) - numberOf(b.id)).slice(-this.#most);
    return [...new Map(fresh.map((entry) => [entry.id, entry])).values()];
  }

  /** Changes one that is known. */
  change(id: string, change: (entry: T) => T): void {
    this.#entries = this.#entries.map((entry) => (entry.id === id ? change(entry) : entry));
  }

  /** Removes one for good: a later answer does not bring it back. */
  drop(id: string): void {
    this.#gone.add(id);
    this.#entries = this.#entries.filter((entry) => entry.id !== id);
  }
}

/** The number in an id like m12 or c7, or in one of beside(); -1 where there is none. */
export function numberOf(id: unknown): number {
  const digits = typeof id === 'string' ? /^[a-z](\d{1,15}(?:\.\d{4})?)$/.exec(id)?.[1] : undefined;
  return digits ? Number(digits) : -1;
}

/** An id of our own for what has none: after the newest, before whatever comes next. */
export function beside(newest: string, n: number): string {
  return `m${Math.max(0, Math.floor(numberOf(newest)))}.${String(n % 10_000).padStart(4, '0')}`;
}

/** Whether the station gave the id. */
export const isTheirs = (id: string): boolean => !id.includes('.');
