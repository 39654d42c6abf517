import { fetchJSON, type Queued, type Status } from '../station/api';

/** What is around the show: the station's name, what is on, what is next, how many listen. It looks seldom, as a phone has little to spare. */
export class Around {
  status = $state.raw<Pick<Status, 'station' | 'nowPlaying' | 'listeners' | 'state'> | null>(null);
  queue = $state.raw<Pick<Queued, 'title' | 'artist'>[]>([]);

  /** Looks every ten seconds while the page is seen and quiet() is false; answers how to end it. */
  follow(quiet: () => boolean): () => void {
    let looking = false;
    const look = async (): Promise<void> => {
      if (looking || document.visibilityState !== 'visible' || (quiet() && this.status)) return;
      looking = true;
      try {
        this.status = await fetchJSON<Status>('/api/status');
        this.queue = (await fetchJSON<{ queue: Queued[] | null }>('/api/upnext')).queue ?? [];
      } catch {
        // the next look may tell; whether the station is there, going live tells
      } finally {
        looking = false;
      }
    };
    const ticker = setInterval(() => void look(), 10_000);
    void look();
    return () => clearInterval(ticker);
  }
}
