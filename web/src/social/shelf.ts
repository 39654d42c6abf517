import type { Draft } from './post';

/** An upload that is not finished, as the browser keeps it over a reload. */
export interface Unsent {
  id: string;
  draft: Draft;
  /** The file as its chooser knows it; the same three mean the same file. */
  name: string;
  size: number;
  lastModified: number;
  /** Address of the upload; empty before the server has named it. */
  url: string;
  /** The sound itself; null where it is too large to keep, so that it must be chosen again. */
  blob: Blob | null;
  at: number;
}

/** A larger file is chosen again after a reload: phones give pages little room. */
export const keptBytes = 50 * 1024 * 1024;

const [base, store] = ['athir-social', 'unsent'];
const longestMs = 7 * 86_400_000;

function open(): Promise<IDBDatabase> {
  return new Promise((done, failed) => {
    const asked = indexedDB.open(base, 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore(store, { keyPath: 'id' });
    asked.onsuccess = () => done(asked.result);
    asked.onerror = () => failed(asked.error);
  });
}

async function run<T>(mode: IDBTransactionMode, work: (records: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const db = await open();
  try {
    return await new Promise<T>((done, failed) => {
      const change = db.transaction(store, mode);
      const asked = work(change.objectStore(store));
      change.oncomplete = () => done(asked.result);
      change.onabort = () => failed(change.error);
    });
  } finally {
    db.close();
  }
}

/** Keeps an upload; where the browser has no room for the sound, without it, and in private windows perhaps not at all. */
export async function keep(unsent: Unsent): Promise<void> {
  const whole = { ...unsent, blob: unsent.size <= keptBytes ? unsent.blob : null };
  await run('readwrite', (records) => records.put(whole))
    .catch(() => run('readwrite', (records) => records.put({ ...unsent, blob: null })))
    .catch(() => undefined);
}

export async function drop(id: string): Promise<void> {
  await run('readwrite', (records) => records.delete(id)).catch(() => undefined);
}

/** Uploads that wait, newest first; those that no server remembers any more are dropped. */
export async function unsent(now: number): Promise<Unsent[]> {
  const all = await run<Unsent[]>('readonly', (records) => records.getAll() as IDBRequest<Unsent[]>).catch(() => []);
  const old = all.filter(({ at }) => now - at > longestMs);
  await Promise.all(old.map(({ id }) => drop(id)));
  return all.filter((one) => !old.includes(one)).sort((a, b) => b.at - a.at);
}
