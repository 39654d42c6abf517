import { describe, expect, it } from 'vitest';
import { enSending } from '../i18n/sending.en';
import { enSocial } from '../i18n/social.en';
import { fits, kinds, reactionKinds, sorts, complaints, stepOf, tagsOf, told, withReaction, withVote, type Post, type Vote } from './post';

const post = (more: Partial<Post> = {}): Post => ({
  id: 7, type: 'song', title: 'ليل', artist: 'مريم', createdBy: 'نور', status: 'approved', createdAt: 1, approvedAt: 2, duration: 60_000,
  votes: { up: 5, down: 2, mine: 0 }, reactions: { love: 3 }, reacted: [], plays: 0, lastPlayedAt: 0, nextAt: 0, onAir: false, audio: '/a', cover: '', ...more,
});

describe('one’s own vote', () => {
  it('counts once whichever way it is changed', () => {
    const votes = [-1, 0, 1] as Vote[];
    for (const from of votes) {
      for (const to of votes) {
        const { votes: after } = withVote(withVote(post(), from), to);
        expect(after, `${from} to ${to}`).toEqual({ up: 5 + Number(to === 1), down: 2 + Number(to === -1), mine: to });
      }
    }
  });
});

describe('one’s own reaction', () => {
  it('is added once and taken back once', () => {
    const on = withReaction(post(), 'love', true);
    expect([on.reactions.love, on.reacted]).toEqual([4, ['love']]);
    expect(withReaction(on, 'love', true)).toBe(on);
    expect(withReaction(on, 'love', false)).toMatchObject({ reactions: { love: 3 }, reacted: [] });
    expect(withReaction(post(), 'sad', true).reactions.sad).toBe(1);
  });
});

it('what everybody is told leaves one’s own vote, reactions and the waveform alone', () => {
  const known = post({ votes: { up: 6, down: 2, mine: 1 }, reacted: ['love'], peaks: [0.5] });
  const fresh = post({ votes: { up: 9, down: 3, mine: 0 }, plays: 4, peaks: null });
  expect(told(fresh, known)).toMatchObject({ votes: { up: 9, down: 3, mine: 1 }, reacted: ['love'], plays: 4, peaks: [0.5] });
  expect(told(fresh, undefined)).toBe(fresh);
});

it('a sound fits the window of its type, and an unknown length fits', () => {
  const song = { min: 45, max: 600 };
  expect([0, Number.NaN, 44_000, 44_800, 45_000, 600_200, 601_000].map((ms) => fits(ms, song))).toEqual(['fits', 'fits', 'short', 'fits', 'fits', 'fits', 'long']);
  expect(fits(1, undefined)).toBe('fits');
});

it('tags are parted by the commas of both scripts, once each, eight at most', () => {
  expect(tagsOf(' ليل، live,#حب , ,live')).toEqual(['ليل', 'live', 'حب']);
  expect(tagsOf(Array.from({ length: 20 }, (_, i) => `t${i}`).join(','))).toHaveLength(8);
});

describe('a post’s step', () => {
  const reason = (code: string) => ({ code, en: 'x', ar: 'x' });
  const all: [Partial<Post>, string][] = [
    [{ status: 'processing', stage: '' }, 'queued'],
    [{ status: 'processing', stage: 'comparing' }, 'comparing'],
    [{ status: 'failed' }, 'failed'],
    [{ status: 'pending' }, 'pending'],
    [{ status: 'pending', reason: reason('held') }, 'held'],
    [{ status: 'pending', reason: reason('reported') }, 'reported'],
    [{ status: 'approved' }, 'approved'],
    [{ status: 'approved', onAir: true }, 'onair'],
    [{ status: 'rejected', reason: reason('duplicate') }, 'rejected'],
    [{ status: 'rejected', reason: reason('withdrawn') }, 'withdrawn'],
  ];
  it('follows from its status and reason, and has words', () => {
    for (const [more, step] of all) expect(stepOf(post(more)), JSON.stringify(more)).toBe(step);
    for (const [, step] of all) expect(enSending.mine.steps[step], step).toBeTruthy();
  });
});

it('every kind, order, reaction and complaint has words', () => {
  for (const kind of kinds) expect(enSocial.kinds[kind]?.say, kind).toBeTruthy();
  for (const sort of sorts) expect(enSocial.feed.sorts[sort], sort).toBeTruthy();
  for (const kind of reactionKinds) expect(enSocial.post.react[kind], kind).toBeTruthy();
  for (const why of complaints) expect(enSocial.report.whys[why], why).toBeTruthy();
});
