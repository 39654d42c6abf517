/**
 * The player as a state machine. Carrying out the effects is engine.ts's
 * business; nothing here touches the browser.
 *
 * State       What the listener has
 * ---------   -----------------------------------------------------------
 * idle        nothing asked for yet
 * connecting  a source is loading, no sound so far
 * playing     sound
 * buffering   was playing, ran dry, the source is still there
 * paused      the listener said so; nothing is loaded
 * retrying    the source was lost; a timer runs until the next attempt
 * offline     the device has no network; waits for it, without a timer
 *
 * Event       From                              To
 * ---------   -------------------------------   ------------------------------
 * play        idle paused retrying offline      connecting, or offline
 * pause       all but idle                      paused, everything unloaded
 * sound       connecting buffering              playing
 * dry         playing                           buffering; offline without network
 * steady      playing                           playing, failures forgotten
 * lost        connecting playing buffering      retrying; offline without network
 * unplayable  as lost                           connecting with the next transport,
 *                                               this one struck off; lost if it is the last
 * blocked     connecting                        paused: the browser wants a touch first
 * due         retrying                          connecting
 * offline     connecting buffering retrying     offline; while playing the buffer plays on
 * online      offline buffering                 connecting
 *
 * Every other pair changes nothing. A transport is given two attempts, then
 * the last one of the list (the plain stream) and the first take turns.
 */

export type Transport = 'hls' | 'native' | 'stream';

export type StateName = 'idle' | 'connecting' | 'playing' | 'buffering' | 'paused' | 'retrying' | 'offline';

export interface PlayerState {
  readonly name: StateName;
  /** In order of preference; never empty. */
  readonly transports: readonly Transport[];
  /** The one in use, or tried last. */
  readonly transport: Transport;
  /** Failures in a row. */
  readonly failures: number;
  readonly online: boolean;
}

export type PlayerEvent =
  | 'play'
  | 'pause'
  | 'sound'
  | 'dry'
  | 'steady'
  | 'lost'
  | 'unplayable'
  | 'blocked'
  | 'due'
  | 'offline'
  | 'online';

export interface Step {
  readonly state: PlayerState;
  /** Load this transport, after unloading whatever is loaded. */
  readonly load?: Transport;
  /** Unload whatever is loaded and forget any retry. */
  readonly unload?: true;
  /** Send 'due' after so many milliseconds. */
  readonly retryInMs?: number;
}

export function initial(transports: readonly Transport[], online = true): PlayerState {
  const usable: readonly Transport[] = transports.length ? transports : ['stream'];
  return { name: 'idle', transports: usable, transport: usable[0] as Transport, failures: 0, online };
}

/** Pause before attempt n+1: 0.5 s doubling to 15 s, less up to a quarter by chance in [0,1). */
export function backoffMs(failures: number, chance: number): number {
  const full = Math.min(15_000, 500 * 2 ** Math.max(0, failures - 1));
  return Math.round(full * (1 - chance / 4));
}

function choose(s: PlayerState): Transport {
  const first = s.transports[0] as Transport;
  const last = s.transports.at(-1) as Transport;
  return s.failures >= 2 && s.failures % 2 === 0 ? last : first;
}

function connect(s: PlayerState): Step {
  if (!s.online) return { state: { ...s, name: 'offline' }, unload: true };
  const transport = choose(s);
  return { state: { ...s, name: 'connecting', transport }, load: transport };
}

function lose(s: PlayerState, chance: number): Step {
  if (!s.online) return { state: { ...s, name: 'offline' }, unload: true };
  const state: PlayerState = { ...s, name: 'retrying', failures: s.failures + 1 };
  return { state, unload: true, retryInMs: backoffMs(state.failures, chance) };
}

function strikeOff(s: PlayerState, chance: number): Step {
  const transports = s.transports.filter((t) => t !== s.transport);
  return transports.length ? connect({ ...s, transports, failures: 0 }) : lose(s, chance);
}

const loaded: readonly StateName[] = ['connecting', 'playing', 'buffering'];

/** What follows. Chance in [0,1) spreads the retries of many listeners. */
export function next(s: PlayerState, event: PlayerEvent, chance = 0): Step {
  const stay: Step = { state: s };
  switch (event) {
    case 'play':
      return loaded.includes(s.name) ? stay : connect({ ...s, failures: 0 });
    case 'pause':
      return s.name === 'idle' ? stay : { state: { ...s, name: 'paused' }, unload: true };
    case 'blocked':
      return s.name === 'connecting' ? { state: { ...s, name: 'paused' }, unload: true } : stay;
    case 'sound':
      return s.name === 'connecting' || s.name === 'buffering' ? { state: { ...s, name: 'playing' } } : stay;
    case 'steady':
      return s.name === 'playing' ? { state: { ...s, failures: 0 } } : stay;
    case 'dry':
      if (s.name !== 'playing') return stay;
      return s.online ? { state: { ...s, name: 'buffering' } } : { state: { ...s, name: 'offline' }, unload: true };
    case 'lost':
      return loaded.includes(s.name) ? lose(s, chance) : stay;
    case 'unplayable':
      return loaded.includes(s.name) ? strikeOff(s, chance) : stay;
    case 'due':
      return s.name === 'retrying' ? connect(s) : stay;
    case 'offline': {
      const state: PlayerState = { ...s, online: false };
      const waits = s.name === 'connecting' || s.name === 'buffering' || s.name === 'retrying';
      return waits ? { state: { ...state, name: 'offline' }, unload: true } : { state };
    }
    case 'online': {
      const state: PlayerState = { ...s, online: true };
      return s.name === 'offline' || s.name === 'buffering' ? connect({ ...state, failures: 0 }) : { state };
    }
  }
}

export type NoticeKey =
  | 'offline'
  | 'stationUnreachable'
  | 'empty'
  | 'beginning'
  | 'starting'
  | 'off'
  | 'retrying'
  | 'connecting'
  | 'buffering'
  | 'paused'
  | 'live'
  | 'playing'
  | 'idle';

/** What the station says of itself, as far as the notice needs it. */
export interface StationSays {
  reachable: boolean;
  state: string;
  reason: string;
}

/**
 * The one line that tells the listener how things stand: what they can mend
 * first, then the station's trouble, then ordinary states.
 */
export function notice(s: PlayerState, station: StationSays | null): NoticeKey {
  const sounds = s.name === 'playing';
  if (s.name === 'offline' || (!s.online && !sounds)) return 'offline';
  if (station && !station.reachable && !sounds) return 'stationUnreachable';
  if (s.name === 'retrying') return station?.state === 'off' ? 'off' : 'retrying';
  if (s.name === 'connecting' || s.name === 'buffering') return s.name;
  if (station?.reason === 'empty_library') return 'empty';
  if (station?.reason === 'beginning') return 'beginning';
  if (station?.state === 'starting' || station?.state === 'off') return station.state;
  if (s.name === 'paused') return 'paused';
  if (station?.state === 'live') return 'live';
  return sounds ? 'playing' : 'idle';
}

/** The one line about the sound that a page shows. */
export type Line =
  | { readonly of: 'notice'; readonly key: NoticeKey }
  /** What the dead-air guard repairs; key names it. */
  | { readonly of: 'alert'; readonly key: string }
  /** The control plane is away. */
  | { readonly of: 'away' };

/** Told before the guard's alarm: what the listener can mend, and why nothing is to be heard at all. */
const first: readonly NoticeKey[] = ['offline', 'stationUnreachable', 'off', 'empty', 'beginning', 'starting'];
const calm: readonly NoticeKey[] = ['playing', 'live', 'idle', 'paused'];

/**
 * Of the notice, the guard's alarm and the control plane's absence the one that
 * matters most, so that no two lines speak against each other. alert is empty
 * where the guard repairs nothing that a listener hears.
 */
export function lineOf(said: NoticeKey, alert: string, away: boolean): Line {
  if (first.includes(said)) return { of: 'notice', key: said };
  if (alert) return { of: 'alert', key: alert };
  if (away && calm.includes(said)) return { of: 'away' };
  return { of: 'notice', key: said };
}
