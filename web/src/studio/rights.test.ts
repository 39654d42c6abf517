import { describe, expect, it } from 'vitest';
import { looksOnly, sectionsOf, upTo, viewOf, views, type Right } from './rights';

const of = (...rights: Right[]) => new Set(rights);
const role = {
  owner: of('look', 'inside', 'requests', 'air', 'moderate', 'programme', 'own'),
  programme: of('look', 'inside', 'requests', 'air', 'moderate', 'programme'),
  moderator: of('look', 'inside', 'requests', 'moderate'),
  presenter: of('look', 'inside', 'requests', 'air'),
  viewer: of('look', 'inside'),
};

describe('the sections', () => {
  it('follow the rights', () => {
    const looked = ['air', 'programme', 'library', 'production', 'live', 'podcasts', 'listeners', 'requests'];
    expect(sectionsOf(role.owner)).toEqual(views);
    expect(sectionsOf(role.programme)).toEqual([...looked, 'review', 'station', 'log']);
    expect(sectionsOf(role.moderator)).toEqual([...looked, 'review', 'station']);
    expect(sectionsOf(role.presenter)).toEqual([...looked, 'station']);
    expect(sectionsOf(role.viewer)).toEqual([...looked, 'station']);
  });

  it('are all but the owners’ for somebody who is not known, and the posts alone for the moderators’ key', () => {
    expect(sectionsOf(null)).toEqual(views.filter((view) => view !== 'people'));
    expect(sectionsOf(of('moderate'))).toEqual(['review']);
  });

  it('are looked at only where nothing in them may be changed', () => {
    const only = (known: ReadonlySet<Right> | null) => sectionsOf(known).filter((view) => looksOnly(known, view));
    expect(only(role.viewer)).toEqual(sectionsOf(role.viewer));
    expect(only(role.presenter)).toEqual(['programme', 'library', 'production', 'podcasts', 'listeners', 'station']);
    expect(only(role.moderator)).toEqual(['air', 'programme', 'library', 'production', 'live', 'podcasts', 'station']);
    expect([only(role.programme), only(role.owner), only(null)]).toEqual([[], [], []]);
  });

  it('are read from the address', () => {
    expect(['', '#/', '#/listeners/guard', '#/people/log', '#/account', '#/invited/abc', '#/nowhere'].map(viewOf)).toEqual(['air', 'air', 'listeners', 'people', 'account', 'invited', 'air']);
  });
});

it('nobody gives a program more than they may do themselves', () => {
  expect([upTo('owner').length, upTo('programme'), upTo('moderator'), upTo('viewer')]).toEqual([5, ['programme', 'moderator', 'presenter', 'viewer'], ['moderator', 'viewer'], ['viewer']]);
});
