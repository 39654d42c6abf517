import type { ProgrammeWords } from '../../i18n/programme.en';
import { plain } from '../../text/bidi';

type Faults = ProgrammeWords['faults'];

const known: readonly [RegExp, (f: Faults, digits: (text: string) => string, ...parts: string[]) => string][] = [
  [/^must be (\S+) to ([\d.:]+)/, (f, d, from, to) => f.range(d(from), d(to))],
  [/^must be 0 to (\d+) hours/, (f, d, n) => f.hours(d(n))],
  [/^must be (\d+) \(off\) to (\d+)$/, (f, d, from, to) => f.range(d(from), d(to))],
  [/^must be 0 \(none\), or (\d+) to (\d+)$/, (f, d, from, to) => f.noneOr(d(from), d(to))],
  [/^must be at least ([\d.]+)$/, (f, d, n) => f.atLeast(d(n))],
  [/^must be .*HH:MM/, (f) => f.time],
  [/MM:SS/, (f) => f.offset],
  [/differ from the other clocks/, (f) => f.unique],
  [/later than the timed event before/, (f) => f.later],
  [/a timed event is one entry/, (f) => f.single],
  [/a break cannot be timed/, (f) => f.noBreak],
  [/^needs a position$/, (f) => f.position],
  [/^needs one weight above 0$/, (f) => f.weight],
  [/the name of a daypart/, (f) => f.daypart],
  [/^overlaps (.+) \((\S+) to ([\d:]+)/, (f, d, name, from, to) => f.overlap(plain(name), `${d(from)}–${d(to)}`)],
  [/^must be 1 to 60 bytes$/, (f) => f.name],
];

/** What is wrong with a value in the page's language; what it does not know in the station's own words. */
export function faultWords(message: string, faults: Faults, digits: (text: string) => string): string {
  // The last that fits counts: it is the more exact one.
  for (const [pattern, words] of [...known].reverse()) {
    const found = pattern.exec(message);
    if (found) return words(faults, digits, ...found.slice(1));
  }
  return plain(message);
}
