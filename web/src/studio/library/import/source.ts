import type { Language } from '../../../text/format';
import type { Job } from '../../production/answers';
import { isFinal } from '../../production/work';
import { stages, systems, type Do, type Held, type Plan, type Report, type Said, type Secrets, type System } from './answers';

/** Where a station is brought over from, as it is typed. */
export interface Source {
  system: System;
  way: 'file' | 'address';
  address: string;
  key: string;
  user: string;
  password: string;
  station: string;
}

export const mostBytes = 4 * 1024 ** 3;

export const freshSource = (): Source => ({ system: 'azuracast', way: 'file', address: '', key: '', user: '', password: '', station: '' });

export type Fault = 'file' | 'uploading' | 'empty' | 'large' | 'address' | 'key' | 'either' | 'password';

/** Why a file is not uploaded at all; empty where it may be a backup. */
export const fileFault = ({ size }: { size: number }): '' | 'empty' | 'large' => (size === 0 ? 'empty' : size > mostBytes ? 'large' : '');

/** What is missing before the station is asked, by its field. */
export function faultsHere(source: Source, held: Held | null, uploading: boolean): Partial<Record<'file' | 'address' | 'key' | 'password', Fault>> {
  if (source.way === 'file') return held ? {} : { file: uploading ? 'uploading' : 'file' };
  const faults: Partial<Record<'address' | 'key' | 'password', Fault>> = {};
  if (!/^https?:\/\/[^\s/]+/i.test(addressOf(source.address))) faults.address = 'address';
  if (source.key.trim()) return faults;
  if (source.system === 'azuracast') faults.key = 'key';
  else if (!source.user.trim()) faults.key = 'either';
  else if (!source.password) faults.password = 'password';
  return faults;
}

/** An address as it is meant: people leave out what their browser leaves out. */
export const addressOf = (typed: string): string => {
  const text = typed.trim().replace(/\/+$/, '');
  return text === '' || /^[a-z]+:\/\//i.test(text) ? text : `https://${text}`;
};

/** What the station is asked with; null where a part of it was not kept over a reload. */
export function orderOf(source: Source, held: Held | null): Record<string, string> | null {
  if (Object.keys(faultsHere(source, held, false)).length > 0) return null;
  const from: Record<string, string> = source.way === 'file' ? { file: held?.file ?? '' } : { address: addressOf(source.address), key: source.key.trim(), ...(source.system === 'libretime' && !source.key.trim() ? { user: source.user.trim(), password: source.password } : {}) };
  const all = { system: source.system, ...from, station: source.system === 'azuracast' ? source.station.trim() : '' };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
}

/** What may be kept in the browser: no secret. */
export const keptOf = (source: Source): Source => ({ ...source, key: '', password: '' });

/** What was kept, whatever it has become meanwhile. */
export function sourceOf(kept: unknown): Source {
  const said = (kept ?? {}) as Record<string, unknown>;
  const text = (name: string) => (typeof said[name] === 'string' ? (said[name] as string) : '');
  return { ...freshSource(), system: systems.find((one) => one === said.system) ?? 'azuracast', way: said.way === 'address' ? 'address' : 'file', address: text('address'), user: text('user'), station: text('station') };
}

export const planKind = 'import plan';
export const runKind = 'import';

export type Phase = 'source' | 'planning' | 'plan' | 'run' | 'report';

/** What a job puts on the page. */
export function phaseOf(job: Pick<Job, 'kind' | 'state'> | null): Phase {
  if (!job) return 'source';
  if (job.kind === planKind) return isFinal(job) ? (job.state === 'done' ? 'plan' : 'source') : 'planning';
  return isFinal(job) ? 'report' : 'run';
}

/** The job to follow after the page was loaded: one that runs, an import first; or the one that was looked at. */
export function jobToFollow(jobs: readonly Job[], kept: string): Job | undefined {
  const ours = jobs.filter(({ kind }) => kind === runKind || kind === planKind);
  const going = ours.filter((job) => !isFinal(job));
  return going.find(({ kind }) => kind === runKind) ?? going[0] ?? ours.find(({ id }) => id === kept);
}

/** Whether a stage of an import is over, under way, or still to come. */
export function stageState(stage: string, step: string): 'done' | 'now' | 'later' {
  const [at, now] = [stages.findIndex((one) => one === stage), stages.findIndex((one) => one === step)];
  return at < now ? 'done' : at === now ? 'now' : 'later';
}

/** Why a job failed, in the page's language where the station has it so. */
export function failureOf(job: Pick<Job, 'error' | 'result'>, language: Language): string {
  const result = (job.result ?? {}) as Record<string, unknown>;
  for (const said of [result.reason, result.problem, result]) {
    const words = said as Partial<Said> | null | undefined;
    if (words && typeof words[language] === 'string' && words[language]) return words[language];
  }
  return job.error ?? '';
}

/** How many of some things come, are here, and do not come. */
export function sumOf(things: readonly { do: Do }[]): Record<Do, number> {
  const sum = { bring: 0, there: 0, not: 0 };
  for (const thing of things) sum[thing.do]++;
  return sum;
}

/** Whether an import would do anything. */
export const bringsAny = (plan: Plan): boolean => plan.tracks.bring > 0 || [...(plan.playlists ?? []), ...(plan.people ?? []), ...(plan.webhooks ?? [])].some((thing) => thing.do === 'bring');

/** What a job says that ended; null where it says nothing of that kind. */
export const planOf = (job: Job | null): Plan | null => (job?.kind === planKind && typeof (job.result as Plan | undefined)?.tracks === 'object' ? (job.result as Plan) : null);
export const reportOf = (job: Job | null): Report | null => (job?.kind === runKind && typeof (job.result as Report | undefined)?.copied === 'number' ? (job.result as Report) : null);

/** The stations of a source, of which one must be chosen before anything else is known. */
export function stationsOf(job: Pick<Job, 'kind' | 'state' | 'result'> | null): string[] {
  const others = job?.kind === planKind && job.state === 'failed' ? (job.result as { others?: unknown } | undefined)?.others : null;
  return Array.isArray(others) ? others.filter((one): one is string => typeof one === 'string') : [];
}

/** What of all that imports gave belongs to a report: the newest link of each, and secrets by their servers. */
export function givenOf(report: Pick<Report, 'invited' | 'webhooks'>, { invited, webhooks }: Secrets): Required<{ [name in keyof Secrets]: NonNullable<Secrets[name]> }> {
  return {
    invited: (report.invited ?? []).flatMap(({ login }) => (invited ?? []).filter((one) => one.login === login).slice(-1)),
    webhooks: (webhooks ?? []).filter(({ address }, i, all) => all.findLastIndex((one) => one.address === address) === i && (report.webhooks ?? []).some((server) => address === server || address.startsWith(`${server}/`) || address.startsWith(`${server}?`))),
  };
}
