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
    for (const { key } of [enControl, arControl]) {
      for (const name of ['`station_key:`', '`athir.yaml`', '`STATION_KEY`']) expect(key.where).toContain(name);
      for (const name of ['`station_key:`', '`social_admin_key:`', '`athir.yaml`', '`SOCIAL_ADMIN_KEY`']) expect(key.posts.where).toContain(name);
    }
  });
});
