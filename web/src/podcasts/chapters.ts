import type { Chapter } from './answers';

/** Which chapter a second is in; -1: before the first, or there is none. */
export function chapterAt(chapters: readonly Chapter[], seconds: number): number {
  let found = -1;
  for (let i = 0; i < chapters.length && chapters[i]!.startMs <= seconds * 1000 + 1; i++) found = i;
  return found;
}

/** Where a step to another chapter leads: back to the beginning of this one first, as with songs. */
export function chapterBeside(chapters: readonly Chapter[], seconds: number, step: 1 | -1): number | null {
  const now = chapterAt(chapters, seconds);
  const early = now >= 0 && seconds - chapters[now]!.startMs / 1000 < 3;
  const next = step === 1 ? now + 1 : early ? now - 1 : now;
  return next < chapters.length ? (chapters[Math.max(0, next)]?.startMs ?? 0) / 1000 : null;
}
