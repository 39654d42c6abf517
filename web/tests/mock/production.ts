import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Asset, BulletinRehearsed, BulletinScript, BulletinStatus, ContentStatus, Job, Plan, Run, Scrubbed } from '../../src/studio/production/answers';
import { categories } from '../../src/station/api';
import { sendSound } from './library';

type Json = Record<string, unknown>;

/** Jobs that make more files than this run until they are cancelled. */
const endless = 100;

/** The production routes of a station: jobs that move on each time they are looked at. */
export class Production {
  /** Whether the content has been refreshed and a bulletin made: false is a station on its first day. */
  used = true;
  /** Jobs stay as they are, however often they are looked at. */
  held = false;
  /** Orders taken: path and body. */
  readonly taken: { path: string; body: unknown }[] = [];
  bulletin = bulletinOf();
  /** Headlines after the third. */
  waiting: string[] = [];
  content = contentOf();
  plan: Plan = planOf();
  junk: Scrubbed['junk'] = [
    { file: 'music/english/Broken_Download.mp3', reason: 'unreadable', why: 'no audio stream found' },
    { file: 'music/english/<b>silence</b>.mp3', reason: 'silent', why: 'nothing louder than -60 dBFS' },
  ];
  jobs: Job[] = [];
  /** Headlines whose text was asked for. */
  readonly previewed: string[][] = [];
  /** Answers to texts are kept back: each is given by calling it. */
  keptBack: (() => void)[] | null = null;
  /** The spoken bulletin is no sound. */
  mute = false;
  /** What the weather is; empty: nobody has asked yet. */
  weather = '';
  /** Why nothing can be spoken. */
  unspoken: BulletinRehearsed['reason'];
  /** Moves jobs of a lane that is another part's, and ends them. */
  readonly lanes: Record<string, { move(job: Job): void; end(job: Job): void }> = {};
  #next = 1;

  constructor(readonly key: () => string) {}

  /** Answers a production route; false is none of its own. */
  answer(request: IncomingMessage, url: URL, response: ServerResponse): boolean {
    const path = url.pathname;
    if (!/^\/api\/(jobs|bulletin|imaging|content|station\/content|station\/bulletin)(\/|$)/.test(path)) return false;
    if (path === '/api/bulletin/preview/audio') {
      if (url.searchParams.get('ticket') !== 'let me hear') response.writeHead(401).end();
      else if (this.mute) response.writeHead(404).end();
      else sendSound(request, response, humOf(10), 'audio/wav');
      return true;
    }
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const [status, said] = this.#route(request, path, text ? (JSON.parse(text) as Json) : {});
      const give = () => response.writeHead(status, { 'content-type': status < 400 ? 'application/json' : 'application/problem+json' }).end(JSON.stringify(said));
      if (this.keptBack && path === '/api/station/bulletin/preview') this.keptBack.push(give);
      else give();
    });
    return true;
  }

  /** A job that is there already. */
  add(kind: string, more: Partial<Job> = {}): Job {
    const now = Date.now();
    const job: Job = {
      id: `job${this.#next++}`, kind, lane: /^(content|import)/.exec(kind)?.[0] ?? kind, state: 'running', queuedAt: now, startedAt: now, endedAt: 0,
      progress: { step: '', detail: '', done: 0, total: 0 }, log: [], ...more,
    };
    this.jobs.unshift(job);
    return job;
  }

  #route(request: IncomingMessage, path: string, body: Json): [number, unknown] {
    if (path === '/api/bulletin/status') return [200, this.used ? this.bulletin : { ...this.bulletin, latest: '', latestAt: 0, headlines: [], headlinesProblem: 'open data/headlines.txt: no such file or directory', segments: [], triedAt: 0 }];
    if (path === '/api/bulletin/headlines' && request.method === 'GET') return [200, this.#headlines()];
    if (path === '/api/content/status') return [200, this.content];
    const sent = Buffer.from(String(request.headers['x-station-key'] ?? ''), 'latin1').toString('utf8');
    if (this.key() && sent !== this.key()) return [401, { title: 'Unauthorized', status: 401, detail: 'send the station key' }];
    if (path === '/api/bulletin/headlines') {
      const lines = body.headlines as string[];
      if (body.version !== this.#headlines().version) return [409, { title: 'Conflict', status: 409, detail: 'headlines.txt has changed since its headlines were read: read them again' }];
      const wrong = faultOf(lines);
      if (wrong) return wrong;
      this.bulletin = { ...this.bulletin, headlines: lines.slice(0, 3) };
      this.waiting = lines.slice(3);
      this.taken.push({ path, body });
      return [200, this.#headlines()];
    }
    if (path.startsWith('/api/station/bulletin/preview')) return this.#preview(path.slice('/api/station/bulletin/preview'.length), body);
    if (path === '/api/jobs') {
      if (!this.held) this.jobs.forEach((job) => this.#move(job));
      return [200, { jobs: this.jobs.map((job) => ({ ...job, log: null, result: undefined })) }];
    }
    const [, id, cancel] = /^\/api\/jobs\/([^/]+)(\/cancel)?$/.exec(path) ?? [];
    if (id) {
      const job = this.jobs.find((one) => one.id === id);
      if (!job) return [404, { title: 'Not Found', status: 404, detail: 'no such job' }];
      const own = this.lanes[job.lane];
      if (cancel) this.#end(job, 'cancelled', 'cancelled by the operator');
      if (cancel) own?.end(job);
      else if (!this.held) own?.move(job);
      return [200, job];
    }
    this.taken.push({ path, body });
    return this.#begin(path, body);
  }

  /** The headlines and a version that changes with them. */
  #headlines(): { headlines: string[]; version: string; cut: boolean } {
    const headlines = this.used ? [...(this.bulletin.headlines ?? []), ...this.waiting] : [];
    return { headlines, version: `version of ${headlines.join('|')}`, cut: false };
  }

  #preview(below: string, body: Json): [number, unknown] {
    if (below.endsWith('/ticket')) return [200, { path: '/api/bulletin/preview/audio?id=r1&ticket=let+me+hear', until: Date.now() + 900_000 }];
    const lines = body.headlines as string[];
    const wrong = faultOf(lines);
    if (below === '') this.previewed.push(lines);
    else this.taken.push({ path: '/api/station/bulletin/preview/audio', body });
    if (wrong) return wrong;
    if (below === '') return [200, scriptOf(lines, this.weather)];
    return [202, this.add('rehearsal', { progress: { step: 'speak', detail: '', done: 1, total: 4 }, result: { order: body } })];
  }

  #begin(path: string, body: Json): [number, unknown] {
    const kind = {
      '/api/bulletin/generate': 'bulletin', '/api/imaging/generate': 'imaging', '/api/imaging/sweepers': 'sweepers', '/api/imaging/stingers': 'stingers',
      '/api/content/plan': 'content plan', '/api/content/refresh': 'content refresh', '/api/content/restore': 'content restore', '/api/station/content/scrub': 'content scrub',
    }[path];
    if (!kind) return [404, { title: 'Not Found', status: 404, detail: 'there is no such route' }];
    const total = kind === 'stingers' ? Number(body.count ?? 16) : 3;
    return [202, this.add(kind, { progress: { step: kind === 'bulletin' ? 'bulletin' : kind.startsWith('content') ? 'songs' : 'imaging', detail: '', done: 0, total }, result: { order: body } })];
  }

  #move(job: Job): void {
    if (job.state !== 'running' || this.lanes[job.lane]) return;
    const { progress } = job;
    if (progress.total > endless && progress.done > 4) return;
    progress.done++;
    if (job.kind === 'rehearsal') return void (progress.done >= 4 && this.#end(job, this.unspoken ? 'failed' : 'done', this.unspoken?.en));
    progress.detail = `sfx/SFX_RISER_${progress.done}.mp3`;
    job.log = [...(job.log ?? []), { at: Date.now(), text: `file ${progress.done} of ${progress.total}: <b>plain</b>` }];
    if (progress.done < Math.min(progress.total, 4)) return;
    if (progress.total <= endless) this.#end(job, 'done');
  }

  #end(job: Job, state: Job['state'], error = ''): void {
    const order = ((job.result ?? {}) as { order?: Json }).order ?? {};
    if (state === 'failed' && job.kind === 'rehearsal') return void Object.assign(job, { state, endedAt: Date.now(), error, result: { id: '', sentences: [], missing: [], reason: this.unspoken } });
    Object.assign(job, { state, endedAt: Date.now(), result: state === 'done' ? this.#result(job, order) : undefined, ...(error ? { error } : {}) });
  }

  #result(job: Job, order: Json): unknown {
    switch (job.kind) {
      case 'bulletin':
        this.used = true;
        this.bulletin = { ...this.bulletin, latest: 'news/NEWS_2.mp3', latestAt: Date.now() };
        return { file: 'news/NEWS_2.mp3', at: Date.now(), durationMs: 31_400, lufs: -14.03, dbtp: -1.9, segments: this.bulletin.segments, archived: 1, rebuilt: true, problem: '' };
      case 'rehearsal': {
        const { text, sentences, spares, missing } = scriptOf(order.headlines as string[], this.weather);
        return { id: 'r1', at: Date.now(), until: Date.now() + 900_000, durationMs: 10_000, lufs: -14, dbtp: -1.6, text, sentences: [...sentences, ...spares.slice(0, 1)], missing };
      }
      case 'content plan':
        return this.plan;
      case 'content restore':
        return { restored: { english: 3 }, total: 3, missing: [], inTheWay: [] };
      case 'content scrub':
        return { category: order.category, dryRun: order.dryRun ?? false, checked: 214, junk: this.junk, archived: order.dryRun ? [] : (this.junk ?? []).map((one) => one.file), kept: [], problems: [] };
      case 'content refresh':
        return runOf();
      default:
        return { made: assetsOf(job.kind, Math.min(job.progress.total, 16)), failed: [], archived: 2, kept: 0, rebuilt: true, problem: '' };
    }
  }
}

export function assetsOf(kind: string, n: number): Asset[] {
  const designs = ['RISER', 'RISER_DOWN', 'SUBDROP', 'WHOOSH', 'IMPACT', 'GLITCH'];
  return Array.from({ length: n }, (_, i): Asset =>
    kind === 'stingers'
      ? { file: `sfx/SFX_${i}.mp3`, kind: 'stinger', design: designs[i % designs.length] ?? '', durationMs: 1300 + i * 90, lufs: -13.98, dbtp: -3.5 }
      : { file: `sweepers/SWP_${i}.mp3`, kind: ['sweeper', 'song_drop', 'voice_drop', 'id'][i % 4] ?? '', text: 'أثيرْ. صَوْتُ القَاهِرَةِ الّذي لا يَنام.', voice: 'espeak-ng:ar', ...(i % 4 === 1 ? { song: 'music/arabic_hits/ليل.mp3' } : {}), durationMs: 4200 + i * 100, lufs: -14.02, dbtp: -1.6 },
  );
}

/** What the station says of lines that it does not take. */
function faultOf(lines: string[]): [number, unknown] | null {
  const line = lines.findIndex((one) => !/\p{L}/u.test(one) || [...one].length > 160);
  if (line < 0) return null;
  const message = /\p{L}/u.test(lines[line] ?? '') ? `${[...(lines[line] ?? '')].length} characters, at most 160` : 'has no letter in it';
  return [422, { title: 'Unprocessable Entity', status: 422, detail: 'validation failed', errors: [{ location: `body.headlines[${line}]`, message }] }];
}

function scriptOf(lines: string[], weather: string): BulletinScript {
  const read = lines.slice(0, 3);
  const sentences = [
    { kind: 'time', text: 'هُنَا أَثِيرْ. أَهْلًا بِكُمْ.' },
    { kind: 'time', text: 'السَّاعَةُ الآنَ بِتَوْقِيتِ القَاهِرَةِ، السَّابِعَةُ وَالنِّصْفُ مَسَاءً.' },
    ...(weather ? [{ kind: 'weather', text: weather }] : []),
    ...(read.length > 0 ? [{ kind: 'headlines', text: 'إِلَيْكُمْ أَهَمَّ العَنَاوِينِ.' }] : []),
    ...read.map((line) => ({ kind: 'headlines', text: `${line}.` })),
    { kind: 'return', text: 'كَانَتْ هَذِهِ نَشْرَةَ أَثِيرْ. نَعُودُ الآنَ إِلَى المُوسِيقَى.' },
  ];
  const left = (kind: string, problem: string) => ({ kind, text: '', voice: '', problem });
  return {
    at: Date.now() + 120_000, text: sentences.map(({ text }) => text).join('\n'), sentences, waiting: lines.length - read.length,
    missing: [...(weather ? [] : [left('weather', 'not asked yet')]), ...(read.length > 0 ? [] : [left('headlines', 'headlines.txt holds no headline')])],
    spares: weather && read.length === 3 ? [] : [
      { kind: 'date', text: 'نَحْنُ فِي يَوْمِ الاِثْنَيْنِ، الثَّالِثِ وَالعِشْرِينَ مِنْ نُوفَمْبِرَ.' },
      { kind: 'programme', text: 'بَعْدَ قَلِيلٍ تَسْتَمِعُونَ إِلَى نسم علينا الهوى، مَعَ فيروز.' },
      { kind: 'programme', text: 'نُرَحِّبُ بِكُمْ أَيْنَمَا كُنْتُمْ.' },
    ],
  };
}

/** So many seconds of a low hum, as a WAV file. */
function humOf(seconds: number): Buffer {
  const [rate, header] = [8000, Buffer.alloc(44)];
  const pcm = Buffer.alloc(seconds * rate * 2);
  for (let i = 0; i < seconds * rate; i++) pcm.writeInt16LE(Math.round(4000 * Math.sin((2 * Math.PI * 220 * i) / rate)), 2 * i);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + pcm.length, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(pcm.length, 40);
  return Buffer.concat([header, pcm]);
}

function bulletinOf(): BulletinStatus {
  const now = Date.now();
  return {
    latest: 'news/NEWS_1795281832033.mp3', latestAt: now - 22 * 60_000,
    headlines: ['مهرجان القاهرة للموسيقى يفتتح دورته الجديدة', 'فرقة النيل تصدر <b>ألبومها</b> الثالث', 'Open-air concerts return to the corniche'], headlinesProblem: '',
    sentence: 'السَّاعَةُ الآنَ بِتَوْقِيتِ القَاهِرَةِ، السَّابِعَةُ وَأَرْبَعٌ وَعِشْرُونَ دَقِيقَةً مَسَاءً.', making: false, triedAt: now - 22 * 60_000, error: '', everyHours: 1,
    segments: [
      { kind: 'time', text: 'هُنَا أَثِيرْ. أَهْلًا بِكُمْ. السَّاعَةُ الآنَ بِتَوْقِيتِ القَاهِرَةِ، السَّابِعَةُ مَسَاءً.', voice: 'espeak-ng:ar', problem: '' },
      { kind: 'weather', text: '', voice: '', problem: 'ask for the weather: no answer within 10 s' },
      { kind: 'headlines', text: 'إِلَيْكُمْ أَهَمَّ العَنَاوِينِ.', voice: 'espeak-ng:ar', problem: '' },
      { kind: 'return', text: 'نَعُودُ الآنَ إِلَى المُوسِيقَى.', voice: 'espeak-ng:ar', problem: '' },
    ],
  };
}

function runOf(): Run {
  const none = { wanted: 0, added: 0, refused: 0, failed: 0, archived: 0, kept: 0, restored: 0 };
  return {
    trigger: 'schedule', startedAt: Date.now() - 3 * 3_600_000, tookMs: 412_000, imaging: 34, cancelled: false,
    categories: { arabic_hits: { ...none, wanted: 13, added: 11, refused: 2, refusals: { too_short: 1, duplicate: 1 } }, english: { ...none, wanted: 7, added: 3, failed: 1, archived: 4, kept: 1 } },
    problems: [{ step: 'ads', text: 'archive.org: no answer within 30 s' }],
  };
}

function contentOf(): ContentStatus {
  const now = Date.now();
  const deck = (i: number) => ({ tracks: [214, 178, 31, 4, 0, 1, 16, 6, 14, 16][i] ?? 0, minutes: [856.2, 640, 122.4, 3.1, 0, 0.5, 8, 0.4, 1, 0.4][i] ?? 0, fetched: [40, 21, 3, 0, 0, 0, 12, 0, 0, 0][i] ?? 0, archived: [12, 9, 0, 0, 0, 3, 4, 0, 14, 16][i] ?? 0, leaving: i === 1 ? 1 : 0 });
  return {
    categories: Object.fromEntries(categories.map((category, i) => [category, deck(i)])),
    lastRun: runOf(), nextRunAt: now + 3 * 3_600_000,
    sources: [
      { name: 'inbox', lastOk: now - 600_000, lastError: '', errorAt: 0, unavailable: false },
      { name: 'feed', lastOk: 0, lastError: '', errorAt: 0, unavailable: false },
      { name: 'archive.org', lastOk: now - 90_000_000, lastError: 'no answer within 30 s', errorAt: now - 10_800_000, unavailable: false },
      { name: 'yt-dlp', lastOk: 0, lastError: 'yt-dlp is not installed: install it, or take it out of the sources', errorAt: now - 10_800_000, unavailable: true },
    ],
    disk: { free: 64.4e9, total: 270.5e9, low: false, archiveFiles: 58, archiveBytes: 412e6 },
  };
}

function planOf(): Plan {
  return {
    inbox: ['inbox/demo tape.flac'],
    fetch: [
      { category: 'arabic_hits', source: 'archive.org', title: 'ليالي الحلمية', artist: 'فرقة النيل', license: 'CC BY 4.0' },
      { category: 'english', source: 'feed', title: 'Slow River <i>II</i>', artist: 'The Delta', license: 'CC0' },
    ],
    archive: [{ file: 'sweepers/SWP_INTRO_1.mp3', reason: 'replaced' }], kept: ['sfx/SFX_RISER_1.mp3'], restore: [], problems: [{ step: 'ads', text: 'yt-dlp is not installed' }],
  };
}
