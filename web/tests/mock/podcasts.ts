import type { IncomingMessage, ServerResponse } from 'node:http';
import { coverOf, coverSVG } from '../../src/look/cover';
import type { Chapter, Episode, Show } from '../../src/podcasts/answers';
import { idOf } from './data';
import type { Media } from './media';
import { folded } from './tracks';

const minute = 60_000;
const day = 24 * 60 * minute;

type Row = [title: string, summary: string, creator: string, minutes: number];

const nights: Row[] = [
  ['سهرة الخميس: العود وحده', 'ساعة مع العود المنفرد، من محمد القصبجي إلى نصير شمة، وحديث عن صانع أعواد في شارع محمد علي.\nقائمة ما سمعتم: https://nile.example/oud، واكتبوا لنا رأيكم.', 'ليلى حسن', 62],
  ['أغنيات البحر', 'ما غنّاه الصيادون من دمياط إلى السويس، بتسجيلات من أرشيف الإذاعة.', 'ليلى حسن', 58],
  ['Harbour Lights, live from the Corniche', 'The Paper Lanterns on stage by the water: twelve songs, no second take. More at https://lanterns.example/tour (tickets too).', 'Amal Haddad', 47],
  ['<img src=x onerror="alert(1)"> <b>عنوان</b> غريب', '<script>alert(document.domain)</script> javascript:alert(1) https://bank.example@evil.example/ “quoted”', '<svg onload=alert(2)>', 33],
  ['ليالي رمضان: حكايات المسحراتي', 'أصوات الحارة قبل الفجر.', 'ليلى حسن', 71],
];

const news: Row[] = [
  ['نشرة التاسعة', 'ثلاثة أخبار من القاهرة.', '', 2],
  ['نشرة السابعة', '', '', 1],
  ['نشرة السادسة مساءً', '', '', 3],
];

/** A station's shows and their episodes, with real sound, as its API and its files give them. */
export class Podcasts {
  shows: Show[] = [];
  /** By show, newest first. */
  readonly episodes = new Map<string, Episode[]>();
  /** The lists do not answer. */
  down = false;
  /** Sounds do not come. */
  silent = false;
  /** Ids of episodes that are gone, with what listeners asked for of them. */
  readonly gone = new Set<string>();
  /** Ranges of sound that were asked for. */
  readonly ranges: string[] = [];
  readonly #media: Media;
  readonly #sounds = new Map<number, Buffer>();

  constructor(media: Media) {
    this.#media = media;
    const now = Math.floor(Date.now() / minute) * minute;
    this.#show({ slug: 'thursday-night', title: 'سهرة الخميس', description: 'موسيقى وحكايات من القاهرة، كل خميس في العاشرة مساءً.\nكل حلقة عن صوت واحد. الأرشيف: https://nile.example/archive', author: 'إذاعة النيل', kind: 'live', live: true, language: 'ar' });
    this.#show({ slug: 'bulletins', title: 'نشرات الأخبار', description: 'آخر النشرات، مع نصها المكتوب.', author: 'غرفة الأخبار', kind: 'bulletins', language: 'ar' });
    this.#show({ slug: 'delta-story', title: 'Down the Delta', description: 'A story in nine parts: one boat, one river, and everyone who lives by it.', author: 'Amal Haddad', kind: 'library', serial: true, language: 'en', copyright: '© 2026 Nile Radio, CC BY-SA 4.0' });
    this.#show({ slug: 'from-listeners', title: 'من المستمعين', description: '', author: '', kind: 'posts', language: 'ar' });
    for (let i = 0; i < 64; i++) {
      const [title, summary, creator, minutes] = nights[i % nights.length]!;
      this.#add('thursday-night', { title: i < nights.length ? title : `${title} (${i})`, summary, creator, durationMs: i === 1 ? minute : minutes * minute, publishedAt: now - 40 * minute - i * 7 * day, explicit: i === 3, chapters: i === 3 ? chaptersOf(['<b>Chapter</b>', '"quoted" & \u202eturned'], minutes) : chaptersOf(['مقدمة', 'تقاسيم نهاوند', 'يا نسيم الدلال', 'ختام'], i === 1 ? 1 : minutes) });
    }
    for (let i = 0; i < 12; i++) {
      const [title, summary, , minutes] = news[i % news.length]!;
      this.#add('bulletins', { title, summary, durationMs: minutes * minute, publishedAt: now - 3 * 60 * minute - i * 9 * 60 * minute, text: 'مساء الخير، هذه نشرة إذاعة النيل.\nافتُتح اليوم معرض الكتاب في القاهرة بمشاركة أربعين دولة.\n<i>الطقس</i> غدًا معتدل نهارًا، مائل للبرودة ليلًا.' });
    }
    for (let i = 0; i < 9; i++) this.#add('delta-story', { title: ['The nets', 'Nine bridges', 'What the water keeps'][i % 3]!, summary: 'Part of the way from Aswan to the sea.', creator: 'Amal Haddad', durationMs: minute, publishedAt: now - (i + 1) * 3 * day });
    for (const [slug, list] of this.episodes) list.forEach((one, i) => (one.number = this.episodes.get(slug)!.length - i));
  }

  answer(url: URL, response: ServerResponse): boolean {
    const path = /^\/api\/podcasts(?:\/([^/]+))?(\/episodes)?(?:\/([^/]+))?$/.exec(url.pathname);
    if (!path) return false;
    const [, slug, list, id] = path;
    const body = this.down ? null : slug === undefined ? { shows: this.shows.map((show) => this.#counted(show)) } : this.#of(slug, list !== undefined, id, url.searchParams);
    response.writeHead(this.down ? 503 : body ? 200 : 404, { 'content-type': body ? 'application/json' : 'application/problem+json' }).end(JSON.stringify(body ?? { status: 404, detail: 'not found' }));
    return true;
  }

  /** The files of shows and episodes, with ranges as players ask for them. */
  file(request: IncomingMessage, url: URL, response: ServerResponse): boolean {
    const [, slug, , id, name] = /^\/podcasts\/([^/]+)\/(([^/]+)\/)?(cover\.jpg|feed\.xml|audio\.mp3)$/.exec(url.pathname) ?? [];
    const show = this.shows.find((one) => one.slug === slug);
    if (!name) return false;
    if (!show) return ended(response, 404);
    if (name === 'cover.jpg') {
      response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(coverSVG(coverOf(`${show.slug}3`), 1400));
      return true;
    }
    if (name === 'feed.xml') {
      response.writeHead(200, { 'content-type': 'application/rss+xml; charset=utf-8' }).end('<?xml version="1.0"?><rss version="2.0"><channel><title>x</title></channel></rss>');
      return true;
    }
    const episode = this.#listed(show.slug).find((one) => one.id === id);
    if (!episode) return ended(response, 404);
    if (this.silent) {
      response.destroy();
      return true;
    }
    this.#sound(request, url, response, episode);
    return true;
  }

  /** A page with the feeds in its head, as a station serves it. */
  named(html: string): string {
    const links = this.shows.map(({ feed }) => `<link rel="alternate" type="application/rss+xml" href="${feed}" />`);
    return html.replace('</head>', `${links.join('')}</head>`);
  }

  withdraw(episode: Episode): void {
    this.gone.add(episode.id);
  }

  #sound(request: IncomingMessage, url: URL, response: ServerResponse, { durationMs }: Episode): void {
    const minutes = Math.max(1, Math.round(durationMs / minute));
    let body = this.#sounds.get(minutes);
    if (!body) this.#sounds.set(minutes, (body = Buffer.concat(Array<Buffer>(minutes).fill(this.#media.mp3))));
    const headers = { 'content-type': 'audio/mpeg', 'accept-ranges': 'bytes', etag: `"${minutes}"`, ...(url.searchParams.has('download') ? { 'content-disposition': "attachment; filename=\"episode.mp3\"; filename*=UTF-8''%D8%AD%D9%84%D9%82%D8%A9.mp3" } : {}) };
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
    if (range) this.ranges.push(range[0]);
    const [from, to] = range ? [Number(range[1]), Math.min(body.length - 1, range[2] ? Number(range[2]) : body.length - 1)] : [0, body.length - 1];
    response.writeHead(range ? 206 : 200, { ...headers, 'content-length': to - from + 1, ...(range ? { 'content-range': `bytes ${from}-${to}/${body.length}` } : {}) });
    response.end(request.method === 'HEAD' ? undefined : body.subarray(from, to + 1));
  }

  #of(slug: string, list: boolean, id: string | undefined, asked: URLSearchParams): unknown {
    const show = this.shows.find((one) => one.slug === slug);
    if (!show) return null;
    if (!list) return this.#counted(show);
    const all = this.#listed(slug);
    if (id !== undefined) {
      const at = all.findIndex((one) => one.id === id);
      const row = (i: number, name: string) => (all[i] ? { [name]: { ...all[i], chapters: [], text: '' } } : {});
      return at < 0 ? null : { show: this.#counted(show), episode: all[at], ...row(at - 1, 'newer'), ...row(at + 1, 'older') };
    }
    const [before, limit] = [Number(asked.get('before') ?? 0), Number(asked.get('limit') ?? 50)];
    const words = folded(asked.get('q') ?? '').split(/\s+/).filter(Boolean);
    const found = all.filter(({ title, summary, creator, publishedAt }) => (!before || publishedAt < before) && words.every((word) => folded(`${title} ${summary} ${creator}`).includes(word)));
    const part = found.slice(0, limit);
    return { episodes: part.map((one) => ({ ...one, chapters: [], text: '' })), next: found.length > limit ? part.at(-1)!.publishedAt : 0 };
  }

  #listed(slug: string): Episode[] {
    return (this.episodes.get(slug) ?? []).filter(({ id }) => !this.gone.has(id));
  }

  #counted(show: Show): Show {
    const all = this.#listed(show.slug);
    return { ...show, episodes: all.length, latest: all[0]?.publishedAt ?? 0 };
  }

  #show(show: Partial<Show> & Pick<Show, 'slug'>): void {
    const at = `/podcasts/${show.slug}`;
    this.shows.push({ title: '', description: '', language: 'ar', author: '', categories: ['Music'], explicit: false, serial: false, copyright: '', kind: 'live', cover: `${at}/cover.jpg?v=1`, feed: `${at}/feed.xml`, page: at, episodes: 0, latest: 0, live: false, ...show });
    this.episodes.set(show.slug, []);
  }

  #add(slug: string, episode: Partial<Episode>): void {
    const list = this.episodes.get(slug)!;
    const id = idOf(`${slug} ${list.length}`);
    const at = `/podcasts/${slug}/${id}`;
    const durationMs = episode.durationMs ?? minute;
    list.push({ id, show: slug, number: 0, title: '', summary: '', artist: '', creator: '', publishedAt: 0, beganAt: 0, durationMs, bytes: Math.round(durationMs / minute) * this.#media.mp3.length, audio: `${at}/audio.mp3`, page: at, cover: `/podcasts/${slug}/cover.jpg?v=1`, explicit: false, chapters: [], text: '', ...episode });
  }
}

/** Chapters of a whole, evenly. */
function chaptersOf(titles: readonly string[], minutes: number): Chapter[] {
  return titles.map((title, i) => ({ startMs: Math.round((i * minutes * minute) / titles.length), title, artist: i === 2 ? 'فيروز' : '' }));
}

function ended(response: ServerResponse, status: number): true {
  response.writeHead(status).end();
  return true;
}
