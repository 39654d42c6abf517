import type { ControlWords } from '../i18n/control.en';
import { studioWords } from '../i18n/studio';
import { tongue } from '../i18n/tongue.svelte';
import { Problem } from '../station/control';
import { plain } from '../text/bidi';
import type { Language } from '../text/format';
import { hours } from '../text/measure';
import { NoKey } from './door.svelte';
import type { Toasts } from './toasts.svelte';

/** A refusal for a toast: what it means, and the station's own words behind it. */
export function problemWords(problem: Problem, words: ControlWords, language: Language): [string, { detail: string }] {
  const detail = plain([problem.detail, ...problem.fields.map((f) => `${f.location}: ${f.message}`)].filter(Boolean).join(' · '));
  if (problem.status === 429) return [words.tooMany(hours(problem.waitMs || 1000, language)), { detail: '' }];
  if (problem.reason) return [problem.reason[language], { detail: '' }];
  const said = words.refused[String(problem.status)] ?? (problem.status >= 500 ? words.refused['500'] : words.refused.other);
  return [said ?? '', { detail }];
}

/** Tells that an order was refused, or wants a key, and returns the toast's id. What is no word of the station's is a fault of the page, and thrown. */
export function sayRefused(toasts: Toasts, failure: unknown): number {
  const words = studioWords[tongue.language].control;
  if (failure instanceof NoKey) return toasts.say('note', failure.users ? words.noLogin : words.noKey);
  if (failure instanceof Problem) return toasts.say('bad', ...problemWords(failure, words, tongue.language));
  throw failure;
}
