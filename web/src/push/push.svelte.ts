import { ask, Problem } from '../station/control';
import { tongue } from '../i18n/tongue.svelte';
import { register } from './worker';
import { deviceId } from '../live/device';

export const topics = ['live', 'artist', 'bulletin'] as const;
export type Topic = (typeof topics)[number];

export interface Wishes {
  topics: Topic[];
  artists: string[];
  /** Hours of the listener's own day in which nothing is shown, HH:MM; null for none. */
  quiet: { from: string; until: string } | null;
}

export type Standing = 'insecure' | 'unsupported' | 'disabled' | 'denied' | 'off' | 'on';

const kept = 'athir.push';

/** Notifications: what this browser can do, what the listener wants, and the subscription that carries it. */
class Push {
  standing = $state<Standing>(standingNow());
  wishes = $state.raw<Wishes>(restore());
  /** The dialog is open; what it was opened from gets the focus back. */
  opened = $state.raw<HTMLElement | null>(null);

  constructor() {
    if (this.standing === 'off') void this.#look();
  }

  hasArtist(name: string): boolean {
    return this.standing === 'on' && this.wishes.topics.includes('artist') && this.wishes.artists.includes(name);
  }

  /** Subscribes, or changes what is told. Rejects with a Problem; with status 1 where the browser itself cannot. */
  async save(wishes: Wishes): Promise<void> {
    const { enabled, publicKey } = await ask<{ enabled: boolean; publicKey: string }>('GET', '/api/subscribe');
    if (!enabled) {
      this.standing = 'disabled';
      return;
    }
    let subscription: PushSubscription;
    try {
      if ((await Notification.requestPermission()) !== 'granted') {
        this.standing = standingNow();
        throw new Problem(1, '');
      }
      const worker = await register();
      subscription = await subscribe(worker, publicKey);
    } catch (failure) {
      throw failure instanceof Problem ? failure : new Problem(1, '');
    }
    // The device's name is what ties a message about one's own request or post to this subscription.
    await ask('POST', '/api/subscribe', { ...subscription.toJSON(), ...sent(wishes) }, { headers: { 'x-athir-device': deviceId() } });
    this.#keep(wishes);
    this.standing = 'on';
  }

  /** Ends it: the push service refuses the station from now on, and the station forgets the address. */
  async end(): Promise<void> {
    const subscription = await (await navigator.serviceWorker.getRegistration('/'))?.pushManager.getSubscription();
    await subscription?.unsubscribe();
    this.standing = 'off';
    if (subscription) await ask('DELETE', '/api/subscribe', { endpoint: subscription.endpoint }).catch(() => undefined);
  }

  async #look(): Promise<void> {
    const subscription = await (await navigator.serviceWorker.getRegistration('/'))?.pushManager.getSubscription();
    if (subscription && Notification.permission === 'granted') this.standing = 'on';
  }

  #keep(wishes: Wishes): void {
    this.wishes = wishes;
    try {
      localStorage.setItem(kept, JSON.stringify(wishes));
    } catch {
      // private windows may keep nothing
    }
  }
}

export const push = new Push();

function standingNow(): Standing {
  if (!isSecureContext) return 'insecure';
  if (!('serviceWorker' in navigator) || !('PushManager' in globalThis) || !('Notification' in globalThis)) return 'unsupported';
  return Notification.permission === 'denied' ? 'denied' : 'off';
}

/** What the station is told: the hours as its own clock may read them, by the listener's zone. */
function sent({ topics: chosen, artists, quiet }: Wishes): object {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const hours = quiet ? { quiet: { from: quiet.from, to: quiet.until, zone } } : {};
  return { topics: chosen, artists: chosen.includes('artist') ? artists : [], lang: tongue.language, ...hours };
}

/** A subscription made for another key of the station is made anew. */
async function subscribe(worker: ServiceWorkerRegistration, publicKey: string): Promise<PushSubscription> {
  const key = bytesOf(publicKey);
  const known = await worker.pushManager.getSubscription();
  const same = known?.options.applicationServerKey && equal(new Uint8Array(known.options.applicationServerKey), key);
  if (known && same) return known;
  await known?.unsubscribe();
  return worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
}

/** base64url as the bytes it writes. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const plain = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(plain, (c) => c.charCodeAt(0));
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

function restore(): Wishes {
  const usual: Wishes = { topics: ['live'], artists: [], quiet: { from: '23:00', until: '08:00' } };
  try {
    const said = JSON.parse(localStorage.getItem(kept) ?? 'null') as Partial<Wishes> | null;
    if (!said) return usual;
    const strings = (list: unknown) => (Array.isArray(list) ? list.filter((item): item is string => typeof item === 'string') : []);
    return {
      topics: topics.filter((topic) => strings(said.topics).includes(topic)),
      artists: strings(said.artists).slice(0, 50),
      quiet: said.quiet && typeof said.quiet.from === 'string' && typeof said.quiet.until === 'string' ? said.quiet : null,
    };
  } catch {
    return usual;
  }
}
