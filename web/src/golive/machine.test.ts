import { describe, expect, it } from 'vitest';
import { connectMs, initial, mendMs, next, pauseMs, steadyMs, wanted, type LiveEvent, type LiveState, type StateName } from './machine';

const states: StateName[] = ['ready', 'asking', 'connecting', 'linked', 'mending', 'retrying', 'offline', 'ended'];
const events: LiveEvent[] = [
  { type: 'press' },
  { type: 'opened' },
  { type: 'barred', why: 'denied' },
  { type: 'connected' },
  { type: 'shaken' },
  { type: 'gone', cause: 'server' },
  { type: 'busy', afterMs: 7000, cause: 'full' },
  { type: 'refused', why: 'early', retryAt: 1_700_000_000_000 },
  { type: 'told', why: 'kicked' },
  { type: 'due' },
  { type: 'offline' },
  { type: 'online' },
  { type: 'stop' },
  { type: 'left' },
  { type: 'back' },
];

function state(name: StateName, more: Partial<LiveState> = {}): LiveState {
  return { ...initial(name !== 'offline'), name, ...more };
}

/** Sends events one after the other; answers the last step. */
function after(start: LiveState, ...sent: LiveEvent[]) {
  return sent.reduce((step, event) => next(step.state, event), { state: start } as ReturnType<typeof next>);
}

describe('the table', () => {
  // In the order of the table in machine.ts; pairs not named here change nothing.
  const table: [LiveEvent['type'], Partial<Record<StateName, StateName>>][] = [
    ['press', { ready: 'asking', ended: 'asking', retrying: 'connecting' }],
    ['opened', { asking: 'connecting' }],
    ['barred', { asking: 'ended', connecting: 'ended', linked: 'ended', mending: 'ended', retrying: 'ended', offline: 'ended' }],
    ['connected', { connecting: 'linked', mending: 'linked' }],
    ['shaken', { linked: 'mending' }],
    ['gone', { connecting: 'retrying', linked: 'connecting', mending: 'connecting' }],
    ['busy', { connecting: 'retrying' }],
    ['refused', { connecting: 'ended', linked: 'ended', mending: 'ended' }],
    ['told', { connecting: 'ended', linked: 'ended', mending: 'ended' }],
    ['due', { connecting: 'retrying', mending: 'connecting', retrying: 'connecting' }],
    ['offline', { connecting: 'offline', mending: 'offline', retrying: 'offline' }],
    ['online', { offline: 'connecting', retrying: 'connecting' }],
    ['stop', { asking: 'ended', connecting: 'ended', linked: 'ended', mending: 'ended', retrying: 'ended', offline: 'ended' }],
    ['left', { asking: 'ended', connecting: 'ended', linked: 'ended', mending: 'ended', retrying: 'ended', offline: 'ended' }],
    ['back', { ended: 'ready' }],
  ];
  for (const [type, moves] of table) {
    it(type, () => {
      const event = events.find((e) => e.type === type) as LiveEvent;
      for (const name of states) expect(next(state(name), event).state.name, name).toBe(moves[name] ?? name);
    });
  }

  it('is tested event by event', () => {
    expect(table.map(([type]) => type)).toEqual(events.map(({ type }) => type));
  });

  it('asks for what belongs to each move, and gives each state its time', () => {
    for (const name of states) {
      for (const event of events) {
        const step = next(state(name), event);
        const to = step.state.name;
        const moved = to !== name;
        const why = `${name} ${event.type}`;
        expect(step.open !== undefined, why).toBe(moved && to === 'asking');
        expect(step.connect !== undefined, why).toBe(moved && to === 'connecting');
        expect(step.restart !== undefined, why).toBe(moved && to === 'mending');
        if (moved && (to === 'ended' || to === 'retrying')) expect(step.close, why).toBe(true);
        if (!moved) continue;
        const limits: Partial<Record<StateName, number>> = { connecting: connectMs, linked: steadyMs, mending: mendMs };
        if (to === 'retrying') expect(step.dueInMs, why).toBe(event.type === 'busy' ? 7000 : pauseMs(1, 0));
        else expect(step.dueInMs, why).toBe(limits[to]);
      }
    }
  });
});

describe('a broken connection', () => {
  it('is mended within the session first, then a new session is begun at once', () => {
    const shaken = next(state('linked'), { type: 'shaken' });
    expect(shaken).toMatchObject({ restart: true, dueInMs: mendMs });
    expect(shaken.connect).toBeUndefined();
    expect(next(shaken.state, { type: 'due' })).toMatchObject({ state: { name: 'connecting' }, connect: true });
  });

  it('keeps the session while the network is away, and mends it when the network returns', () => {
    const away = after(state('linked'), { type: 'shaken' }, { type: 'offline' });
    expect(away.state).toMatchObject({ name: 'offline', held: true });
    expect(away.close).toBeUndefined();
    expect(away.dueInMs).toBeUndefined();
    expect(next(away.state, { type: 'online' })).toMatchObject({ state: { name: 'mending' }, restart: true });
    expect(next(away.state, { type: 'connected' }).state.name).toBe('linked');
  });

  it('waits without a timer when it breaks while the device has no network', () => {
    const away = after(state('linked'), { type: 'offline' }, { type: 'shaken' });
    expect(away.state).toMatchObject({ name: 'offline', held: true });
    expect(away.restart).toBeUndefined();
  });

  it('does not believe a device that calls itself offline while the connection stands', () => {
    expect(next(state('linked'), { type: 'offline' }).state.name).toBe('linked');
  });

  it('is retried for as long as the presenter has not stopped it, with pauses that grow to half a minute', () => {
    let s = after(state('ready'), { type: 'press' }, { type: 'opened' }).state;
    const pauses: (number | undefined)[] = [];
    for (let i = 0; i < 40; i++) {
      const step = next(s, { type: 'gone', cause: 'server' });
      pauses.push(step.dueInMs);
      s = next(step.state, { type: 'due' }).state;
    }
    expect(pauses.slice(0, 7)).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    expect(s.name).toBe('connecting');
    expect(next(s, { type: 'stop' }).state).toMatchObject({ name: 'ended', why: 'stopped' });
    expect(pauseMs(6, 0.999)).toBeGreaterThan(22_000);
  });

  it('forgets failures only after the connection has stood for a while', () => {
    const failing = state('connecting', { failures: 4 });
    const flapping = after(failing, { type: 'connected' }, { type: 'gone', cause: 'path' }, { type: 'gone', cause: 'path' });
    expect(flapping.dueInMs).toBe(pauseMs(5, 0));
    const steady = after(failing, { type: 'connected' }, { type: 'due' }, { type: 'gone', cause: 'path' }, { type: 'gone', cause: 'path' });
    expect(steady.dueInMs).toBe(pauseMs(1, 0));
  });
});

describe('an end', () => {
  it('that the station gave is final: no network and no timer brings the session back', () => {
    for (const why of ['replaced', 'kicked', 'revoked', 'late'] as const) {
      const over = after(state('linked'), { type: 'told', why }, { type: 'due' }, { type: 'offline' }, { type: 'online' }, { type: 'gone', cause: 'path' });
      expect(over.state).toMatchObject({ name: 'ended', why });
    }
  });

  it('keeps from when on the key is good', () => {
    const early = next(state('connecting'), { type: 'refused', why: 'early', retryAt: 1_700_000_000_000 });
    expect(early.state).toMatchObject({ name: 'ended', why: 'early', retryAt: 1_700_000_000_000 });
    expect(next(early.state, { type: 'press' }).state).toMatchObject({ name: 'asking', why: '', retryAt: 0 });
  });

  it('always gives the session up, so that nothing is sent that nobody wants', () => {
    for (const name of states) {
      for (const event of events) {
        const step = next(state(name), event);
        if (wanted(state(name)) && !wanted(step.state)) expect(step.close, `${name} ${event.type}`).toBe(true);
      }
    }
  });
});
