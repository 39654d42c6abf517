import type { Encoder, Entry, LiveStatus, Session, Source } from './answers';

export type Kind = 'phone' | 'encoder' | 'studio' | 'rtmp' | 'address';

/** A source as the studio lists it: what is kept of it, what comes in of it, and the phones behind it. */
export interface Row extends Entry {
  kind: Kind;
  /** What comes in; missing: nothing does. */
  source?: Source;
  sessions: Session[];
  /** Those that send it; more than one where a connection takes the place of another. */
  encoders: Encoder[];
  /** In the registry: it has votes, and can be left out or removed. */
  kept: boolean;
}

/** The studio's own microphone is an encoder at a mount of its own. */
export const studioURL = 'source:/studio';

export function kindOf(url: string): Kind {
  if (url.startsWith('pipe:')) return 'phone';
  if (url === studioURL) return 'studio';
  if (url.startsWith('source:')) return 'encoder';
  return url.startsWith('rtmp') ? 'rtmp' : 'address';
}

/** The registry in its order, then what comes in and is not in it. */
export function rowsOf({ registry, sources, sessions, encoders }: Pick<LiveStatus, 'registry' | 'sources' | 'sessions' | 'encoders'>): Row[] {
  const bySource = new Map(sources.map((source) => [source.id, source]));
  const row = (entry: Entry, kept: boolean): Row => {
    const kind = kindOf(entry.url);
    const source = bySource.get(entry.id);
    return { ...entry, kind, kept, sessions: kind === 'phone' ? sessions : [], encoders: encoders.filter(({ stream }) => stream === entry.id), ...(source ? { source } : {}) };
  };
  const known = new Set(registry.map(({ id }) => id));
  const strangers = sources.filter(({ id }) => !known.has(id)).map((source) => row({ ...source, listeners: 0, votes: 0, ingest: '', addedAt: 0, lastLiveAt: 0, available: false }, false));
  const rows = [...registry.map((entry) => row(entry, true)), ...strangers];
  // Phones that nothing stands for yet are shown all the same.
  if (sessions.length > 0 && !rows.some(({ kind }) => kind === 'phone')) {
    rows.push({ id: '', url: 'pipe:', title: '', creator: '', listeners: 0, votes: 0, ingest: 'pipe', addedAt: 0, lastLiveAt: 0, available: false, kind: 'phone', sessions, encoders: [], kept: false });
  }
  return rows;
}

/** What a row is doing. What somebody sends, and the desk does not read yet, is connected; so is a phone that nobody lets speak. */
export function stateOf({ kind, source, sessions, encoders }: Pick<Row, 'kind' | 'source' | 'sessions' | 'encoders'>): string {
  const idle = !source || (source.state === 'connecting' && kind === 'phone' && !sessions.some(({ holds }) => holds));
  if (idle) return sessions.length > 0 || encoders.length > 0 ? 'connected' : 'away';
  return source.state;
}

/**
 * Whether it may be put on the air now. Of phones one must have the pipe: what the server of
 * phones says of that is newer than what the station has heard of it.
 */
export function startable({ kind, source, sessions, available, kept }: Pick<Row, 'kind' | 'source' | 'sessions' | 'available' | 'kept'>): boolean {
  if (kind === 'phone') return kept && sessions.some(({ holds }) => holds);
  return kept && available && source?.state !== 'gone';
}

/** Where a level stands on a meter, 0 to 1: from -60 dBFS up, as much room for each decibel. */
export function place(dbfs: number): number {
  return Math.min(1, Math.max(0, (dbfs + 60) / 60));
}

/** A level in a word. */
export function toneOf(dbfs: number): 'none' | 'low' | 'good' | 'hot' {
  if (dbfs <= -60) return 'none';
  if (dbfs < -36) return 'low';
  return dbfs > -1 ? 'hot' : 'good';
}
