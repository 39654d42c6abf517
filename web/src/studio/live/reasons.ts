import type { BroadcastWords } from '../../i18n/broadcast.en';
import { clock, type Language } from '../../text/format';
import { plain } from '../../text/bidi';

type Reasons = BroadcastWords['reasons'];

/** A duration as Go writes it, in milliseconds: 3s, 1m30s, 2h0m0s. */
function milliseconds(text: string): number {
  const units: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };
  let sum = 0;
  for (const [, n, unit] of text.matchAll(/([\d.]+)(h|ms|m|s)/g)) sum += Number(n) * units[unit!]!;
  return sum;
}

/** Reasons that hold a time. */
const timed: [RegExp, 'late' | 'noAudio' | 'silent' | 'wentOn'][] = [
  [/^no audio came within ([\d.hms]+)$/, 'late'],
  [/^no audio came for ([\d.hms]+)$/, 'noAudio'],
  [/^nothing was heard for ([\d.hms]+)$/, 'silent'],
  [/^went on after ([\d.hms]+)$/, 'wentOn'],
];

/**
 * Why a source left the air or failed, in the page's language. The desk and the control plane
 * say it in English; what is known to nobody here, such as the error of a server that was to
 * be heard, is shown as it came.
 */
export function reasonIn(why: string, reasons: Reasons, language: Language): string {
  const text = plain(why).replace(/^it (is gone|was interrupted): /, '');
  if (Object.hasOwn(reasons.said, text)) return reasons.said[text]!;
  for (const [form, name] of timed) {
    const found = form.exec(text);
    if (found) return reasons[name](clock(milliseconds(found[1]!), language));
  }
  const stopped = /^stopped at ([\d.hms]+): (.+)$/.exec(text);
  return stopped ? reasons.stopped(clock(milliseconds(stopped[1]!), language), reasonIn(stopped[2]!, reasons, language)) : text;
}

/** What is not right with a recording: one or more reasons. */
export function problemIn(problem: string, reasons: Reasons, language: Language): string {
  return problem
    .split('; ')
    .map((why) => reasonIn(why, reasons, language))
    .join(language === 'ar' ? '، ' : ', ');
}
