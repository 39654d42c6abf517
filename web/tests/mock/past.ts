import type { ServerResponse } from 'node:http';
import type { Aired } from '../../src/history/answers';
import type { Status } from '../../src/station/api';
import { idOf } from './data';
import { folded } from './tracks';

const minute = 60_000;
type Row = [title: string, artist: string, category: string, minutes: number, latin?: string, album?: string];
const rows: Row[] = [
  ['نسم علينا الهوى', 'فيروز', 'arabic_hits', 4, 'nassam alayna fairuz', 'أندلسيات'],
  ['Harbour Lights', 'The Paper Lanterns', 'english', 3],
  ['نشرة العاشرة', '', 'news', 1],
  ['يا مسافر وحدك', 'سلمى الحديدي', 'arabic_hits', 5, 'ya msafer wahdak salma'],
  ['<b>Slow River</b> and a title that goes on for longer than any phone is wide', 'Amal Haddad', 'english', 4],
  ['عرض الشتاء', 'متجر الحي', 'ads', 1],
  ['ليل القاهرة', 'فرقة النيل', 'arabic_hits', 4, 'leil el qahera'],
  ['رمل وبحر (Remix)', 'DJ Zein × مريم', 'mashups', 6, 'raml we bahr mariam'],
  ['Second Balcony', 'Low Tide Radio', 'english', 3],
  ['قمر على الكورنيش', 'هالة منصور', 'social', 5, 'amar hala mansour'],
  ['حكاية قصيرة', 'راديو الحارة', 'shorts', 2],
];

/** What was on the air at a station in the last seven days. */
export class Past {
  /** Newest first. */
  list: Aired[] = [];
  /** The station answers nothing about it. */
  down = false;
  /** Files that may not be asked for now. */
  readonly rested = new Set<string>();
  nextAt = 0;
  readonly #latin = new Map<string, string>();
  readonly #status: () => Status;

  constructor(status: () => Status) {
    this.#status = status;
    let at = Math.floor(Date.now() / minute) * minute - 2 * minute;
    const oldest = at - 7 * 24 * 60 * minute;
    for (let i = 0; at > oldest; i++) {
      const [title, artist, category, minutes, latin = '', album = ''] = rows[i % rows.length]!;
      const live = i === 16;
      const file = live ? '' : `music/${category}/past_${i % rows.length}.mp3`;
      at -= minutes * minute;
      this.list.push({ id: file && idOf(file), title: live ? 'سهرة الخميس' : title, artist: live ? 'مباشر من الكورنيش' : artist, file, category: live ? '' : category, type: live ? 'live' : 'music', durationMs: minutes * minute, startedAt: at, ...(album && !live ? { album } : {}) });
      this.#latin.set(title, latin);
    }
  }

  answer(url: URL, response: ServerResponse): boolean {
    const id = /^\/api\/tracks\/([^/]+)$/.exec(url.pathname)?.[1];
    if (url.pathname !== '/api/history' && id === undefined) return false;
    if (this.down) {
      response.writeHead(503, { 'content-type': 'application/problem+json' }).end('{}');
      return true;
    }
    const body = id === undefined ? this.#part(url.searchParams) : this.#track(id);
    response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? { status: 404, detail: 'this track: not found' }));
    return true;
  }

  #part(asked: URLSearchParams) {
    const [before, after, limit] = [Number(asked.get('before') ?? 0), Number(asked.get('after') ?? 0), Number(asked.get('limit') ?? 50)];
    const words = folded(asked.get('q') ?? '').split(/\s+/).filter(Boolean);
    const all = this.list.filter(({ startedAt, title, artist, album = '' }) => {
      const text = folded(`${title} ${artist} ${album} ${this.#latin.get(title) ?? ''}`);
      return (!before || startedAt < before) && (!after || startedAt > after) && words.every((word) => text.includes(word));
    });
    const from = Date.now() - 7 * 24 * 60 * minute;
    if (after && !before) {
      const tracks = all.slice(-limit);
      return { tracks, next: all.length > limit ? tracks[0]!.startedAt : 0, from };
    }
    const tracks = all.slice(0, limit);
    return { tracks, next: all.length > limit ? tracks.at(-1)!.startedAt : 0, from };
  }

  #track(id: string) {
    const airings = this.list.filter((row) => row.id === id);
    const now = this.#status().track;
    const track = airings[0] ?? (now && idOf(now.file) === id ? { ...now, id } : null);
    if (!track) return null;
    const { startedAt: _, ...rest } = track;
    return { track: rest, airings: airings.slice(0, 20).map(({ startedAt }) => startedAt), ...(this.nextAt ? { nextAt: this.nextAt } : {}), requestable: !this.rested.has(track.file) };
  }
}
