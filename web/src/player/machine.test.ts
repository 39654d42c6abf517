import { describe, expect, it } from 'vitest';
import { lineOf, backoffMs, initial, next, notice, type PlayerEvent, type PlayerState, type StateName, type NoticeKey } from './machine';

const events: PlayerEvent[] = ['play', 'pause', 'sound', 'dry', 'steady', 'lost', 'unplayable', 'blocked', 'due', 'offline', 'online'];
const states: StateName[] = ['idle', 'connecting', 'playing', 'buffering', 'paused', 'retrying', 'offline'];

function state(name: StateName, more: Partial<PlayerState> = {}): PlayerState {
  return { ...initial(['hls', 'stream']), name, online: name !== 'offline', ...more };
}

/** Sends events one after the other; answers the last step. */
function after(start: PlayerState, ...sent: PlayerEvent[]) {
  return sent.reduce((step, event) => next(step.state, event), { state: start } as ReturnType<typeof next>);
}

describe('the player’s table', () => {
  // In the order of the table in machine.ts; pairs not named here change nothing.
  const table: [PlayerEvent, Partial<Record<StateName, StateName>>][] = [
    ['play', { idle: 'connecting', paused: 'connecting', retrying: 'connecting', offline: 'offline' }],
    ['pause', { connecting: 'paused', playing: 'paused', buffering: 'paused', retrying: 'paused', offline: 'paused' }],
    ['sound', { connecting: 'playing', buffering: 'playing' }],
    ['dry', { playing: 'buffering' }],
    ['steady', {}],
    ['lost', { connecting: 'retrying', playing: 'retrying', buffering: 'retrying' }],
    ['unplayable', { connecting: 'connecting', playing: 'connecting', buffering: 'connecting' }],
    ['blocked', { connecting: 'paused' }],
    ['due', { retrying: 'connecting' }],
    ['offline', { connecting: 'offline', buffering: 'offline', retrying: 'offline' }],
    ['online', { offline: 'connecting', buffering: 'connecting' }],
  ];
  for (const [event, moves] of table) {
    it(event, () => {
      for (const name of states) expect(next(state(name), event).state.name, name).toBe(moves[name] ?? name);
    });
  }

  it('loads exactly when it connects, and leaves nothing loaded where the table says nothing is', () => {
    for (const name of states) {
      for (const event of events) {
        const step = next(state(name), event);
        const moved = step.state.name !== name || (name === 'connecting' && event === 'unplayable');
        if (moved && step.state.name === 'connecting') expect(step.load, `${name} ${event}`).toBe(step.state.transport);
        if (moved && ['paused', 'retrying', 'offline'].includes(step.state.name)) expect(step.unload, `${name} ${event}`).toBe(true);
        expect(step.retryInMs !== undefined, `${name} ${event}`).toBe(moved && step.state.name === 'retrying');
      }
    }
  });
});

describe('losing the signal', () => {
  it('tries HLS twice, then the plain stream and HLS take turns', () => {
    let s = next(state('idle'), 'play').state;
    const tried = [s.transport];
    for (let i = 0; i < 5; i++) {
      s = after(s, 'lost', 'due').state;
      tried.push(s.transport);
    }
    expect(tried).toEqual(['hls', 'hls', 'stream', 'hls', 'stream', 'hls']);
  });

  it('forgets failures after steady sound, so that the next loss starts with HLS again', () => {
    const onStream = after(state('connecting', { failures: 2, transport: 'stream' }), 'sound', 'steady', 'lost', 'due');
    expect(onStream.load).toBe('hls');
  });

  it('strikes off a transport this browser cannot play, but never the last one', () => {
    const struck = next(state('connecting'), 'unplayable');
    expect(struck.state.transports).toEqual(['stream']);
    expect(struck.load).toBe('stream');
    const last = next(struck.state, 'unplayable');
    expect(last.state.name).toBe('retrying');
    expect(last.state.transports).toEqual(['stream']);
  });

  it('waits longer and longer, never more than 15 s, and not all listeners together', () => {
    const waits = [1, 2, 3, 4, 5, 6, 50].map((failures) => backoffMs(failures, 0));
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 15_000, 15_000]);
    expect(backoffMs(6, 0.999)).toBeLessThan(backoffMs(6, 0));
    expect(backoffMs(6, 0.999)).toBeGreaterThan(11_000);
  });

  it('plays on from the buffer when the network goes, and waits without a timer once it is dry', () => {
    const gone = next(state('playing'), 'offline');
    expect(gone.state.name).toBe('playing');
    expect(gone.unload).toBeUndefined();
    const dry = next(gone.state, 'dry');
    expect(dry.state.name).toBe('offline');
    expect(dry.retryInMs).toBeUndefined();
    expect(next(dry.state, 'online').load).toBe('hls');
  });

  it('returns to what the listener asked last: pause while retrying stays paused', () => {
    expect(after(state('playing'), 'lost', 'pause', 'due').state.name).toBe('paused');
    expect(after(state('playing'), 'pause', 'online', 'sound').state.name).toBe('paused');
  });
});

describe('the line about the sound', () => {
  const notices: NoticeKey[] = ['offline', 'stationUnreachable', 'empty', 'beginning', 'starting', 'off', 'retrying', 'connecting', 'buffering', 'paused', 'live', 'playing', 'idle'];
  const alerts = ['', 'silence', 'gone', 'starved', 'frozen', 'emergency'];
  const said = (key: NoticeKey, alert: string, away: boolean) => {
    const line = lineOf(key, alert, away);
    return 'key' in line ? `${line.of} ${line.key}` : line.of;
  };

  it('is one, whatever comes together', () => {
    for (const key of notices) {
      const early = ['offline', 'stationUnreachable', 'empty', 'beginning', 'starting', 'off'].includes(key);
      const calm = ['paused', 'live', 'playing', 'idle'].includes(key);
      for (const alert of alerts) {
        for (const away of [false, true]) {
          const wanted = early ? `notice ${key}` : alert ? `alert ${alert}` : away && calm ? 'away' : `notice ${key}`;
          expect(said(key, alert, away), `${key}, ${alert || 'no alarm'}, ${away ? 'away' : 'there'}`).toBe(wanted);
        }
      }
    }
  });

  it('does not ask for a press while the sound is being put back', () => {
    expect(said('idle', 'silence', false)).toBe('alert silence');
    expect(said('paused', 'gone', true)).toBe('alert gone');
  });
});

describe('the notice', () => {
  const fine = { reachable: true, state: 'music', reason: '' };

  it('names first what the listener can mend, then the station’s trouble, then ordinary states', () => {
    expect(notice(state('offline'), { ...fine, reachable: false })).toBe('offline');
    expect(notice(state('retrying'), { ...fine, reachable: false })).toBe('stationUnreachable');
    expect(notice(state('retrying'), { ...fine, state: 'off' })).toBe('off');
    expect(notice(state('retrying'), fine)).toBe('retrying');
    expect(notice(state('playing'), { reachable: true, state: 'emergency', reason: 'empty_library' })).toBe('empty');
    expect(notice(state('idle'), { ...fine, state: 'starting' })).toBe('starting');
    expect(notice(state('playing'), { ...fine, state: 'live' })).toBe('live');
    expect(notice(state('idle'), null)).toBe('idle');
  });

  it('does not alarm while there is sound', () => {
    expect(notice(state('playing'), { ...fine, reachable: false })).toBe('playing');
    expect(notice(state('playing', { online: false }), fine)).toBe('playing');
  });
});
