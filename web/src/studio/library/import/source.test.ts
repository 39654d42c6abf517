import { describe, expect, it } from 'vitest';
import { arImport } from '../../../i18n/import.ar';
import { enImport } from '../../../i18n/import.en';
import type { Job } from '../../production/answers';
import type { Plan } from './answers';
import { addressOf, bringsAny, failureOf, faultsHere, fileFault, freshSource, givenOf, jobToFollow, keptOf, mostBytes, orderOf, phaseOf, sourceOf, stageState, stationsOf, sumOf } from './source';

const held = { file: 'f1', name: 'b.zip', size: 10 };
const job = (id: string, kind: string, state: Job['state']): Job => ({ id, kind, state, lane: 'import', queuedAt: 0, startedAt: 0, endedAt: 0, progress: { step: '', detail: '', done: 0, total: 0 } });

describe('a source', () => {
  it('says what is missing before the station is asked', () => {
    const at = { ...freshSource(), way: 'address' as const, address: 'radio.example.org' };
    expect(faultsHere(freshSource(), null, false)).toEqual({ file: 'file' });
    expect(faultsHere(freshSource(), null, true)).toEqual({ file: 'uploading' });
    expect(faultsHere(freshSource(), held, false)).toEqual({});
    expect(faultsHere({ ...at, address: 'ftp://x' }, null, false)).toEqual({ address: 'address', key: 'key' });
    expect(faultsHere({ ...at, system: 'libretime' }, null, false)).toEqual({ key: 'either' });
    expect(faultsHere({ ...at, system: 'libretime', user: 'admin' }, null, false)).toEqual({ password: 'password' });
    expect(faultsHere({ ...at, key: 'k' }, held, false)).toEqual({});
  });

  it('is ordered with what belongs to it, and nothing left from another choice', () => {
    const all = { ...freshSource(), address: 'https://a.example/', key: ' k ', user: 'u', password: ' p ', station: 'Nile' };
    expect(orderOf(all, held)).toEqual({ system: 'azuracast', file: 'f1', station: 'Nile' });
    expect(orderOf({ ...all, way: 'address' }, held)).toEqual({ system: 'azuracast', address: 'https://a.example', key: 'k', station: 'Nile' });
    expect(orderOf({ ...all, way: 'address', system: 'libretime', key: '' }, held)).toEqual({ system: 'libretime', address: 'https://a.example', user: 'u', password: ' p ' });
    expect(orderOf(freshSource(), null)).toBeNull();
  });

  it('is kept without its secrets, and read again whatever it has become', () => {
    const all = { ...freshSource(), way: 'address' as const, address: 'a.example', key: 'secret', user: 'u', password: 'secret' };
    expect(JSON.stringify(keptOf(all))).not.toContain('secret');
    expect(sourceOf(keptOf(all))).toMatchObject({ way: 'address', address: 'a.example', user: 'u', key: '' });
    for (const odd of [null, 4, 'x', [], { system: 'other', way: 7, address: {} }]) expect(sourceOf(odd)).toEqual(freshSource());
    expect(sourceOf({ key: 'k', password: 'p' })).toEqual(freshSource());
  });

  it('has its address as it is meant, and files that may be one', () => {
    expect([' radio.example.org/ ', 'http://10.0.0.1:8080//', '', 'HTTPS://A'].map(addressOf)).toEqual(['https://radio.example.org', 'http://10.0.0.1:8080', '', 'HTTPS://A']);
    expect([0, 1, mostBytes, mostBytes + 1].map((size) => fileFault({ size }))).toEqual(['empty', '', '', 'large']);
  });
});

describe('a job', () => {
  it('puts its own step on the page', () => {
    expect(phaseOf(null)).toBe('source');
    expect((['queued', 'running', 'done', 'failed', 'cancelled', 'interrupted'] as const).map((state) => phaseOf(job('1', 'import plan', state)))).toEqual(['planning', 'planning', 'plan', 'source', 'source', 'source']);
    expect((['queued', 'running', 'done', 'failed', 'cancelled', 'interrupted'] as const).map((state) => phaseOf(job('1', 'import', state)))).toEqual(['run', 'run', 'report', 'report', 'report', 'report']);
  });

  it('is found again after a reload: an import that runs before all others', () => {
    const all = [job('4', 'imaging', 'running'), job('3', 'import plan', 'running'), job('2', 'import', 'running'), job('1', 'import', 'done')];
    expect(jobToFollow(all, '1')?.id).toBe('2');
    expect(jobToFollow(all.filter(({ id }) => id !== '2'), '1')?.id).toBe('3');
    expect(jobToFollow([job('1', 'import', 'done')], '1')?.id).toBe('1');
    expect(jobToFollow([job('1', 'import', 'done')], '')).toBeUndefined();
    expect(jobToFollow([job('4', 'imaging', 'running')], '4')).toBeUndefined();
  });

  it('says why it failed in the language of the page, else as it stands', () => {
    const said = { en: 'no', ar: 'لا' };
    expect(failureOf({ error: 'x', result: { reason: said } }, 'ar')).toBe('لا');
    expect(failureOf({ error: 'x', result: { problem: said } }, 'en')).toBe('no');
    expect(failureOf({ error: 'x', result: { problem: 'text' } }, 'ar')).toBe('x');
    expect(failureOf({ result: null }, 'ar')).toBe('');
  });

  it('has its stages behind it, before it, and one under way', () => {
    expect(['files', 'notes', 'webhooks'].map((stage) => stageState(stage, 'notes'))).toEqual(['done', 'now', 'later']);
    expect(stageState('files', '')).toBe('later');
  });
});

it('an import that would do nothing is known', () => {
  const plan: Plan = { system: 'AzuraCast', name: '', tracks: { bring: 0, there: 4, not: 1, bytes: 0 }, people: [{ login: 'a', name: '', do: 'there' }] };
  expect(bringsAny(plan)).toBe(false);
  expect(bringsAny({ ...plan, webhooks: [{ name: '', type: '', do: 'bring' }] })).toBe(true);
  expect(sumOf([{ do: 'bring' }, { do: 'not' }, { do: 'not' }])).toEqual({ bring: 1, there: 0, not: 2 });
});

it('links and secrets are those of the report, the newest of each', () => {
  const link = (login: string, token: string) => ({ login, token, until: 1 });
  const hook = (address: string, secret: string) => ({ address, secret });
  const given = { invited: [link('a', '1'), link('b', '2'), link('a', '3')], webhooks: [hook('https://x.example/p', 'old'), hook('https://x.example/p', 's'), hook('https://x.example.org/p', 'other'), hook('https://y.example', 'r')] };
  expect(givenOf({ invited: [{ login: 'a', until: 1 }, { login: 'gone', until: 1 }], webhooks: ['https://x.example', 'https://y.example'] }, given)).toEqual({ invited: [link('a', '3')], webhooks: [hook('https://x.example/p', 's'), hook('https://y.example', 'r')] });
  expect(givenOf({}, {})).toEqual({ invited: [], webhooks: [] });
});

it('the stations to choose from are those of a look that failed', () => {
  const one = { ...job('1', 'import plan', 'failed'), result: { others: ['A', 4, 'B'] } };
  expect(stationsOf(one)).toEqual(['A', 'B']);
  expect([stationsOf({ ...one, state: 'done' }), stationsOf({ ...one, result: {} }), stationsOf(null)]).toEqual([[], [], []]);
});

it('both languages name the same', () => {
  const names = (words: object): string[] => Object.entries(words).flatMap(([name, value]) => (value && typeof value === 'object' ? names(value as object).map((below) => `${name}.${below}`) : [name]));
  expect(names(arImport).sort()).toEqual(names(enImport).sort());
});
