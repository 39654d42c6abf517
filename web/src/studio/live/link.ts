import type { Entrances } from './answers';

/**
 * What keeps a link from phones. here: it leads to this machine itself; insecure: browsers
 * lend no microphone there; guess: nothing says that https is spoken there.
 */
export type Hitch = '' | 'here' | 'insecure' | 'guess';

/** Browsers lend the microphone to these without https. */
const loopback = /^(localhost|[\w-]+\.localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * The link with which somebody goes live. What stands behind # is not sent to any server.
 * Where the settings name no address it leads to where the studio was opened, by what the
 * port speaks; a studio that was opened by https has a proxy before it, perhaps of that port too.
 */
export function linkOf({ goLive, whip, secure }: Pick<Entrances, 'goLive' | 'whip' | 'secure'>, studio: { protocol: string; hostname: string }, id: string, secret: string): { link: string; hitch: Hitch } {
  const near = loopback.test(studio.hostname);
  const guess = !goLive && !secure && !near && studio.protocol === 'https:';
  const at = new URL(goLive || `${secure || guess ? 'https' : 'http'}://${studio.hostname}:${whip}/go-live`);
  const link = `${at.href}#k=${id}.${secret}`;
  if (loopback.test(at.hostname)) return { link, hitch: 'here' };
  return { link, hitch: at.protocol !== 'https:' ? 'insecure' : guess ? 'guess' : '' };
}
