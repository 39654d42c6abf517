/** The words of a track, as GET /api/tracks/{id}/lyrics answers them. */
export interface Lyrics {
  lyrics: string;
  /** Lines with their moments from the beginning of the track; empty where the file has none. */
  synced: readonly { atMs: number; text: string }[];
}

/** The line that is sung so many ms into the track; -1 before the first. */
export function lineAt(synced: Lyrics['synced'], elapsedMs: number): number {
  return synced.findLastIndex(({ atMs }) => atMs <= elapsedMs);
}
