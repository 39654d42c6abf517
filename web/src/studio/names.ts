import { studioWords } from '../i18n/studio';
import type { Item } from '../station/api';
import { isMusic } from '../station/ear';
import { plain } from '../text/bidi';
import type { Language } from '../text/format';

type Named = Pick<Item, 'title' | 'artist' | 'file'> & { category?: string; type?: string };

/**
 * What the studio calls an entry. Imaging bears the same words as title and
 * artist, "Break", for the sake of players elsewhere; who works at the station
 * sees which piece it is, by its file's name.
 */
export function namesOf(item: Pick<Item, 'file'> & Partial<Named>, language: Language): { title: string; artist: string } {
  const [title, artist] = [plain(item.title ?? ''), plain(item.artist ?? '')];
  if (title === '') return { title: fileWords(item.file, language) || plain(item.file), artist };
  if (!isPlaceholder(title, artist, item)) return { title, artist };
  return { title: fileWords(item.file, language) || title, artist: '' };
}

function isPlaceholder(title: string, artist: string, { category = '', type = '' }: Partial<Named>): boolean {
  const music = (category || type) !== '' && isMusic({ category, type });
  if (music) return false;
  return (title.toLowerCase() === 'break' && (artist === '' || artist.toLowerCase() === 'break')) || (artist !== '' && title === artist && (category || type) !== '');
}

/** The names that the station gives to what it makes; what follows is the time and a number of its own. */
const made: readonly [RegExp, 'intro' | 'vox' | 'songDrop' | 'voiceDrop' | 'id' | 'news'][] = [
  [/^SWP_INTRO(?=_|$)/, 'intro'], [/^SWP_VOX(?=_|$)/, 'vox'], [/^SWP_DROP_SONG(?=_|$)/, 'songDrop'], [/^SWP_DROP(_VOICE)?(?=_|$)/, 'voiceDrop'], [/^ID(?=_|$)/, 'id'], [/^NEWS_\d+$/, 'news'],
];
const stamp = /_?\d{8}T\d{6}_([0-9a-f]{4})[0-9a-f]{4}/;

/** A file's name as one would say it. */
export function fileWords(file: string, language: Language): string {
  const base = plain(file.split('/').at(-1) ?? '').replace(/\.[^.]+$/, '');
  const words = studioWords[language].control.imaging;
  const rest = (text: string) => text.replace(stamp, ' $1').replaceAll('_', ' ').trim();
  const named = (name: string, more: string) => [name, more].filter(Boolean).join(' · ');
  for (const [prefix, name] of made) if (prefix.test(base)) return named(words[name], rest(base.replace(prefix, '')));
  const effect = /^SFX_([A-Z_]+?)(?=_\d|$)(.*)$/.exec(base);
  if (effect) return named(words.effect(rest(effect[1] ?? '').toLowerCase()), rest(effect[2] ?? ''));
  return rest(base);
}
