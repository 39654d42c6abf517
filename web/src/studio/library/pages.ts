/** The arithmetic of a list of which only the rows in sight are in the page, and what is known of it. */

export interface Span {
  /** The first row, and the one behind the last. */
  from: number;
  to: number;
}

/** Rows beyond the edges that are drawn too, so that a short scroll shows no gap. */
const margin = 6;

/** The rows in sight, with a margin. */
export function spanOf(scrollTop: number, height: number, rowHeight: number, total: number): Span {
  if (rowHeight <= 0 || total <= 0) return { from: 0, to: 0 };
  const first = Math.floor(Math.max(0, scrollTop) / rowHeight);
  const from = Math.max(0, Math.min(first - margin, total - 1));
  const to = Math.min(total, Math.ceil((Math.max(0, scrollTop) + height) / rowHeight) + margin);
  return { from, to: Math.max(from, to) };
}

/** Where to scroll so that a row is wholly in sight; the same place where it is. head: what covers the top. */
export function scrollFor(row: number, scrollTop: number, height: number, rowHeight: number, head = 0): number {
  const top = row * rowHeight;
  if (top < scrollTop) return top;
  const bottom = top + rowHeight + head;
  return bottom > scrollTop + height ? bottom - height : scrollTop;
}

/** The row that a key leads to; null where the key leads nowhere. */
export function rowAfter(key: string, row: number, total: number, perPage: number): number | null {
  if (total === 0) return null;
  const to: Record<string, number> = { ArrowDown: row + 1, ArrowUp: row - 1, PageDown: row + perPage, PageUp: row - perPage, Home: 0, End: total - 1 };
  const next = to[key];
  return next === undefined ? null : Math.max(0, Math.min(total - 1, next));
}

/** So many pages are remembered: the rest is asked for again. */
const most = 60;

/**
 * Rows by their place. What a newer generation of the library made old stays
 * in sight until it is replaced, and is asked for again as it is looked at.
 */
export class Pages<T> {
  total = 0;
  generation = 0;
  readonly size: number;
  readonly #pages = new Map<number, { rows: readonly T[]; generation: number }>();

  constructor(size: number) {
    this.size = size;
  }

  row(i: number): T | undefined {
    return this.#pages.get(Math.floor(i / this.size))?.rows[i % this.size];
  }

  /** The offsets to ask for so that the span is known and of this generation. */
  lacks({ from, to }: Span): number[] {
    const out: number[] = [];
    for (let page = Math.floor(from / this.size); page * this.size < Math.min(to, this.total); page++) {
      if (this.#pages.get(page)?.generation !== this.generation) out.push(page * this.size);
    }
    return out;
  }

  /** Takes an answer; true where the library has changed since the last one. */
  take(offset: number, rows: readonly T[], total: number, generation: number): boolean {
    const changed = this.generation !== generation && this.#pages.size > 0;
    this.total = total;
    this.generation = generation;
    const page = Math.floor(offset / this.size);
    this.#pages.delete(page);
    this.#pages.set(page, { rows, generation });
    for (const old of this.#pages.keys()) {
      if (this.#pages.size <= most) break;
      this.#pages.delete(old); // the one that was asked for longest ago
    }
    return changed;
  }

  /** Everything is asked for again as it is looked at. */
  age(): void {
    for (const [page, known] of this.#pages) this.#pages.set(page, { ...known, generation: -1 });
  }

  forget(): void {
    this.#pages.clear();
    this.total = 0;
  }

  /** How many pages are remembered. */
  get kept(): number {
    return this.#pages.size;
  }

  /** Changes rows that are known, until they are asked for again. */
  amend(change: (row: T) => T): void {
    for (const [page, known] of this.#pages) this.#pages.set(page, { ...known, rows: known.rows.map(change) });
  }
}
