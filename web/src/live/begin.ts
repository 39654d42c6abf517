import { Requests } from '../requests/requests.svelte';
import type { Station } from '../station/station.svelte';
import { Audience } from './audience.svelte';
import { Link } from './link.svelte';

/** The live half of the home page. */
export interface Live {
  link: Link;
  audience: Audience;
  requests: Requests;
  end: () => void;
}

export function begin(station: Station): Live {
  const link = new Link();
  const audience = new Audience(link, station);
  const requests = new Requests(link, () => station.now());
  const ends = [station.heed(link), audience.follow(), requests.follow()];
  link.open();
  return {
    link,
    audience,
    requests,
    end: () => {
      for (const end of ends) end();
      link.close();
    },
  };
}
