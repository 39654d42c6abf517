import type { Station } from '../station/station.svelte';
import { Audience } from './audience.svelte';
import { Link } from './link.svelte';

/** The live half of the home page. */
export interface Live {
  link: Link;
  audience: Audience;
  end: () => void;
}

export function begin(station: Station): Live {
  const link = new Link();
  const audience = new Audience(link, station);
  const ends = [station.heed(link), audience.follow()];
  link.open();
  return {
    link,
    audience,
    end: () => {
      for (const end of ends) end();
      link.close();
    },
  };
}
