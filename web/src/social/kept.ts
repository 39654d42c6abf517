import type { Kind, Owned } from './post';

/** A post that was sent from this browser, or whose secret link was opened in it. */
export interface Mine extends Owned {
  /** What is shown until the station has said more. */
  title: string;
  type: Kind | '';
  at: number;
}

const at = { mine: 'athir.posts', reported: 'athir.reported' } as const;
const most = 200;

/** Newest first. */
export function keptPosts(): Mine[] {
  const said = read(at.mine);
  return said.filter((one): one is Mine => {
    const { id, token, title, at: when } = (one ?? {}) as Record<string, unknown>;
    return Number.isSafeInteger(id) && typeof token === 'string' && token !== '' && typeof title === 'string' && typeof when === 'number';
  });
}

export function keepPost(mine: Mine): Mine[] {
  const rest = keptPosts().filter(({ id }) => id !== mine.id);
  return write(at.mine, [mine, ...rest].slice(0, most));
}

export function forgetPost(id: number): Mine[] {
  return write(at.mine, keptPosts().filter((mine) => mine.id !== id));
}

/** Posts that were reported here: once is enough. */
export function reported(id: number): boolean {
  return read(at.reported).includes(id);
}

export function keepReported(id: number): void {
  write(at.reported, [...read(at.reported).filter((other) => other !== id), id].slice(-500));
}

function read(key: string): unknown[] {
  try {
    const said: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    return Array.isArray(said) ? said : [];
  } catch {
    return [];
  }
}

function write<T>(key: string, list: T[]): T[] {
  try {
    localStorage.setItem(key, JSON.stringify(list));
  } catch {
    // private windows may keep nothing
  }
  return list;
}
