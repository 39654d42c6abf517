import { requestsWords } from '../i18n/requests';
import { explain } from '../live/explain';
import type { Problem } from '../station/control';
import { timeOfDay, type Language } from '../text/format';
import { relative } from '../text/measure';
import type { Asked } from './answers';
import { isOpen } from './order';
import { whenOf } from './rules';

/** Nearer than this it is told without minutes. */
const nearMs = 45_000;

/** Where one's own request stands: above all, when it will air. */
export function sayStanding(request: Asked, now: number, language: Language): string {
  const words = requestsWords[language].mine;
  const { status, expectedAt, airedAt } = request;
  if (isOpen(request)) {
    if (!expectedAt) return words.waiting;
    const time = whenOf(expectedAt, now, language);
    return expectedAt - now < nearMs ? words.moment(time) : words.expected(time, relative(expectedAt, now, language));
  }
  if (status === 'aired') return words.aired(timeOfDay(airedAt, language));
  return words[status as 'refused' | 'expired' | 'cancelled'] ?? words.withdrawn;
}

/** Why a request was not taken, or taken back, for reasons other than a rule. */
export function sayProblem(problem: Problem, language: Language): string {
  const words = requestsWords[language].problem;
  if (problem.status === 0) return words.offline;
  if (problem.status >= 500) return words.fault;
  if (problem.status === 404) return words.gone;
  if (problem.status === 409) return /switched off/.test(problem.detail) ? words.off : words.over;
  return explain(problem, language);
}
