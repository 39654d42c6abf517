import type { StatusEvent } from '../live/words';
import type { Status } from './api';

/** A status with what an event tells. A station of a version before tells less: the rest stays. */
export function withTold(status: Status, event: StatusEvent): Status {
  const { station, onAir, nowPlaying, track = null, state, reason, hls, library, history } = event;
  const next: Status = { ...status, nowPlaying, track, state };
  if (onAir === undefined) return next;
  return {
    ...next,
    onAir,
    reason: reason ?? '',
    station: station ?? status.station,
    history: history ?? [],
    ...(hls ? { hls } : {}),
    library: { ...status.library, ...library },
  };
}
