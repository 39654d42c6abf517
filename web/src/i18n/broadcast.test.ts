import { describe, expect, it } from 'vitest';
import { enBroadcast } from './broadcast.en';
import { arControl } from './control.ar';
import { enControl } from './control.en';

describe('words of the studio', () => {
  it('count one listener as one', () => {
    expect(enBroadcast.recordings.heard('1', '')).toBe('1 listener on average');
    expect(enBroadcast.recordings.heard('1.5', '3')).toBe('1.5 listeners on average, 3 at most');
  });

  it('call the key as the settings file and the environment do', () => {
    for (const { where } of [enControl.key, arControl.key]) for (const name of ['station_key', 'STATION_KEY']) expect(where).toContain(name);
  });
});
