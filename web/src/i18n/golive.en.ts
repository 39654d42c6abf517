import type { Forms } from './choose';
import type { Barred, Cause, Refusal, Told } from '../golive/machine';
import type { Sign } from '../golive/sign';

/** A sign, a fault or an end: what it is, and what it means or what to do. */
export interface Said {
  title: string;
  say: string;
}

/** What the phone page of presenters says, in English. */
export const enGoLive = {
  title: 'Go live',
  key: {
    title: 'Your key',
    say: 'Open the link that the station sent you on this phone, or paste the link or the key here.',
    label: 'Link or key',
    use: 'Continue',
    wrong: 'This holds no key. A key looks like name.secret; copy the whole link again.',
    other: 'Use another key',
  },
  mic: {
    label: 'Microphone',
    auto: 'The phone’s own choice',
    test: 'Try the microphone',
    opening: 'Allow the microphone in the question of the browser…',
    off: 'The microphone is off. Nobody hears you.',
    level: 'Level',
    decibels: (db: string) => `${db} dBFS`,
    good: 'Speak so that the bar moves in the marked part.',
    muted: 'Muted',
  },
  sound: {
    label: 'Sound',
    voice: 'Voice',
    voiceSay: 'The phone removes echo and noise and keeps your level even. A weak network will do.',
    music: 'Music',
    musicSay: 'Stereo, as it is: for instruments and a mixing desk. Needs a good network.',
  },
  monitor: 'Hear myself',
  monitorSay: 'With headphones only, or it howls.',
  show: 'Title of the show',
  name: 'Your name',
  push: 'Tell the listeners who asked to be told',
  nowOn: 'Now',
  next: 'Next',
  afterShow: 'After you',
  nothing: 'Nothing is known',
  listeners: { zero: 'No one is listening', one: 'One listener', two: 'Two listeners', few: '# listeners', many: '# listeners', other: '# listeners' } as Forms,
  go: 'Go live',
  again: 'Go live again',
  tryNow: 'Try now',
  mute: 'Mute',
  unmute: 'Unmute',
  stop: 'Stop',
  stopSure: 'Tap again to stop',
  stopHint: 'Hold, or tap twice',
  validUntil: (time: string) => `Your key is good until ${time}`,
  endsIn: (time: string) => `Your key ends in ${time}. Then the programme goes on without you.`,
  onAirFor: 'Time on the air',
  wrapUp: { title: 'Wrap up', in: (time: string) => `The studio asks you to end in ${time}`, over: 'Your time is up. Say goodbye now.' },
  sign: {
    ready: { title: 'Off the air', say: '' },
    asking: { title: 'Microphone', say: 'Allow the microphone in the question of the browser.' },
    connecting: { title: 'Connecting…', say: 'Nobody hears you yet.' },
    unsure: { title: 'Connected', say: 'The station has not said yet whether you are heard. Go on as if you were.' },
    waiting: { title: 'Waiting for the studio', say: 'You are connected. Nobody hears you until the studio puts you on the air.' },
    'on air': { title: 'On the air', say: '' },
    grace: { title: 'No sound from you', say: 'You hold the air, and listeners hear silence. Speak, or the music comes back.' },
    held: { title: 'The show goes on without you', say: 'The show holds the air. You are heard again as soon as you speak.' },
    mending: { title: 'Connection broken', say: 'Mending it. Keep this page open.' },
    retrying: { title: 'Connection lost', say: '' },
    offline: { title: 'No network', say: 'This phone has no internet. It goes on by itself when the network returns. Turn on mobile data if you can.' },
    ended: { title: 'Off the air', say: '' },
  } as Record<Sign, Said>,
  takenBy: (name: string) => `${name} is on the air.`,
  retry: {
    server: 'The station does not answer. The next attempt follows by itself.',
    path: 'No connection came about. The next attempt follows by itself. Go nearer to the Wi-Fi, or to mobile data.',
    full: 'The station has no room now, or had too many attempts from your network. The next attempt follows by itself.',
    unready: 'The station cannot take you in just now. The next attempt follows by itself.',
  } as Record<Cause, string>,
  retryIn: (time: string) => `Next attempt in ${time}`,
  opensAt: (time: string) => `It opens at ${time}.`,
  wasOn: (time: string) => `You were on the air for ${time}.`,
  ended: {
    stopped: { title: 'You have stopped', say: 'The programme goes on. The microphone is off.' },
    left: { title: 'You left the page', say: 'The broadcast ended with it. Go live again if you want to.' },
    insecure: { title: 'The address is not secure', say: 'Browsers give the microphone only to https addresses. Open the link again, with https:// at its beginning.' },
    denied: { title: 'The microphone was refused', say: 'Allow it for this page: tap the sign beside the address, then Permissions, Microphone, Allow. Then try again.' },
    missing: { title: 'No microphone', say: 'This device has none, or it was unplugged. Plug one in, then try again.' },
    taken: { title: 'The microphone is taken', say: 'Another app holds it, perhaps a call. End it, then try again.' },
    unknown: { title: 'This key is not known', say: 'It may have been copied in part. Open the whole link again, or ask the station for a new one.' },
    revoked: { title: 'Your key was withdrawn', say: 'The station has ended it. Ask the station if you think that this is a mistake.' },
    early: { title: 'It is too early', say: 'Your key is not good yet.' },
    late: { title: 'Your time is over', say: 'Your key has ended. Ask the station for a new one.' },
    forbidden: { title: 'The station says no', say: 'It does not let you in now. Ask the studio why.' },
    replaced: { title: 'Another device took over', say: 'Someone went live with the same key, and that device is used now. If it was not you, tell the station at once.' },
    kicked: { title: 'The studio has ended it', say: 'The programme goes on. Talk to the studio before you go live again.' },
  } as Record<Barred | Refusal | Told | 'stopped' | 'left', Said>,
  warn: {
    interrupted: 'The phone has taken the microphone away, for a call perhaps. Nobody hears you until the call ends.',
    silent: 'Nothing comes from the microphone. Is it covered, or switched off?',
    clips: 'Too loud: it distorts. Move away from the microphone, or turn it down.',
    loss: (percent: string) => `The network loses ${percent} of your sound. Go nearer to the Wi-Fi, or change to mobile data.`,
    slow: (ms: string) => `The network is slow: ${ms} ms. You may be heard late.`,
    muted: 'You are muted. After a minute of silence the music comes back.',
  },
  words: {
    warnings: 'Warnings',
    settings: 'Settings',
    state: 'State',
  },
};

export type GoLiveWords = typeof enGoLive;
