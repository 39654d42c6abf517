import { expect, it } from 'vitest';
import { en } from '../i18n/en';
import type { Played, Status } from '../station/api';
import { describe } from './heard';

const status = { state: 'music', station: { name: 'Athir' }, library: {} } as unknown as Status;
const sweeper: Played = { file: 'sweepers/a.mp3', title: 'A_id_7', artist: 'x', category: 'sweepers', type: 'sweepers', durationMs: 5000, startedAt: 1 } as Played;

it('names a listener’s voice, not the station’s own imaging', () => {
  expect(describe(status, sweeper, en, 'en')).toMatchObject({ title: en.quietTitle, artist: 'Athir', post: null });
  const post = { id: 4, by: 'نور', page: '/social.html?post=4' };
  const named = describe(status, { ...sweeper, title: 'Good evening', artist: 'نور', post }, en, 'en');
  expect(named).toMatchObject({ title: 'Good evening', artist: 'نور', singer: '', post: { id: 4 } });
});
