import type { Language } from '../text/format';
import { arPlaylists } from './playlists.ar';
import { enPlaylists, type PlaylistWords } from './playlists.en';

export const playlistWords: Record<Language, PlaylistWords> = { ar: arPlaylists, en: enPlaylists };
