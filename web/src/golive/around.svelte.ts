import type { Look, Shown } from '../requests/answers';
import { inOrder } from '../requests/order';
import { fetchJSON, type Queued, type Status } from '../station/api';

/** So often an address that answers nothing of requests is asked: the WHIP server alone has none of them. */
const tries = 3;

/** What is around the show: the station's name, what is on, what is next, how many listen, what they ask for. It looks seldom, as a phone has little to spare. */
export class Around {
  status = $state.raw<Pick<Status, 'station' | 'nowPlaying' | 'listeners' | 'state'> | null>(null);
  queue = $state.raw<Pick<Queued, 'title' | 'artist'>[]>([]);
  /** What listeners have asked for and waits, as it will air. */
  requests = $state.raw<readonly Shown[]>([]);

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
    let left = tries;
    const ask = async (): Promise<void> => {
      if (left <= 0 || document.visibilityState !== 'visible') return;
      try {
        const { requests } = await fetchJSON<Look>('/api/requests');
        this.requests = inOrder(requests ?? []);
        left = Infinity;
      } catch {
        left--; // once it has answered it is asked for ever
      }
    };
    const tickers = [setInterval(() => void look(), 10_000), setInterval(() => void ask(), 20_000)];
    void look();
    void ask();
    return () => tickers.forEach(clearInterval);
  }
}
