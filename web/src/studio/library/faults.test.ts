import { expect, it } from 'vitest';
import { Problem } from '../../station/control';
import { faultsOf, patchOf } from './faults';

it('faults stand under their fields, in the page’s language where the station has it', () => {
  const problem = new Problem(422, 'validation failed', [{ location: 'body.set.limits.until', message: 'must not be before the first' }], 0, { code: 'field', en: 'limits.until must not be before the first', ar: 'آخر يوم قبل أول يوم' });
  expect(faultsOf(problem, 'en')).toEqual({ 'limits.until': 'must not be before the first' });
  expect(faultsOf(problem, 'ar')).toEqual({ 'limits.until': 'آخر يوم قبل أول يوم' });
  expect(faultsOf(new Problem(422, 'too many tracks'), 'ar')).toEqual({ '': 'too many tracks' });
});

it('a change is a merge patch: what is taken away is named', () => {
  expect(patchOf({ title: 'x', artist: '', aliases: [], genre: null, limits: { perDay: 2 } })).toEqual({ title: 'x', artist: null, aliases: null, genre: null, limits: { from: null, until: null, hours: null, perDay: 2, restMinutes: null } });
  expect(patchOf({ limits: null })).toEqual({ limits: null });
});
