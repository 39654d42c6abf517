import type { ServerResponse } from 'node:http';
import type { Crowd, Royalties, TrackFigures } from '../../src/studio/audience/answers';

/** What the station sums up of its listeners: by track, by device and country, and for rights organisations. */
export class Figures {
  tracks: TrackFigures[] = tracksOf();
  crowd: Crowd = {
    timezone: 'Africa/Cairo',
    devices: shares([['android', 1204.6], ['iphone', 811.2], ['windows', 390.4], ['player', 122.75], ['speaker', 61.5], ['car', 33.1], ['mac', 20.4], ['bot', 3.2], ['other', 9]]).map(([name, part]) => ({ name, ...part })),
    countries: shares([['EG', 1710.2], ['SA', 402.5], ['AE', 203.4], ['DE', 160.1], ['GB', 71.3], ['SD', 44], ['MA', 23.6], ['LB', 17.1], ['US', 12.9], ['FR', 5], ['ZZ', 4.4], ['JO', 1.2]]).map(([code, part]) => ({ code, ...part })),
    ways: shares([['hls', 2331], ['stream', 260.15], ['icecast', 65]]).map(([name, part]) => ({ name, ...part })),
    geo: { on: true, file: 'countries.mmdb', builtAt: Date.UTC(2026, 9, 1) }, since: Date.UTC(2026, 8, 12),
  };
  /** Nothing aired in months before this. */
  firstMonth = '2026-01';
  /** It sends no more tracks than these, however many are asked for. */
  most = 20_000;
  /** Fails the next question with this status. */
  fails = 0;
  /** The next answer waits for this. */
  held: Promise<void> | null = null;
  /** What was asked, in order: path and query. */
  readonly asked: string[] = [];

  answer(path: string, query: URLSearchParams): ((response: ServerResponse) => true) | null {
    const part = /^telemetry\/(tracks|audience|royalties)$/.exec(path)?.[1];
    if (!part) return null;
    this.asked.push(`${part}?${query}`);
    const status = this.fails || 200;
    this.fails = 0;
    const { held } = this;
    this.held = null;
    const body = part === 'tracks' ? this.#list(query) : part === 'audience' ? this.crowd : this.#royalties(query.get('month') ?? '');
    return (response) => {
      void (held ?? Promise.resolve()).then(() => {
        if (status !== 200) return response.writeHead(status, { 'content-type': 'application/problem+json' }).end(JSON.stringify({ title: 'Problem', status, detail: 'the database is locked' }));
        if (query.get('format') !== 'csv') return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
        const head = query.get('form') === 'cue' ? 'Title,Performer,Album,Label,ISRC,Plays,Seconds' : 'NAME_OF_SERVICE,FEATURED_ARTIST,SOUND_RECORDING_TITLE,ISRC,ALBUM_TITLE,MARKETING_LABEL,ACTUAL_TOTAL_PERFORMANCES';
        return response.writeHead(200, { 'content-type': 'text/csv; charset=utf-8' }).end(`\ufeff${head}\r\n${(body as Royalties).rows.map(({ title }) => `"${title}"`).join('\r\n')}\r\n`);
      });
      return true;
    };
  }

  #list(query: URLSearchParams): object {
    const [from, to, category] = [Number(query.get('from') ?? 0), Number(query.get('to') ?? Date.now()), query.get('category') ?? ''];
    const found = this.tracks.filter((track) => !category || track.category === category);
    const limit = Math.min(this.most, Number(query.get('limit') ?? 100));
    return { from, to, tracks: to - from < 0 ? [] : found.slice(0, limit), total: found.length };
  }

  #royalties(month: string): Royalties {
    const rows = month < this.firstMonth ? [] : this.tracks.filter(({ category }) => ['arabic_hits', 'english', 'mashups'].includes(category)).map((track, i) => ({
      title: track.title, artist: i % 17 === 3 ? '' : track.artist, album: i % 4 ? `ألبوم ${i}` : '', isrc: i % 3 ? `EGA0126${String(10_000 + i)}` : '', label: i % 2 ? 'صوت النيل' : '',
      plays: track.plays * 4, seconds: track.seconds * 4, listenerHours: track.listenerHours * 4, performances: Math.round(track.startAverage * track.plays * 4),
    }));
    const lack = (name: 'isrc' | 'album' | 'label' | 'artist') => rows.filter((row) => !row[name]).length;
    return {
      month, timezone: 'Africa/Cairo', plays: rows.reduce((sum, { plays }) => sum + plays, 0), listenerHours: rows.reduce((sum, { listenerHours }) => sum + listenerHours, 0), uncountedSeconds: rows.length ? 5400 : 0,
      missing: { isrc: lack('isrc'), album: lack('album'), label: lack('label'), artist: lack('artist') }, rows,
    };
  }
}

function shares(hours: readonly (readonly [string, number])[]): [string, { listenerHours: number; share: number }][] {
  const sum = hours.reduce((total, [, n]) => total + n, 0);
  return hours.map(([name, listenerHours]) => [name, { listenerHours, share: listenerHours / sum }]);
}

/** Some of them were heard by too few to say, and one by nobody who counts. */
function tracksOf(): TrackFigures[] {
  const titles: [string, string, string][] = [
    ['ليل القاهرة', 'فرقة النيل', 'arabic_hits'], ['Harbour Lights', 'The Paper Lanterns', 'english'], ['يا مسافر وحدك', 'سلمى الحديدي', 'arabic_hits'], ['<b>Slow River</b>', 'Amal Haddad', 'english'],
    ['رمل وبحر (Remix)', 'DJ Zein × مريم', 'mashups'], ['نشرة الثامنة', '', 'news'], ['هوية المحطة', '', 'jingles'], ['=HYPERLINK("x")', 'أم كلثوم', 'arabic_hits'],
  ];
  return Array.from({ length: 130 }, (_, i): TrackFigures => {
    const [title, artist, category] = titles[i % titles.length]!;
    const plays = 1 + ((i * 7) % 9);
    const start = i % 29 === 11 ? 0.2 : 40 + ((i * 13) % 90);
    const counted = i % 31 === 13 ? 0 : plays;
    const [tuneIns, tuneOuts] = [counted ? (i * 5) % 19 : 0, counted ? (i * 3) % 23 : 0];
    return {
      file: i < titles.length ? `${category}/${title.replaceAll(' ', '_')}.mp3` : `${category}/${i}.mp3`, title: i < titles.length ? title : `${title} ${i}`, artist, category, plays, seconds: plays * 210, counted, listenerHours: counted ? (start * plays * 210) / 3600 : 0,
      startAverage: counted ? start : 0, tuneIns, tuneOuts, reached: counted ? Math.round(start * plays) + tuneIns : 0, ...(counted ? { kept: Math.max(0, 1 - tuneOuts / Math.max(1, start * plays + tuneIns) - (i % 7) * 0.05) } : {}),
    };
  });
}
