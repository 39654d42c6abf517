import { describe, expect, it } from 'vitest';
import { arPeople } from '../../i18n/people.ar';
import { enPeople } from '../../i18n/people.en';
import { deedOf, fieldsOfDetail, outcomeOf } from './deeds';

describe('an order of the log', () => {
  it('has a name, whether its path is written out or left open', () => {
    expect(['POST /api/station/skip', 'DELETE /api/people/{id}', 'DELETE /api/people/u7', 'POST /api/people', 'DELETE /api/people/u7/keys/k1'].map(deedOf)).toEqual(['skip', 'personRemove', 'personRemove', 'invite', 'personKey']);
  });

  it('takes the name that fits best', () => {
    expect([deedOf('POST /api/station/live/start'), deedOf('POST /api/station/live/wrapup'), deedOf('POST /api/channels/create')]).toEqual(['liveStart', 'live', 'channel']);
  });

  it('has none where nobody gave it one', () => {
    expect([deedOf('POST /api/station/of/tomorrow'), deedOf('GET /api/station/skip'), deedOf('')]).toEqual([null, null, null]);
  });

  it('has words in both languages for every name', () => {
    const routes = ['POST /api/station/play', 'PUT /api/station/chat/words', 'POST /api/social/decide', 'POST /api/account/totp/remove', 'event start_stream', 'PUT /api/station/live/publishers/sara', 'POST /api/station/bulletin/preview/audio', 'PUT /api/station/import/file', 'DELETE /api/station/import/file/f1', 'POST /api/station/import/plan', 'POST /api/station/import/apply', 'PUT /api/station/face', 'PUT /api/station/face/logo', 'DELETE /api/station/face/icon', 'POST /api/station/podcasts', 'PUT /api/station/podcasts/{show}', 'DELETE /api/station/podcasts/{show}', 'POST /api/station/podcasts/{show}/restore', 'PUT /api/station/podcasts/{show}/cover', 'DELETE /api/station/podcasts/{show}/cover', 'POST /api/station/podcasts/{show}/episodes', 'PUT /api/station/podcasts/{show}/episodes/{id}', 'DELETE /api/station/podcasts/{show}/episodes/{id}', 'POST /api/station/podcasts/{show}/episodes/{id}/restore', 'POST /api/station/podcasts/{show}/episodes/{id}/retry'];
    for (const name of routes.map(deedOf)) {
      expect(enPeople.log.deeds[name ?? ''], String(name)).toBeTruthy();
      expect(arPeople.log.deeds[name ?? ''], String(name)).toBeTruthy();
    }
    expect(Object.keys(arPeople.log.deeds)).toEqual(Object.keys(enPeople.log.deeds));
  });

  it('was done, refused, failed, or nobody knows', () => {
    expect([200, 204, 403, 422, 500, 503, 0].map(outcomeOf)).toEqual(['done', 'done', 'refused', 'refused', 'failed', 'failed', 'unknown']);
  });

  it('shows its fields, or its text as it stands', () => {
    expect(fieldsOfDetail('{"name":"سارة","locked":true,"of":[1]}')).toEqual([['name', 'سارة'], ['locked', 'true'], ['of', '[1]']]);
    expect([fieldsOfDetail(''), fieldsOfDetail('no json'), fieldsOfDetail('"text"')]).toEqual([[], [['', 'no json']], [['', 'text']]]);
  });
});
