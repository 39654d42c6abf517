import type { Word } from './answers';

/** The word list as an operator writes it: one a line, * for asterisks, ~ inside longer words. */
export function written(list: readonly Word[]): string {
  return list.map(({ word, action, stem }) => `${action === 'star' ? '*' : ''}${stem ? '~' : ''}${word}`).join('\n');
}

/** The same back; empty lines and repeated words fall away. */
export function listed(text: string): Word[] {
  const list = new Map<string, Word>();
  for (const line of text.split('\n')) {
    const [, marks = '', word = ''] = /^\s*([*~]*)\s*(.*?)\s*$/u.exec(line) ?? [];
    if (word && !list.has(word)) list.set(word, { word, action: marks.includes('*') ? 'star' : 'block', ...(marks.includes('~') ? { stem: true } : {}) });
  }
  return [...list.values()];
}

/** Without case, vowel marks and the hamza of an alef: as one searches. */
export function folded(text: string): string {
  return text.normalize('NFKD').replace(/[\p{M}ـ]/gu, '').toLowerCase();
}
