import type { Change, Note, Track } from '../../src/studio/library/answers';

/** How the station folds what is searched: case, marks and the forms of Arabic letters do not matter. */
export const folded = (text: string): string => text.normalize('NFD').replace(/[\u0300-\u036f\u064b-\u065f\u0640]/g, '').replace(/[أإآٱ]/g, 'ا').replace(/ى/g, 'ي').replace(/ة/g, 'ه').replace(/[٠-٩]/g, (d) => String('٠١٢٣٤٥٦٧٨٩'.indexOf(d))).toLowerCase();

const day = 86_400_000;
const categories = ['arabic_hits', 'english', 'arabic_hits', 'mashups', 'english', 'arabic_hits', 'shorts', 'jingles'];
const artists = [['أم كلثوم', 'umm kulthum'], ['Amal Haddad', ''], ['فرقة النيل', 'nile band'], ['DJ Zein × مريم', ''], ['The Paper Lanterns', ''], ['سلمى الحديدي', 'salma el hadidi'], ['راديو الحارة', ''], ['', '']] as const;
const titles = ['ليل القاهرة', 'Slow River', 'إنت عمري', 'رمل وبحر (Remix)', 'Harbour Lights', 'يا مسافر وحدك', 'حكاية قصيرة', 'هوية المحطة'];
const albums = ['ليالي', 'River Songs', '', 'ميكسات', 'Lamps', 'سفر', '', ''];
const genres = ['طرب', 'folk', 'طرب', 'dance', 'indie', 'طرب', 'spoken', ''];

/** A track with what its file says and what the operator says over it. */
export class Kept {
  note: Note = {};
  readonly path: string;
  readonly file: Track;
  readonly #latin: string;
  #seen: Track | null = null;
  #words = '';

  constructor(file: Track, latin: string) {
    [this.path, this.file, this.#latin] = [file.path, file, latin];
  }

  say(set: Change): void {
    const note: Record<string, unknown> = { ...this.note };
    for (const [field, value] of Object.entries(set)) {
      if (value === null) delete note[field];
      else note[field] = value;
    }
    [this.note, this.#seen, this.#words] = [note as Note, null, ''];
  }

  seen(): Track {
    const { title, artist, album, genre, category, cover, cueInMs, cueOutMs, limits } = this.note;
    const { file } = this;
    return (this.#seen ??= {
      ...file, title: title ?? file.title, artist: artist ?? file.artist, album: album ?? file.album, genre: genre ?? file.genre, category: category ?? file.category, cover: cover ?? file.cover,
      edited: [title, artist, album, genre, category].some((said) => said !== undefined), cut: cueInMs !== undefined || cueOutMs !== undefined, limited: limits !== undefined,
    });
  }

  words(): string {
    const { title, artist, album, genre, path } = this.seen();
    return (this.#words ||= folded([title, artist, album, genre, path, this.#latin, this.note.titleLatin, this.note.artistLatin, ...(this.note.aliases ?? [])].join(' ')));
  }
}

/** So many tracks, the same ones each time. */
export function made(n: number, more: Partial<Track> = {}): Kept[] {
  const now = Date.now();
  return Array.from({ length: n }, (_, i) => {
    const [artist, latin] = artists[i % 8]!;
    const category = categories[i % 8]!;
    const title = i < 8 ? titles[i]! : `${titles[i % 8]} ${i}`;
    const state = i % 97 === 41 ? 'refused' : i % 61 === 17 ? 'waiting' : 'airs';
    return new Kept({
      path: `${category}/${title.replaceAll(' ', '_')}.mp3`, title, artist, album: albums[i % 8]!, genre: genres[i % 8]!, category, durationMs: category === 'jingles' ? 6000 : 150_000 + ((i * 7919) % 140_000), addedAt: now - (i % 400) * day - 3_600_000,
      airedAt: i % 5 === 0 ? 0 : now - (i % 90) * 3_600_000 - 60_000, plays: i % 5 === 0 ? 0 : i % 4, license: i % 3 ? 'CC BY 3.0' : '', size: 3_000_000 + ((i * 104_729) % 6_000_000), state,
      reason: state === 'refused' ? 'it is silent' : state === 'waiting' ? 'its levelled copy is being made' : '', edited: false, cut: false, limited: false, cover: '', ...more,
    }, latin);
  });
}
