import { Link } from '../live/link.svelte';
import { Station } from '../station/station.svelte';

/** The radio, which has nothing to show before the station answers. */
export { default as ListenBar } from '../history/ListenBar.svelte';
export { registerAtRest } from '../push/worker';

export interface Radio {
  station: Station;
  end: () => void;
}

/** Follows what is on the air: asked for once, then told. */
export function begin(): Radio {
  const [station, link] = [new Station(), new Link()];
  const ends = [station.heed(link), station.follow()];
  link.open();
  return {
    station,
    end: () => {
      for (const end of ends) end();
      link.close();
    },
  };
}
