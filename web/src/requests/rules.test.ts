import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { requestsWords } from '../i18n/requests';
import { Problem } from '../station/control';
import { timeOfDay } from '../text/format';
import type { Asked, Shown } from './answers';
import { inOrder } from './order';
import { aboutSong, against, gateOf, mayAsk, merged, ruleOf, sayRule, whenOf } from './rules';
import { sayStanding } from './say';

const minute = 60_000;
const now = new Date(2026, 10, 21, 15, 0).getTime();
const shown = (id: number, more: Partial<Shown> = {}): Shown => ({ id, file: `${id}.mp3`, title: `t${id}`, artist: '', name: '', at: now - id, status: 'waiting', expectedAt: 0, airedAt: 0, ...more });
const asked = (id: number, more: Partial<Asked> = {}): Asked => ({ ...shown(id), mine: true, note: 'n', ...more });
const limits = { everyMs: 20 * minute, perDay: 5, queue: 3, nextAt: 0 };

describe('rules', () => {
  it('are those of the station, each with words of its own in both languages', () => {
    const source = readFileSync(new URL('../../../internal/audience/requests/decide.go', import.meta.url), 'utf8');
    const codes = [...source.matchAll(/^\t\w+ +Code = "(\w+)"/gm)].map(([, code]) => code as string);
    expect([...against, ...aboutSong]).toEqual(codes);
    for (const language of ['ar', 'en'] as const) expect(Object.keys(requestsWords[language].rules).sort()).toEqual([...codes].sort());
  });

  it('are said with their time in the page’s digits, and a new one in the station’s words', () => {
    const rule = { allowed: false, code: 'aired', en: 'x', ar: 'x', at: now + 50 * minute };
    expect(sayRule(rule, now, 'en')).toBe('Played recently. Again from 15:50');
    expect(sayRule(rule, now, 'ar')).toContain(timeOfDay(rule.at, 'ar'));
    expect(sayRule(rule, now + 60 * minute, 'en')).toBe('Played recently'); // a time that has passed says nothing
    expect(sayRule({ allowed: false, code: 'new', en: 'From 21:10', ar: 'من 21:10' }, now, 'ar')).toBe('من ٢١:١٠');
  });

  it('name the day where it is another', () => {
    expect(whenOf(now + 8 * 60 * minute, now, 'en')).toBe('23:00');
    expect(whenOf(now + 11 * 60 * minute, now, 'en')).toBe('2:00'); // tonight
    expect(whenOf(now + 17 * 60 * minute, now, 'en')).toBe('8:00 tomorrow');
    expect(whenOf(now + 41 * 60 * minute, now, 'en')).toBe('Monday 8:00');
    expect(whenOf(now + 17 * 60 * minute, now, 'ar')).toMatch(/غدًا$/);
    expect(whenOf(now + 9 * 24 * 60 * minute, now, 'en')).toMatch(/^(November 30|30 November) 15:00$/); // a weekday would be that of next week
  });

  it('pass with their time, but for those that say when the song comes', () => {
    expect(mayAsk({ allowed: false, code: 'aired', at: now }, now)).toBe(true);
    expect(mayAsk({ allowed: false, code: 'aired', at: now + 1 }, now)).toBe(false);
    expect(mayAsk({ allowed: false, code: 'coming', at: now - 1 }, now)).toBe(false);
    expect(mayAsk({ allowed: false, code: 'daypart' }, now)).toBe(false);
  });

  it('are read from a refusal, and from none that is about something else', () => {
    const reason = { code: 'asked', en: 'E', ar: 'ع', at: 42 };
    expect(ruleOf(new Problem(409, 'E', [], 0, reason))).toEqual({ allowed: false, code: 'asked', en: 'E', ar: 'ع', at: 42 });
    expect(ruleOf(new Problem(409, 'switched off'))).toBeNull();
    expect(ruleOf(new Problem(422, '', [], 0, reason))).toBeNull();
  });
});

it('what stands against any request is the door, then the queue, then one’s own turn', () => {
  const full = [shown(1, { expectedAt: now + 9 * minute, status: 'planned' }), shown(2), shown(3, { expectedAt: now - 1 })];
  expect(gateOf(false, full, limits, now)).toEqual({ allowed: false, code: 'closed' });
  expect(gateOf(true, full, limits, now)).toEqual({ allowed: false, code: 'full', at: now + 9 * minute });
  expect(gateOf(true, [...full.slice(1), shown(4, { status: 'aired' })], limits, now)).toBeNull();
  expect(gateOf(true, [], { ...limits, nextAt: now + 5 * minute }, now)).toMatchObject({ code: 'interval' });
  expect(gateOf(true, [], { ...limits, nextAt: now + 300 * minute }, now)).toMatchObject({ code: 'day' });
  expect(gateOf(true, [], { ...limits, nextAt: now }, now)).toBeNull();
});

describe('an event', () => {
  it('changes what everybody sees and keeps what one alone is told', () => {
    const { requests, lost } = merged([asked(1), asked(2, { status: 'refused', word: 'w' })], [shown(1, { status: 'planned', expectedAt: 7 }), shown(5)]);
    expect(requests.map(({ id, mine }) => [id, mine])).toEqual([[1, true], [5, false], [2, true]]);
    expect(requests[0]).toMatchObject({ note: 'n', status: 'planned', expectedAt: 7 });
    expect(lost).toBe(false);
  });

  it('says when one’s own has left the queue: why is asked for', () => {
    expect(merged([asked(1)], []).lost).toBe(true);
    expect(merged([{ ...asked(1), mine: false }], [])).toEqual({ requests: [], lost: false });
  });
});

it('the queue is in the order in which it will air', () => {
  const all = [shown(1), shown(2, { expectedAt: 20 }), shown(3, { expectedAt: 10 }), shown(4), shown(5, { status: 'aired' })];
  expect(inOrder(all).map(({ id }) => id)).toEqual([3, 2, 4, 1]);
});

it('where a request stands is said with when it airs', () => {
  expect(sayStanding(asked(1), now, 'en')).toBe('Finding it a place. The time will show here.');
  expect(sayStanding(asked(1, { status: 'planned', expectedAt: now + 25 * minute }), now, 'en')).toBe('On the air at about 15:25, in 25 min');
  expect(sayStanding(asked(1, { status: 'planned', expectedAt: now + 20_000 }), now, 'en')).toContain('any moment now');
  expect(sayStanding(asked(1, { status: 'aired', airedAt: now }), now, 'en')).toBe('Went on the air at 15:00');
  expect(sayStanding(asked(1, { status: 'expired' }), now, 'ar')).toBe('لم نجد لها مكانًا هذه المرة');
});
