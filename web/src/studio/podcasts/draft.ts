import type { Keep, Kind, Own, OwnEpisode } from './answers';
import { most } from './answers';

/** Parts of a show by which a change is told. */
export const parts = ['title', 'description', 'language', 'author', 'email', 'copyright', 'categories', 'explicit', 'serial', 'locked', 'from', 'held', 'keep', 'on'] as const;
export type Part = (typeof parts)[number];

const alike = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The draft as it is sent. */
export function sent(own: Own): Own {
  const { from, keep } = own;
  return {
    slug: own.slug.trim(), on: own.on, title: own.title.trim(), description: own.description.trim(), language: own.language.trim(), author: own.author.trim(), email: own.email.trim(), copyright: own.copyright.trim(),
    categories: own.categories.filter(Boolean), explicit: own.explicit, serial: own.serial, locked: own.locked,
    from: { kind: from.kind, streams: [...from.streams], types: [...from.types], shortest: from.shortest },
    held: own.held, keep: { episodes: keep.episodes, days: keep.days, megabytes: keep.megabytes },
  };
}

/** The parts in which two shows differ. */
export function changed(a: Own, b: Own): Part[] {
  const [from, to] = [sent(a), sent(b)];
  return parts.filter((part) => !alike(from[part], to[part]));
}

/** What was changed here, over what somebody else made of the same show. */
export function merged(base: Own, mine: Own, theirs: Own): Own {
  const [was, here, there] = [sent(base), sent(mine), sent(theirs)];
  const pick = <P extends keyof Own>(part: P): Own[P] => (alike(was[part], here[part]) ? there[part] : mine[part]);
  return {
    slug: there.slug, on: pick('on'), title: pick('title'), description: pick('description'), language: pick('language'), author: pick('author'), email: pick('email'), copyright: pick('copyright'),
    categories: pick('categories'), explicit: pick('explicit'), serial: pick('serial'), locked: pick('locked'), from: pick('from'), held: pick('held'), keep: pick('keep'),
  };
}

export type FaultCode = 'title' | 'slug' | 'slugTaken' | 'email' | 'category' | 'language' | 'number';

/** What the station would refuse, by the path of the field. */
export function faultsIn(own: Own, taken: readonly string[] = []): Map<string, FaultCode> {
  const found = new Map<string, FaultCode>();
  if (!own.title.trim()) found.set('title', 'title');
  if (!slugFits(own.slug.trim())) found.set('slug', 'slug');
  else if (taken.includes(own.slug.trim())) found.set('slug', 'slugTaken');
  if (own.email.trim() && !/^[^\s@<>]+@[^\s@<>]+\.[^\s@<>]+$/.test(own.email.trim())) found.set('email', 'email');
  if (own.categories.filter(Boolean).length === 0) found.set('categories', 'category');
  if (!/^[a-z]{2,3}(-[a-z\d]{2,8})*$/i.test(own.language.trim())) found.set('language', 'language');
  for (const field of ['episodes', 'days', 'megabytes'] as const) if (!whole(own.keep[field])) found.set(`keep.${field}`, 'number');
  if (!whole(own.from.shortest)) found.set('from.shortest', 'number');
  return found;
}

const whole = (n: number): boolean => Number.isInteger(n) && n >= 0 && n <= 1_000_000;

export const slugFits = (slug: string): boolean => /^[a-z\d]+(-[a-z\d]+)*$/.test(slug) && slug.length <= most.slug;

/** Arabic letters as they are usually written in addresses. */
const latin: Record<string, string> = {
  ا: 'a', أ: 'a', إ: 'i', آ: 'a', ب: 'b', ت: 't', ث: 'th', ج: 'g', ح: 'h', خ: 'kh', د: 'd', ذ: 'z', ر: 'r', ز: 'z', س: 's', ش: 'sh', ص: 's', ض: 'd', ط: 't', ظ: 'z', ع: 'a', غ: 'gh', ف: 'f', ق: 'q', ك: 'k', ل: 'l', م: 'm', ن: 'n', ه: 'h', و: 'w', ي: 'y', ى: 'a', ة: 'a', ئ: 'e', ؤ: 'o', پ: 'p', چ: 'ch', ڤ: 'v', گ: 'g',
};
/** Vowels that are written as letters stand between consonants. */
const vowels: Record<string, string> = { و: 'o', ي: 'i' };

/** An address made of a title: Arabic is written in Latin letters, with a vowel where it writes none. */
export function slugOf(title: string): string {
  const plain = title.toLowerCase().normalize('NFKC').replace(/[\u064b-\u0652\u0640ء]/g, '').split(/\s+/).map(written).join('-');
  const slug = plain.normalize('NFKD').replace(/[\u0300-\u036f'’]/g, '').replace(/[^a-z\d]+/g, '-').replace(/^-+|-+$/g, '');
  return slug.slice(0, 40).replace(/-+$/, '');
}

function written(word: string): string {
  const [, article = '', rest = word] = /^(ال)?(.+)$/.exec(word) ?? [];
  const letters = [...rest];
  const out = letters.map((letter, i) => {
    const follows = i > 0 && /[\u0621-\u064a]/.test(letters[i - 1] ?? '') && !/[اويى]/.test(letters[i - 1] ?? '');
    return follows && vowels[letter] ? vowels[letter] : (latin[letter] ?? letter);
  });
  const consonant = (i: number): boolean => latin[letters[i] ?? ''] !== undefined && !/^[aeiou]/.test(out[i] ?? '');
  if (consonant(0) && consonant(1)) out[0] += 'a';
  return (article ? 'al-' : '') + out.join('');
}

/** What stands in the address of a show whose title nobody has written. */
export const usualSlug = { live: 'live', bulletins: 'news', posts: 'listeners', library: 'shows' } as const satisfies Record<Kind, string>;

/** The same, with a number where it is taken. */
export function freeSlug(slug: string, taken: readonly string[]): string {
  for (let n = 1; ; n++) {
    const tried = n === 1 ? slug : `${slug}-${n}`;
    if (!taken.includes(tried)) return tried;
  }
}

/** What a new show of a kind begins with; its texts are the page's. */
export function fresh(kind: Kind, texts: { title: string; description: string; language: string; slug: string }): Own {
  const bounds: Record<Kind, Keep> = {
    live: { episodes: 0, days: 0, megabytes: 0 },
    bulletins: { episodes: 0, days: 14, megabytes: 0 }, // yesterday's news is heard, last month's is not
    posts: { episodes: 0, days: 0, megabytes: 0 },
    library: { episodes: 0, days: 0, megabytes: 0 },
  };
  return {
    ...texts, on: true, author: '', email: '', copyright: '', categories: [kind === 'bulletins' ? 'News > Daily News' : 'Music'], explicit: false, serial: false, locked: false,
    from: { kind, streams: [], types: [], shortest: kind === 'live' ? 300 : 0 }, // shorter ones were only tried
    held: false, keep: bounds[kind],
  };
}

/** Those that go when a show is bounded so, the oldest first: what is pinned stays, and counts for nothing. As internal/podcast/keep.go has it. */
export function goes(episodes: readonly OwnEpisode[], keep: Keep, now: number): OwnEpisode[] {
  const age = ({ publishedAt, beganAt }: OwnEpisode): number => publishedAt || beganAt;
  const kept = episodes.filter(({ state, pinned }) => !pinned && (state === 'published' || state === 'held' || state === 'hidden')).sort((a, b) => age(b) - age(a) || b.number - a.number);
  let bytes = 0;
  const gone = kept.filter((one, newer) => {
    const over = (keep.episodes > 0 && newer >= keep.episodes) || (keep.days > 0 && age(one) < now - keep.days * 86_400_000) || (keep.megabytes > 0 && bytes + one.bytes > keep.megabytes * 1e6);
    if (!over) bytes += one.bytes;
    return over;
  });
  return gone.reverse();
}
