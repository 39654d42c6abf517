/** How a listener wants to hear the station: the bitrate of a rendition in kbit/s, or 0 where the player chooses by the network. */
export type Quality = number;

const kept = 'athir.quality';

interface Connection {
  saveData?: boolean;
}

/** What was chosen before; where nothing was and the browser saves data, the least. */
export function keptQuality(): Quality | 'least' {
  try {
    const text = localStorage.getItem(kept);
    const kbps = Number(text);
    if (text !== null && Number.isInteger(kbps) && kbps >= 0) return kbps;
  } catch {
    // private windows may keep nothing
  }
  return (navigator as { connection?: Connection }).connection?.saveData ? 'least' : 0;
}

export function keepQuality(kbps: Quality): void {
  try {
    localStorage.setItem(kept, String(kbps));
  } catch {
    // as above
  }
}

/** The rendition nearest to what is wanted, from below where there is one: a station may have others by now. */
export function fitting(wanted: Quality | 'least', renditions: readonly number[]): Quality {
  const least = Math.min(...renditions);
  if (renditions.length === 0 || wanted === 0) return 0;
  if (wanted === 'least') return least;
  return Math.max(least, ...renditions.filter((kbps) => kbps <= wanted));
}

/** The media playlist of a rendition (docs/hls-and-ingest.md): the main one, which comes first, has a name of its own. */
export function playlistOf(kbps: number, renditions: readonly number[]): string {
  return kbps === renditions[0] ? 'main_stream.m3u8' : `main_${kbps}.m3u8`;
}

/** What an hour of listening loads, in bytes: the sound, and 2 % of packing and playlists beside it. */
export const bytesAnHour = (kbps: number): number => (kbps * 1000 * 3600 * 1.02) / 8;
