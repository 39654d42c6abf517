import { plain } from '../text/bidi';

/** Lines as they were written, each without what could reorder its surroundings; no more than one empty line together. */
export function lines(text: string): string {
  return text
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map(plain)
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

export interface Part {
  text: string;
  /** Where the part leads; absent for words. */
  href?: string | undefined;
}

const link = /https?:\/\/[^\s<>"'\u0000-\u001f]+/giu;
const trailing = /[.,;:!?)\]}'"،؛؟»]+$/u;

/** A text as words and links. Only whole http and https addresses become links. */
export function partsOf(text: string): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const found of text.matchAll(link)) {
    const shown = found[0].replace(trailing, '');
    if (!URL.canParse(shown)) continue;
    if (found.index > from) parts.push({ text: text.slice(from, found.index) });
    parts.push({ text: shown, href: new URL(shown).href });
    from = found.index + shown.length;
  }
  if (from < text.length) parts.push({ text: text.slice(from) });
  return parts;
}
