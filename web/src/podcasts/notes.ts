import { webAddress } from '../look/links';
import { plain } from '../text/bidi';

/** A piece of a line: text, or a link to another site. */
export interface Piece {
  text: string;
  href: string;
}

const address = /https?:\/\/[^\s<>"'`«»“”\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]+/gi;
/** What ends a sentence rather than an address. */
const trailing = /[.,;:!?…،؛؟\]}]+$/;

/**
 * What an operator or a listener wrote about an episode, by lines. It is text wherever it comes from;
 * whole addresses of the web become links, but none that names a user before its host, which would
 * read as another site than it leads to.
 */
export function linesOf(text: string): Piece[][] {
  return text.split(/\r\n?|\n/).map(plain).filter(Boolean).map(pieces);
}

function pieces(line: string): Piece[] {
  const out: Piece[] = [];
  let from = 0;
  for (const found of line.matchAll(address)) {
    const text = trimmed(found[0]);
    const url = webAddress(text);
    if (!url || url.username || url.password || !url.hostname.includes('.')) continue;
    if (found.index > from) out.push({ text: line.slice(from, found.index), href: '' });
    out.push({ text, href: url.href });
    from = found.index + text.length;
  }
  if (from < line.length) out.push({ text: line.slice(from), href: '' });
  return out;
}

function trimmed(text: string): string {
  let out = text.replace(trailing, '');
  while (out.endsWith(')') && out.split(')').length > out.split('(').length) out = out.slice(0, -1).replace(trailing, '');
  return out;
}
