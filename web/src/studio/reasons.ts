import type { ControlWords } from '../i18n/control.en';
import { plain } from '../text/bidi';

type Reasons = ControlWords['reasons'];

/** The reasons that the planner and the scheduler give (Why.reason, Plan.reason), and how the pages say them. */
const known: readonly [RegExp, (r: Reasons, say: Sayer, ...parts: string[]) => string][] = [
  [/^chosen by the operator$/, (r) => r.operator],
  [/^the best of (\w+), which the operator chose$/, (r, say, c) => r.operatorCategory(say.category(c))],
  [/^the newest bulletin$/, (r) => r.bulletin],
  [/^supplement from arabic_hits: (\w+) is short of tracks$/, (r, say, c) => r.supplement(say.category(c))],
  [/^(\w+) in place of (\w+), which is short of tracks$/, (r, say, c, w) => r.inPlace(say.category(c), say.category(w))],
  [/^not aired of late; one of (\d+) in (\w+)$/, (r, say, n, c) => r.rested(say.digits(n), say.category(c))],
  [/^turn (\d+); one of (\d+) in (\w+)$/, (r, say, t, n, c) => r.turn(say.digits(t), say.digits(n), say.category(c))],
  [/^fills (\S+) before a timed event$/, (r, say, gap) => r.fills(say.duration(gap))],
  [/^timed event of (\S+), planned (\S+) off$/, (r, say, due, off) => r.timed(say.digits(due), say.duration(off))],
  [/^from a listener, the best of (\d+)$/, (r, say, n) => r.post(say.digits(n))],
  [/^asked for by a listener$/, (r) => r.request],
  [/^a listener's entry was heard early$/, (r) => r.early],
  [/^restart$/, (r) => r.restart],
  [/^content purged$/, (r) => r.purged],
  [/^forced$/, (r) => r.forced],
  [/^play$/, (r) => r.play],
  [/^buffer is empty$/, (r) => r.buffer],
  [/^(\d+) of (\d+) consumed$/, (r, say, n, of) => r.consumed(say.digits(n), say.digits(of))],
  [/^mix$/, (r) => r.mix],
  [/^clocks$/, (r) => r.clocks],
  [/^playlist "(.+)", (\d+) of (\d+)$/, (r, say, name, n, of) => r.listPlace(say.name(name), say.digits(n), say.digits(of))],
  [/^playlist "(.+)", by turns$/, (r, say, name) => r.listTurn(say.name(name))],
  [/^playlist "(.+)", shuffled$/, (r, say, name) => r.listShuffled(say.name(name))],
  // What airs in its place follows, in the planner's words for it.
  [/^no playlist is called "(.+?)": (.+)$/, (r, say, name = '', rest = '') => r.listUnknown(say.name(name), reasonWords(rest, r, say))],
  [/^playlist "(.+?)" has nothing that may air now: (.+)$/, (r, say, name = '', rest = '') => r.listEmpty(say.name(name), reasonWords(rest, r, say))],
  [/^playlists by time$/, (r) => r.lists],
  [/^library has grown$/, (r) => r.grown],
  [/^a planned track was edited$/, (r) => r.edited],
  [/^queued$/, (r) => r.queued],
  [/^outdated bulletin withdrawn$/, (r) => r.outdated],
  [/^the playout engine could not open it, or found no sound in it$/, (r) => r.unplayable],
  [/^its file has left the library$/, (r) => r.gone],
  [/^daypart (.+)$/, (r, say, key) => r.daypart(say.daypart(key))],
  [/^timed event off by (\S+)$/, (r, say, off) => r.offTime(say.duration(off))],
];

export interface Sayer {
  category: (name?: string) => string;
  digits: (text?: string) => string;
  /** What the operator called something, in a sentence. */
  name: (text?: string) => string;
  /** A daypart's key: a built-in name, open, or custom:<start>-<end>:<hard>:<weights>. */
  daypart: (key?: string) => string;
  /** A duration as Go writes it: 1m30s, -4s. */
  duration: (text?: string) => string;
}

/** A reason in the page's language; one it does not know in the station's own words. */
export function reasonWords(reason: string, reasons: Reasons, say: Sayer): string {
  for (const [pattern, words] of known) {
    const found = pattern.exec(reason);
    if (found) return words(reasons, say, ...found.slice(1));
  }
  return plain(reason);
}

/** Milliseconds of a duration as Go writes it; NaN where it is none. */
export function goDuration(text: string): number {
  const found = /^(-?)(?:(\d+)h)?(?:(\d+)m)?(?:([\d.]+)s)?$/.exec(text);
  if (!found || text.replace('-', '') === '') return Number.NaN;
  const [, sign, h = 0, m = 0, s = 0] = found;
  return (sign ? -1 : 1) * (Number(h) * 3600 + Number(m) * 60 + Number(s)) * 1000;
}
