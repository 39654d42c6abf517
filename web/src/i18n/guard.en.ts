/** What the pages say of the dead-air guard to operators, in English. */
export const enGuard = {
  title: 'Dead-air guard',
  states: {
    off: 'Off', starting: 'Starting', watching: 'Watching: all is well', alarm: 'Alarm: it looks who is to blame', recovering: 'Recovering', pausing: 'Pausing before the next step',
    holding: 'Emergency audio keeps the air', proving: 'Sound is back; it is being watched',
  } as Record<string, string>,
  kinds: {
    gone: 'The output is gone', silence: 'The station is silent', frozen: 'The same sound comes again and again', playlist: 'The playlist was changed from outside', emergency: 'Emergency audio is on the air',
  } as Record<string, string>,
  steps: {
    skip: 'skipping the track', repush: 'pushing the rotation again', restart_engine: 'restarting the engine', restart_server: 'restarting the streaming server', emergency: 'putting emergency audio on the air',
    drop_live: 'cutting off the live source', wait: 'waiting for the supervisor', wait_feed: 'waiting for the engine to connect', rewrite: 'writing the playlist anew',
  } as Record<string, string>,
  since: (when: string) => `since ${when}`,
  step: 'Step',
  none: 'No step was taken yet',
  toPanel: 'To the guard',
  level: 'Level',
  alarms: 'Alarms',
  lasted: (time: string) => `heard again after ${time}`,
  still: 'still going on',
  did: (steps: string) => `done: ${steps}`,
};

export type GuardWords = typeof enGuard;
