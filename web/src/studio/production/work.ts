import { plural, type Forms } from '../../i18n/choose';
import type { ProductionWords } from '../../i18n/production.en';
import { count, type Language } from '../../text/format';
import type { BulletinMade, Count, Health, ImagingMade, Job, Plan, Restored, Run, Scrubbed } from './answers';

/** Whether nothing more will happen to a job. */
export function isFinal(job: Pick<Job, 'state'>): boolean {
  return job.state !== 'queued' && job.state !== 'running';
}

/** Milliseconds until the jobs are asked for again while the section is open. */
export function pace(jobs: readonly Job[], visible: boolean): number {
  return visible || jobs.some((job) => !isFinal(job)) ? 1000 : 10_000;
}

/** How long a job has run, or waited where it has not begun; milliseconds. */
export function elapsed(job: Job, now: number): number {
  const from = job.startedAt || job.queuedAt;
  return Math.max(0, (isFinal(job) ? job.endedAt || from : now) - from);
}

/** How much of its step a job has done, 0 to 1; null while that is not known. */
export function fraction({ progress, state }: Job): number | null {
  if (state === 'done') return 1;
  return progress.total > 0 ? Math.min(1, Math.max(0, progress.done / progress.total)) : null;
}

/** The newest job of some kinds; the list is newest first. */
export function newest(jobs: readonly Job[], kinds: readonly string[]): Job | undefined {
  return jobs.find((job) => kinds.includes(job.kind));
}

/** What the categories of a run add up to. */
export function totals(categories: Record<string, Count> | null | undefined) {
  const sum = { added: 0, refused: 0, failed: 0, archived: 0, kept: 0, restored: 0 };
  for (const one of Object.values(categories ?? {})) {
    for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += one[name] ?? 0;
  }
  return sum;
}

/** How a source stands: what is wrong comes before what was once well. */
export function healthOf(source: Health): 'unavailable' | 'failing' | 'well' | 'unused' {
  if (source.unavailable) return 'unavailable';
  if (source.lastError) return 'failing';
  return source.lastOk > 0 ? 'well' : 'unused';
}

type Said = readonly [label: string, n: number];

/** What came of a job in a line, its counts in the grammar of the language; empty where there is nothing to say. */
export function summary(job: Pick<Job, 'kind' | 'result'>, words: ProductionWords, language: Language): string {
  if (!job.result || typeof job.result !== 'object') return '';
  return counts(job, words)
    .map(([label, n]) => words.sum.line(label, files(n, words.files, language)))
    .join(' · ');
}

export function files(n: number, forms: Forms, language: Language): string {
  return plural(n, forms, language, count(n, language));
}

function counts({ kind, result }: Pick<Job, 'kind' | 'result'>, { sum }: ProductionWords): Said[] {
  const some = (said: Said[]) => said.filter(([, n]) => n > 0);
  const size = (list: readonly unknown[] | null | undefined) => list?.length ?? 0;
  switch (kind) {
    case 'bulletin': {
      const made = result as BulletinMade;
      return some([[sum.made, made.file ? 1 : 0], [sum.archived, made.archived]]);
    }
    case 'imaging':
    case 'sweepers':
    case 'stingers': {
      const made = result as ImagingMade;
      return [[sum.made, size(made.made)], ...some([[sum.failed, size(made.failed)], [sum.archived, made.archived], [sum.kept, made.kept]])];
    }
    case 'content plan': {
      const plan = result as Plan;
      return [[sum.tried, size(plan.fetch) + size(plan.inbox)], [sum.leaving, size(plan.archive)], ...some([[sum.returning, size(plan.restore)]])];
    }
    case 'content restore': {
      const restored = result as Restored;
      return [[sum.restored, restored.total], ...some([[sum.missing, size(restored.missing)], [sum.inTheWay, size(restored.inTheWay)]])];
    }
    case 'content scrub': {
      const scrubbed = result as Scrubbed;
      return [[sum.checked, scrubbed.checked], [sum.junk, size(scrubbed.junk)], ...some([[sum.archived, size(scrubbed.archived)], [sum.kept, size(scrubbed.kept)]])];
    }
    case 'content refresh':
    case 'content fetch':
    case 'inbox': {
      const run = result as Run;
      const all = totals(run.categories);
      return [[sum.added, all.added], ...some([[sum.imaging, run.imaging], [sum.refused, all.refused], [sum.failed, all.failed], [sum.archived, all.archived], [sum.restored, all.restored]])];
    }
    default:
      return [];
  }
}
