import { expect, it } from 'vitest';
import { en } from '../i18n/en';
import type { Played, Status } from '../station/api';
import { describe } from './heard';

const status = { state: 'music', station: { name: 'Athir' }, library: {} } as unknown as Status;
const sweeper: Played = { file: 'sweepers/a.mp3', title: 'A_id_7', artist: 'x', category: 'sweepers', type: 'sweepers', durationMs: 5000, startedAt: 1 } as Played;

it('shows what is paid for as that, without an artist, a heart or a page of its own', () => {
  const ad = { file: 'ads/summer_sale_30s.mp3', title: 'summer_sale_30s', artist: 'Agency', category: 'ads', type: 'ads', durationMs: 30_000, startedAt: 1, id: 'a'.repeat(16) } as Played;
  expect(describe(status, ad, en, 'en', 'Nile')).toMatchObject({ kind: 'ad', title: en.adTitle, artist: '', singer: '', id: '', seed: 'Nile' });
  expect(describe(status, { ...ad, title: 'The summer sale' }, en, 'en').title).toBe('The summer sale');
});

it('calls the station by its name in the page’s language', () => {
  expect(describe(null, null, en, 'en', 'Nile Radio').title).toBe('Nile Radio');
  const news = { file: 'news/9.mp3', title: '9', artist: 'x', category: 'news', type: 'news', durationMs: 1, startedAt: 1 } as Played;
  expect(describe(status, news, en, 'en', 'Nile Radio')).toMatchObject({ kind: 'news', title: en.nextNews, artist: 'Nile Radio', singer: '' });
});

it('names a listener’s voice, not the station’s own imaging', () => {
  expect(describe(status, sweeper, en, 'en')).toMatchObject({ title: en.quietTitle, artist: 'Athir', post: null });
  const post = { id: 4, by: 'نور', page: '/social.html?post=4' };
  const named = describe(status, { ...sweeper, title: 'Good evening', artist: 'نور', post }, en, 'en');
  expect(named).toMatchObject({ title: 'Good evening', artist: 'نور', singer: '', post: { id: 4 } });
});
