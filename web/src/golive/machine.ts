/**
 * A broadcast from this page as a state machine. Carrying out what a step asks for is
 * broadcast.svelte.ts's business; nothing here touches the browser.
 *
 * State       What the presenter has
 * ----------  -----------------------------------------------------------------
 * ready       nothing is sent
 * asking      pressed; the browser is asked for the microphone
 * connecting  a new session: offer, answer, first packets; given 15 s
 * linked      the connection stands; the station's facts tell what is heard of it
 * mending     the connection broke: ICE restart within the same session; given 8 s
 * retrying    the session is lost; a new one when the time is up
 * offline     the device has no network; waits for it, without a timer
 * ended       over, and not begun again by the page itself; why says how
 *
 * Event       From                              To
 * ----------  --------------------------------  ------------------------------------
 * press       ready ended                       asking
 *             retrying                          connecting, without waiting
 * opened      asking                            connecting; offline without network
 * barred      asking and all with a session     ended: the microphone, and how
 * connected   connecting mending                linked
 *             offline where a session may live  linked: the device was wrong about its network
 * shaken      linked                            mending; offline without network
 * gone        connecting                        retrying, the pause growing
 *             linked mending                    connecting at once; offline without network
 * busy        connecting                        retrying, after what the server asked for
 * refused     connecting linked mending         ended: the key, and what is wrong with it
 * told        connecting linked mending         ended: the station has ended it
 * due         connecting                        retrying, the pause growing
 *             linked                            linked, failures forgotten (after 10 s)
 *             mending retrying                  connecting
 * offline     connecting mending retrying       offline
 * online      offline                           mending where a session may live, else connecting
 *             retrying                          connecting, without waiting
 * stop        all but ready ended               ended: stopped
 * left        all but ready ended               ended: the page was left
 * back        ended                             ready
 *
 * Every other pair changes nothing. Only the presenter ends the attempts: the station's
 * own faults never do.
 */

export type StateName = 'ready' | 'asking' | 'connecting' | 'linked' | 'mending' | 'retrying' | 'offline' | 'ended';

/** What keeps the microphone closed. */
export type Barred = 'insecure' | 'denied' | 'missing' | 'taken';

/** What the station says of a key that it does not take. */
export type Refusal = 'unknown' | 'revoked' | 'early' | 'late' | 'forbidden';

/** How a session may be ended from the other side for good. */
export type Told = 'replaced' | 'kicked' | 'revoked' | 'late';

export type Why = Barred | Refusal | Told | 'stopped' | 'left';

/** Why it is tried again: nobody answered, no packets came through, too many want in, or the station is not ready. */
export type Cause = 'server' | 'path' | 'full' | 'unready';

export interface LiveState {
  readonly name: StateName;
  readonly online: boolean;
  /** Failures in a row since the connection last stood for a while. */
  readonly failures: number;
  /** offline: a session may still be there to mend. */
  readonly held: boolean;
  /** It has stood once since the press: what follows is a return. */
  readonly returned: boolean;
  /** ended: how. */
  readonly why: Why | '';
  /** ended as early or late: from when on the key is good, epoch milliseconds; 0 where nobody said. */
  readonly retryAt: number;
  /** retrying: what it waits for. */
  readonly cause: Cause;
}

export type LiveEvent =
  | { type: 'press' | 'opened' | 'connected' | 'shaken' | 'due' | 'offline' | 'online' | 'stop' | 'left' | 'back' }
  | { type: 'barred'; why: Barred }
  | { type: 'gone'; cause: Cause }
  | { type: 'busy'; afterMs: number; cause: Cause }
  | { type: 'refused'; why: Refusal; retryAt: number }
  | { type: 'told'; why: Told };

export interface Step {
  readonly state: LiveState;
  /** Open the microphone, unless it is open. */
  readonly open?: true;
  /** End any session and begin a new one. */
  readonly connect?: true;
  /** Restart ICE within the session. */
  readonly restart?: true;
  /** End the session and give up what is under way. */
  readonly close?: true;
  /** Send 'due' after so many milliseconds; every move forgets the one before. */
  readonly dueInMs?: number;
}

export const connectMs = 15_000;
export const mendMs = 8_000;
export const steadyMs = 10_000;

export function initial(online = true): LiveState {
  return { name: 'ready', online, failures: 0, held: false, returned: false, why: '', retryAt: 0, cause: 'path' };
}

/** Pause before attempt n+1: 1 s doubling to 30 s, less up to a quarter by chance in [0,1). */
export function pauseMs(failures: number, chance: number): number {
  const full = Math.min(30_000, 1000 * 2 ** Math.max(0, failures - 1));
  return Math.round(full * (1 - chance / 4));
}

/** The states in which the presenter means to be heard. */
export function wanted(s: LiveState): boolean {
  return s.name !== 'ready' && s.name !== 'ended';
}

function connect(s: LiveState): Step {
  if (!s.online) return { state: { ...s, name: 'offline', held: false }, close: true };
  return { state: { ...s, name: 'connecting' }, connect: true, dueInMs: connectMs };
}

function mend(s: LiveState): Step {
  if (!s.online) return { state: { ...s, name: 'offline', held: true } };
  return { state: { ...s, name: 'mending' }, restart: true, dueInMs: mendMs };
}

function retry(s: LiveState, cause: Cause, chance: number): Step {
  if (!s.online) return { state: { ...s, name: 'offline', held: false }, close: true };
  const state: LiveState = { ...s, name: 'retrying', failures: s.failures + 1, cause };
  return { state, close: true, dueInMs: pauseMs(state.failures, chance) };
}

function end(s: LiveState, why: Why, retryAt = 0): Step {
  return { state: { ...s, name: 'ended', why, retryAt, failures: 0, held: false, returned: false }, close: true };
}

const inSession: readonly StateName[] = ['connecting', 'linked', 'mending'];

/** What follows. Chance in [0,1) spreads the attempts of several phones. */
export function next(s: LiveState, event: LiveEvent, chance = 0): Step {
  const stay: Step = { state: s };
  switch (event.type) {
    case 'press':
      if (s.name === 'retrying') return connect(s);
      return wanted(s) ? stay : { state: { ...initial(s.online), name: 'asking' }, open: true };
    case 'opened':
      return s.name === 'asking' ? connect(s) : stay;
    case 'barred':
      return wanted(s) ? end(s, event.why) : stay;
    case 'connected':
      if (s.name !== 'connecting' && s.name !== 'mending' && !(s.name === 'offline' && s.held)) return stay;
      return { state: { ...s, name: 'linked', returned: true }, dueInMs: steadyMs };
    case 'shaken':
      return s.name === 'linked' ? mend(s) : stay;
    case 'gone':
      if (s.name === 'connecting') return retry(s, event.cause, chance);
      return s.name === 'linked' || s.name === 'mending' ? connect(s) : stay;
    case 'busy':
      if (s.name !== 'connecting') return stay;
      return { state: { ...s, name: 'retrying', failures: s.failures + 1, cause: event.cause }, close: true, dueInMs: event.afterMs };
    case 'refused':
      return inSession.includes(s.name) ? end(s, event.why, event.retryAt) : stay;
    case 'told':
      return inSession.includes(s.name) ? end(s, event.why) : stay;
    case 'due':
      if (s.name === 'connecting') return retry(s, 'path', chance);
      if (s.name === 'linked') return { state: { ...s, failures: 0 } };
      return s.name === 'mending' || s.name === 'retrying' ? connect(s) : stay;
    case 'offline': {
      const state: LiveState = { ...s, online: false };
      if (s.name === 'mending') return { state: { ...state, name: 'offline', held: true } };
      if (s.name === 'connecting' || s.name === 'retrying') return { state: { ...state, name: 'offline', held: false }, close: true };
      return { state }; // linked: the device may be wrong about its network, and the connection tells by itself
    }
    case 'online': {
      const state: LiveState = { ...s, online: true };
      if (s.name === 'offline') return s.held ? mend(state) : connect(state);
      return s.name === 'retrying' ? connect(state) : { state };
    }
    case 'stop':
      return wanted(s) ? end(s, 'stopped') : stay;
    case 'left':
      return wanted(s) ? end(s, 'left') : stay;
    case 'back':
      return s.name === 'ended' ? { state: initial(s.online) } : stay;
  }
}
