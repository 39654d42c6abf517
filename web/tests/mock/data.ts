import { createHash } from 'node:crypto';
import type { AirPost, Library, LibraryItem, Planned, PlanNote, Played, Process, Queued, Schedule, Status, Why } from '../../src/station/api';

const since = Date.now();

/** A station's answers, as the control plane gives them. Every time follows from `now`. */

type Row = [title: string, artist: string, category: string, seconds: number, license?: string];

const cc = 'CC BY-SA 4.0';
const deck: Row[] = [
  ['ليل القاهرة', 'فرقة النيل', 'arabic_hits', 227, cc],
  ['هوية المحطة', '', 'jingles', 6],
  ['Harbour Lights', 'The Paper Lanterns', 'english', 198, 'CC BY 3.0'],
  ['يا مسافر وحدك', 'سلمى الحديدي', 'arabic_hits', 254, cc],
  ['ZAP', '', 'sfx', 1],
  ['شاي بالنعناع', 'نور وعمر', 'arabic_hits', 205, cc],
  ['نشرة التاسعة', '', 'news', 36],
  ['Slow River', 'Amal Haddad', 'english', 241, 'CC BY 3.0'],
  ['رمل وبحر (Remix)', 'DJ Zein × مريم', 'mashups', 212, cc],
  ['إعلان', '', 'ads', 24],
  ['شمس الصعيد', 'طارق عبد الرحيم', 'arabic_hits', 263, cc],
  ['Second Balcony', 'Low Tide Radio', 'english', 187, 'CC0'],
  ['صوت أثير', '', 'sweepers', 9],
  ['قمر على الكورنيش', 'هالة منصور', 'social', 231, cc],
  ['حكاية قصيرة', 'راديو الحارة', 'shorts', 48, cc],
];

const base = 'abcdefghijklmnopqrstuvwxyz234567';

/** The id of a file, as the station makes it. */
export function idOf(file: string): string {
  const bytes = createHash('sha256').update(file).digest().subarray(0, 10);
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  return (bits.match(/.{5}/g) ?? []).map((five) => base[parseInt(five, 2)]).join('');
}

const fileOf = ([title, , category]: Row) => `music/${category}/${title.replaceAll(' ', '_')}.mp3`;

/** The id of a row's track. */
export const idAt = (row: number): string => idOf(fileOf(deck[row] as Row));

/** Rows whose files hold their words. */
const withWords: readonly number[] = [3, 7];

function itemOf(row: Row) {
  const [title, artist, category, seconds, license = ''] = row;
  const lyrics = withWords.includes(deck.indexOf(row)) ? { lyrics: true } : {};
  return { id: idOf(fileOf(row)), title, artist, file: fileOf(row), category, type: category, durationMs: seconds * 1000, license, ...lyrics };
}

const at = (i: number) => itemOf(deck[i % deck.length] as Row);

export interface Scene {
  /** Position in the deck, and when it came on. */
  index: number;
  startedAt: number;
  empty: boolean;
  /** Of an empty one: it is only being taken in. */
  beginning?: boolean;
  /** When the rotation was built, where that matters. */
  builtAt?: number;
  /** How long the rotation is; 120 unless told. */
  entries?: number;
  /** The listener's post that is on the air. */
  post?: AirPost;
  notes?: PlanNote[];
  /** Ids of real covers, by title. */
  covers?: Record<string, string>;
}

const coveredBy = (scene: Scene) => <T extends { title: string }>(item: T): T => {
  const cover = scene.covers?.[item.title];
  return cover ? { ...item, cover } : item;
};

function trackOf(scene: Scene): Played {
  return { ...coveredBy(scene)(at(scene.index)), startedAt: scene.startedAt };
}

function historyOf(scene: Scene): Played[] {
  const history: Played[] = [];
  let startedAt = scene.startedAt;
  for (let i = scene.index - 1; i >= Math.max(0, scene.index - 10); i--) {
    startedAt -= at(i).durationMs;
    history.push({ ...at(i), startedAt });
  }
  return history;
}

export function statusOf(scene: Scene, now: number, live = false): Status {
  const track = trackOf(scene);
  const counts = { arabic_hits: 214, english: 120, mashups: 31, social: 12, shorts: 40, news: 1, ads: 16, jingles: 22, sweepers: 58, sfx: 64 };
  const status: Status = {
    station: { name: 'إذاعة النيل', language: 'ar', timezone: 'Africa/Cairo' },
    hls: { renditions: [256, 128, 64] },
    onAir: true,
    state: 'music',
    reason: '',
    nowPlaying: { title: track.title, artist: track.artist, file: track.file, ...(scene.post ? { post: scene.post } : {}) },
    track,
    history: historyOf(scene),
    listeners: { total: 128, hls: 117, stream: 11 },
    source: 'athir',
    bandwidth: { bitsPerSecond: 34_100_000 },
    rotation: { length: 120, consumed: 37, builtAt: scene.builtAt ?? since - 5_400_000, daypart: 'evening', reason: 'daypart evening', notes: scene.notes ?? [] },
    library: { tracks: 578, quarantined: 2, scanning: false, byCategory: counts },
    backup: { made: now - 7_200_000, file: '/var/lib/athir/backups/athir-النيل.tar.zst', bytes: 41_000_000, verified: true, error: 'no room for a backup', continuous: { to: '/mnt/nas/athir', until: now - 180_000, bytes: 92_000_000, waiting: 0, error: 'the folder is not there' } },
    processes: processesOf(now),
    serverTime: now,
  };
  if (live) return { ...status, state: 'live', track: null, nowPlaying: { title: 'سهرة الخميس', artist: 'مباشر من الكورنيش', file: '' } };
  if (!scene.empty) return status;
  const bare = { track: null, history: [], nowPlaying: { title: '', artist: '', file: '' } };
  const library = { ...status.library, tracks: 0, ready: 12, unready: 28 };
  const reason = scene.beginning ? 'beginning' : 'empty_library';
  return { ...status, ...bare, library, state: 'emergency', reason, rotation: { ...status.rotation, length: 0, consumed: 0 } };
}

function processesOf(now: number): Process[] {
  const up = (name: string, pid: number, restarts = 0, lastExit = ''): Process => ({
    name, state: 'running', pid, restarts, since: now - 9_200_000 + restarts * 2_000_000, lastExit,
  });
  return [
    up('icecast', 4120),
    up('liquidsoap', 4131),
    up('bridge', 5288, 1, 'killed by signal 9 after 34m12s'),
    up('relay', 4122),
    up('player', 4135),
    { name: 'nginx', state: 'backoff', restarts: 3, since: now - 4000, lastExit: 'exit 1 after 0.2s: bind() to 0.0.0.0:19350 failed' },
  ];
}

export function upnextOf(scene: Scene): { queue: Queued[] } {
  if (scene.empty) return { queue: [] };
  const queue: Queued[] = [];
  let expectedAt = scene.startedAt + at(scene.index).durationMs;
  for (let i = scene.index + 1; i <= scene.index + 12; i++) {
    queue.push({ ...at(i), expectedAt });
    expectedAt += at(i).durationMs;
  }
  return { queue: queue.map(coveredBy(scene)) };
}

export function scheduleOf(scene: Scene, explain = false): Schedule {
  if (scene.empty) return { rotation: [], length: 0, consumed: 0 };
  let expectedAt = scene.startedAt;
  const length = scene.entries ?? 120;
  const rotation = Array.from({ length }, (_, i): Planned => {
    const item = at(i + scene.index - 37 + deck.length * 9);
    const entry: Planned = { ...item, position: i, onAir: i === 37, aired: i < 37, votes: 0 };
    if (i >= 37) {
      if (i > 37) entry.expectedAt = expectedAt;
      expectedAt += item.durationMs;
    }
    if (i > 44) entry.clock = 'سهرة النيل';
    if (item.category === 'news' && i > 37) entry.due = Math.round((entry.expectedAt ?? 0) / 60_000) * 60_000;
    if (i % 11 === 8) entry.relaxed = ['artist-gap', 'same-hour'];
    if (i % 13 === 7) entry.relaxed = ['no-drums-before-noon'];
    if (i > 37 && i % 9 === 4) entry.votes = i % 2 ? 7 : -2;
    if (explain) entry.why = whyOf(item, i);
    return entry;
  });
  return { rotation, length, consumed: 37 };
}

function whyOf(item: { category: string }, i: number): Why {
  const reason = item.category === 'news' ? 'the newest bulletin' : i % 4 ? `turn 3; one of 214 in ${item.category}` : 'a reason of tomorrow';
  return {
    reason, wanted: item.category, considered: 31,
    passedOver: [
      { rule: 'artist-gap', count: 4, example: 'music/arabic_hits/<b>ليل</b>.mp3' },
      { rule: 'no-drums-before-noon', count: 1 },
    ],
  };
}

export function libraryOf(scene: Scene, query: URLSearchParams, now: number, emptied: readonly string[] = []): Library {
  const everything: LibraryItem[] = scene.empty
    ? []
    : Array.from({ length: 578 }, (_, i) => ({ ...at(i), file: at(i).file.replace('.mp3', `_${i}.mp3`), album: 'ألبوم', size: 5_000_000 + i })).filter(({ category }) => !emptied.includes(category));
  const [category, q] = [query.get('category') ?? '', (query.get('q') ?? '').toLowerCase()];
  const found = everything.filter(
    (item) => (!category || item.category === category) && `${item.title} ${item.artist} ${item.file}`.toLowerCase().includes(q),
  );
  const [offset, limit] = [Number(query.get('offset') ?? 0), Number(query.get('limit') ?? 100)];
  const categories: Library['categories'] = {};
  for (const item of everything) {
    const sum = (categories[item.category] ??= { tracks: 0, durationMs: 0 });
    sum.tracks++;
    sum.durationMs += item.durationMs;
  }
  const quarantined = [
    { path: 'english/Broken_Download.mp3', reason: 'no audio stream found', since: now - 86_400_000 },
    { path: 'arabic_hits/تسجيل_قديم.flac', reason: 'decoding stops after 12 s of 240 s', since: now - 3_600_000 },
  ];
  return {
    tracks: everything.length,
    categories,
    quarantined: scene.empty ? [] : quarantined,
    mastering: { waiting: scene.empty ? 0 : 12, silent: 3, leftMs: 190_000, inWork: 'music/arabic_hits/ليل.mp3', problem: '' },
    scanning: false,
    scannedAt: now - 60_000,
    items: found.slice(offset, offset + limit),
    total: found.length,
    offset,
    limit,
  };
}
