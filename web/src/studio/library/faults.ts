import type { Problem } from '../../station/control';
import type { Language } from '../../text/format';
import type { Change, Limits } from './answers';

/**
 * What is wrong, by field: the station names body.set.limits.until. Its
 * messages are English; where it has words of both languages for the one
 * fault, those are said. Without a field it stands under ''.
 */
export function faultsOf(problem: Problem, language: Language): Record<string, string> {
  const own = language === 'en' ? '' : problem.reason?.[language];
  const named = problem.fields.map(({ location, message }) => [location.replace(/^body\.set\.?/, ''), message] as const);
  if (named.length === 0) return { '': problem.reason?.[language] ?? problem.detail };
  return Object.fromEntries(named.length === 1 && own ? [[named[0]?.[0] ?? '', own]] : named);
}

const limitFields: readonly (keyof Limits)[] = ['from', 'until', 'hours', 'perDay', 'restMinutes'];

/** A change as a merge patch (RFC 7396): an emptied text goes back to the file's, and limits name what is taken away. */
export function patchOf(change: Change): Record<string, unknown> {
  return Object.fromEntries(Object.entries(change).map(([field, value]) => {
    if (field === 'limits' && value !== null) return [field, Object.fromEntries(limitFields.map((name) => [name, (value as Limits)[name] ?? null]))];
    return [field, value === '' || (Array.isArray(value) && value.length === 0) ? null : value];
  }));
}
