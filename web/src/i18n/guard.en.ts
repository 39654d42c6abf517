/** What the pages say of the dead-air guard to operators, in English. */
export const enGuard = {
  title: 'Dead-air guard',
  states: {
    off: 'Off', starting: 'Starting', watching: 'Watching: all is well', alarm: 'Alarm: finding the cause', recovering: 'Recovering', pausing: 'Alarm: nothing more can be done from here',
    holding: 'Emergency audio is on the air', proving: 'The sound is back and being watched',
  } as Record<string, string>,
  kinds: {
    gone: 'The stream is gone', starved: 'The machine cannot keep up', unreachable: 'The broadcast node does not answer', silence: 'The station is silent', frozen: 'The same sound keeps repeating', playlist: 'The playlist was changed from outside', emergency: 'Emergency audio is on the air',
  } as Record<string, string>,
  steps: {
    skip: 'skipping the track', repush: 'pushing the rotation again', restart_engine: 'restarting the engine', restart_server: 'restarting the streaming server', emergency: 'putting emergency audio on the air',
    drop_live: 'disconnecting the live source', wait: 'waiting for the broadcast node', shed: 'holding up mastering', rewrite: 'rewriting the playlist',
  } as Record<string, string>,
  since: (when: string) => `since ${when}`,
  step: 'Step',
  none: 'No step taken yet',
  toPanel: 'Show the guard',
  level: 'Level',
  alarms: 'Alarms',
  lasted: (time: string) => `sound back after ${time}`,
  still: 'not over yet',
  did: (steps: string) => `steps taken: ${steps}`,
};

export type GuardWords = typeof enGuard;
