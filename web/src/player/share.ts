import type { Heard } from './heard';

/** The address that is shared of what is heard: the track's page, or the station. */
export function addressOf({ id, kind }: Pick<Heard, 'id' | 'kind'>, origin: string): string {
  return kind === 'song' && id ? `${origin}/track/${encodeURIComponent(id)}` : `${origin}/`;
}

/** Shares by the device's own sheet, or copies the address; 'shown' where it can do neither. */
export async function share(title: string, url: string): Promise<'shared' | 'copied' | 'shown'> {
  if (typeof navigator.share === 'function') {
    try {
      await navigator.share({ title, url });
      return 'shared';
    } catch (failure) {
      if ((failure as DOMException).name === 'AbortError') return 'shared'; // the listener thought better of it
    }
  }
  try {
    await navigator.clipboard.writeText(url);
    return 'copied';
  } catch {
    return 'shown'; // no secure context, or no leave
  }
}
