import type { IncomingMessage, ServerResponse } from 'node:http';
import { stages, type Plan, type PlanList, type Report, type Secrets } from '../../src/studio/library/import/answers';
import type { Job } from '../../src/studio/production/answers';
import { refused, send, type Answer, type Shelves } from './library';
import type { Production } from './production';

const day = 86_400_000;

/** What of another system's station is brought over: backups, and jobs that move each time they are looked at. */
export class Imports {
  plan: Plan = planOf();
  /** Backups that are at the station: id and bytes. */
  readonly files = new Map<string, number>();
  /** Orders taken: what, and with which body. */
  readonly taken: { order: string; body: Record<string, string> }[] = [];
  /** Links and secrets, for owners alone. */
  secrets: Secrets = { invited: ['sami', 'layla', 'other'].map((login) => ({ login, token: `tok-${login}-xxxxxxxxxxxxxxxxxxxx`, until: Date.now() + 3 * day })), webhooks: [{ address: 'https://nile.example/hooks/now', secret: 'whsec_4f6b1d0a9c8e7f6a5b4c3d2e' }] };
  /** The source has these stations, of which one must be named. */
  stations: string[] = [];
  /** Why the next job fails; null: it does not. */
  fails: { en: string; ar: string } | null = null;
  /** An answer to give to the next order instead. */
  refusal: Answer | null = null;
  /** Answers to uploads are kept back: each is given by calling it. */
  keptBack: (() => void)[] | null = null;
  /** An import stays where it is after so many looks. */
  stops = Infinity;
  #next = 1;

  constructor(
    readonly production: Production,
    readonly library: Shelves,
  ) {
    production.lanes.import = { move: (job) => this.#move(job), end: (job) => job.kind === 'import' && (job.result = { ...reportOf(), copied: 412, playlists: 0, items: 0, noted: 0, invited: [], webhooks: [], not: [], stopped: true } satisfies Report) };
  }

  answer(request: IncomingMessage, url: URL, response: ServerResponse): boolean {
    const prefix = '/api/station/import/';
    if (!url.pathname.startsWith(prefix)) return false;
    if (!this.library.lets(request)) {
      send(response, refused(401, 'send the station key'));
      return true;
    }
    const pieces: Buffer[] = [];
    request.on('data', (chunk: Buffer) => pieces.push(chunk));
    request.on('end', () => {
      const bytes = Buffer.concat(pieces);
      const give = () => send(response, this.#route(String(request.method), url.pathname.slice(prefix.length), url, bytes));
      if (this.keptBack && request.method === 'PUT') this.keptBack.push(give);
      else give();
    });
    return true;
  }

  #route(method: string, path: string, url: URL, bytes: Buffer): Answer {
    if (this.refusal) {
      const said = this.refusal;
      this.refusal = null;
      return said;
    }
    const [what, id = ''] = path.split('/');
    if (method === 'PUT' && path === 'file') {
      const file = `f${this.#next++}${'k'.repeat(20)}`;
      this.files.set(file, bytes.length);
      return [200, { file, name: url.searchParams.get('name'), size: bytes.length }];
    }
    if (method === 'DELETE' && what === 'file') {
      this.files.delete(id);
      return [204, undefined];
    }
    if (method === 'GET' && path === 'secrets') return [200, this.secrets];
    if (method !== 'POST' || (path !== 'plan' && path !== 'apply')) return refused(404, 'there is no such route');
    const body = JSON.parse(bytes.toString()) as Record<string, string>;
    if (body.file && !this.files.has(body.file)) return refused(422, 'validation failed', { errors: [{ location: 'body.file', message: 'there is no such file: upload it again', arabic: 'لا يوجد ملف كهذا. ارفعه من جديد.' }] });
    this.taken.push({ order: path, body });
    return [202, this.production.add(path === 'plan' ? 'import plan' : 'import', { progress: { step: path === 'plan' ? 'reading' : 'files', detail: path === 'plan' ? '' : 'Fairuz/Nassam.mp3', done: 0, total: path === 'plan' ? 0 : 1204 } })];
  }

  #move(job: Job): void {
    if (job.state !== 'running') return;
    const { progress } = job;
    const end = (state: Job['state'], result: unknown, error = '') => Object.assign(job, { state, result, endedAt: Date.now(), ...(error ? { error } : {}) });
    if (this.fails && progress.done > 0) {
      const problem = this.fails;
      this.fails = null;
      return void end('failed', job.kind === 'import' ? { ...reportOf(), invited: [], webhooks: [], not: [], stopped: true, problem } : { problem, others: [] }, problem.en);
    }
    if (job.kind === 'import plan' && progress.done > 0 && this.stations.length > 0 && !this.taken.at(-1)?.body.station) return void end('failed', { others: this.stations, problem: { en: 'There are several stations in it: choose one.', ar: 'فيه أكثر من محطة. اختر واحدة منها.' } }, 'several');
    if (job.kind === 'import plan') return void (++progress.done >= 2 && end('done', this.plan));
    const at = stages.findIndex((stage) => stage === progress.step);
    if (at === 0 && progress.done >= this.stops) return;
    progress.done += at === 0 ? 412 : 1;
    progress.detail = at === 0 ? 'Umm Kulthum/Enta_Omri <b>live</b>.mp3' : 'سهرة الجمعة';
    if (progress.done < progress.total) return;
    const next = stages[at + 1];
    if (next) Object.assign(progress, { step: next, done: 0, total: 2 });
    else end('done', reportOf());
  }
}

export function planOf(): Plan {
  const settings = { kind: 'hand', order: 'shuffle', plays: 'share', share: 40, everySongs: 4, minute: 0, when: [], on: true } satisfies Partial<PlanList>;
  const said = (en: string, ar: string) => ({ en, ar });
  return {
    system: 'AzuraCast', version: '0.20.4', name: 'راديو النيل', others: ['Nile Jazz', 'Test <b>station</b>'],
    tracks: { bring: 1204, there: 87, not: 3, bytes: 9_412_000_000 },
    playlists: [
      { ...settings, do: 'bring', name: 'كل الأغاني', tracks: 940 },
      { ...settings, do: 'bring', was: 'سهرة الجمعة', name: 'سهرة الجمعة (2)', plays: 'only', when: [{ days: ['fri'], start: '20:00', end: '01:00' }], tracks: 64, notes: [said('2 of its tracks do not come over.', '2 من مقاطعها لا تُنقل.')] },
      { ...settings, do: 'bring', name: 'Station identifications', plays: 'songs', everySongs: 6, order: 'turns', on: false, tracks: 12 },
      { ...settings, do: 'bring', name: 'Partner charts', kind: 'remote', plays: 'hourly', minute: 15, tracks: 0 },
      { ...settings, do: 'there', name: 'Classics', tracks: 120 },
      { ...settings, do: 'not', name: 'Relay <b>of</b> another', tracks: 0, why: said('It is a stream of another server, which no playlist relays: put it on the air as a live source.', 'هو بث من خادم آخر، وقوائم التشغيل لا تعيد البث. أضفه مصدرًا للبث المباشر.') },
    ],
    people: [
      { login: 'sami', name: 'Sami Adel', do: 'bring', notes: [said('Passwords do not come over: the import prints a link by which a new one is set.', 'كلمات المرور لا تُنقل. يطبع الاستيراد رابطًا لتعيين كلمة جديدة.')] },
      { login: 'layla', name: 'ليلى', do: 'bring' },
      { login: 'old', name: 'Old DJ', do: 'not', why: said('Switched off there.', 'الحساب موقوف هناك.') },
    ],
    webhooks: [
      { name: 'Website', type: 'generic', address: 'https://nile.example', do: 'bring', notes: [said('What is sent has another form, and is signed: the receiver must be adapted (docs/webhooks.md).', 'صيغة الرسائل هنا مختلفة وموقّعة، فيجب تعديل المستقبِل (docs/webhooks.md).')] },
      { name: 'Discord', type: 'discord', do: 'not', why: said('Messages to discord are alarms here: set them up in the settings.', 'رسائل discord هنا إنذارات تُضبط في الإعدادات.') },
    ],
    left: [
      { kind: 'mounts', count: 3, why: said('Streams are set up here in the settings.', 'نقاط البث تُضبط هنا في الإعدادات.') },
      { kind: 'history', count: 88_213, why: said('It stays in the other system.', 'يبقى في النظام الآخر.') },
      { kind: 'something new', why: said('There is no such thing here.', 'لا مقابل له هنا.') },
    ],
    notTracks: [
      { from: 'jingles/<b>old</b>.wma', why: said('WMA is not taken: convert it first.', 'صيغة WMA غير مقبولة. حوّل الملف أولًا.') },
      { from: 'أغانٍ/ناقص.mp3', why: said('Its file is not in the backup.', 'ملفه غير موجود في النسخة الاحتياطية.') },
    ],
    warnings: [],
    counts: { notTracks: 3, playlists: 6, people: 3, webhooks: 2 },
  };
}

export function reportOf(): Report {
  return {
    copied: 1204, there: 87, noted: 311, playlists: 4, items: 1016, stopped: false,
    invited: [{ login: 'sami', until: Date.now() + 3 * day }, { login: 'layla', until: Date.now() + 3 * day }],
    webhooks: ['https://nile.example'],
    not: [
      { stage: 'files', what: 'jingles/<b>old</b>.wma', why: { en: 'WMA is not taken: convert it first.', ar: 'صيغة WMA غير مقبولة. حوّل الملف أولًا.' } },
      { stage: 'playlists', what: 'Relay <b>of</b> another', why: { en: 'It is a stream of another server.', ar: 'هو بث من خادم آخر.' } },
    ],
  };
}
