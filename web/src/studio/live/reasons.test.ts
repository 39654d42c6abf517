import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { arBroadcast } from '../../i18n/broadcast.ar';
import { enBroadcast } from '../../i18n/broadcast.en';
import { problemIn, reasonIn } from './reasons';

describe('reasons', () => {
  it('are said in the page’s language', () => {
    expect(reasonIn('no audio came for 3s', arBroadcast.reasons, 'ar')).toBe('انقطع الصوت ٠:٠٣');
    expect(reasonIn('nothing was heard for 1m30s', enBroadcast.reasons, 'en')).toBe('silent for 1:30');
    expect(reasonIn('it is gone: the network is gone', enBroadcast.reasons, 'en')).toBe('its network is gone');
  });

  it('of a recording that is not whole are said one after another', () => {
    expect(problemIn('stopped at 1m5s: the disk is full; went on after 12s', enBroadcast.reasons, 'en')).toBe('stopped at 1:05: the disk is full, 0:12 are missing');
    expect(problemIn('it was interrupted: the live desk ended', arBroadcast.reasons, 'ar')).toBe('أُعيد تشغيل منضدة البث المباشر');
  });

  it('that nobody knows stay as they came', () => {
    expect(reasonIn('it answers 404\u202e Not Found', arBroadcast.reasons, 'ar')).toBe('it answers 404 Not Found');
    expect(reasonIn('constructor', enBroadcast.reasons, 'en')).toBe('constructor');
  });

  it('are those that the station gives, in both languages', () => {
    const live = join(import.meta.dirname, '../../../../internal');
    const files = readdirSync(live, { recursive: true, encoding: 'utf8' }).filter((name) => /^(live|app)\/.*\.go$/.test(name) && !name.endsWith('_test.go'));
    const code = files.map((name) => readFileSync(join(live, name), 'utf8')).join('\n');
    const said = Object.keys(enBroadcast.reasons.said);
    expect(said.filter((text) => !code.includes(`"${text}"`) && !code.includes(`"it is gone: ${text}"`) && !code.includes(`"it was interrupted: ${text}"`))).toEqual([]);
    expect(Object.keys(arBroadcast.reasons.said)).toEqual(said);
  });
});
