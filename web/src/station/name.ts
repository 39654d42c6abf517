import type { Status } from './api';
import { face } from './face';
import { plain } from '../text/bidi';
import type { Language } from '../text/format';

/** What the station is called: in the face that the page was served with, else in its status, else not at all yet. */
export function nameOf(language: Language, status: Status | null): string {
  return plain(face?.name[language] ?? '') || plain(status?.station.name ?? '');
}
