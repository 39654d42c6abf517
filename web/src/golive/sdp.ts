/** What this page changes in session descriptions, and the fragments that WHIP sends of them (RFC 9725, RFC 8840). */

/** voice: mono, and carries redundancy of its own; music: stereo, and none of the browser's clean-up. */
export type Sound = 'voice' | 'music';

/** Bits per second. With 50 packets a second and their headers voice stays under 70 kbit/s on the wire, music under 160. */
export const bitrates: Record<Sound, number> = { voice: 40_000, music: 128_000 };

const formats: Record<Sound, Record<string, string>> = {
  voice: { minptime: '10', useinbandfec: '1', stereo: '0', 'sprop-stereo': '0', maxaveragebitrate: String(bitrates.voice) },
  music: { minptime: '10', useinbandfec: '0', stereo: '1', 'sprop-stereo': '1', maxaveragebitrate: String(bitrates.music) },
};

/** The payload type of Opus, 111 in most browsers; empty where the description has none. */
export function opusOf(sdp: string): string {
  return /^a=rtpmap:(\d+) opus\/48000/im.exec(sdp)?.[1] ?? '';
}

/**
 * Sets the parameters of Opus. A browser takes what it sends with from the other side's
 * description, so an answer is changed as the offer is.
 */
export function withOpus(sdp: string, sound: Sound): string {
  const type = opusOf(sdp);
  if (!type) return sdp;
  const line = new RegExp(`^a=fmtp:${type} (.*)$`, 'm');
  const params = new Map<string, string>();
  for (const part of (line.exec(sdp)?.[1]?.trim() ?? '').split(';')) {
    const [key = '', value = ''] = part.split('=');
    if (key.trim()) params.set(key.trim(), value.trim());
  }
  for (const [key, value] of Object.entries(formats[sound])) params.set(key, value);
  const text = `a=fmtp:${type} ${[...params].map(([key, value]) => `${key}=${value}`).join(';')}`;
  return line.test(sdp) ? sdp.replace(line, text) : after(sdp, `a=rtpmap:${type} `, text);
}

/** Asks for lost packets to be sent again: Chromium does so for audio only where the offer says it. */
export function withNack(sdp: string): string {
  const type = opusOf(sdp);
  const line = `a=rtcp-fb:${type} nack`;
  return !type || new RegExp(`^${line}\\s*$`, 'm').test(sdp) ? sdp : after(sdp, `a=rtpmap:${type} `, line);
}

function after(sdp: string, start: string, line: string): string {
  return sdp.replace(new RegExp(`^(${start}[^\\r\\n]*)(\\r?\\n)`, 'm'), `$1$2${line}$2`);
}

const values = (sdp: string, name: string): string[] => [...sdp.matchAll(new RegExp(`^a=${name}:([^\\r\\n]*)`, 'gm'))].map((m) => m[1] as string);

/** The fragment that tells the server of candidates, or with new credentials asks for an ICE restart. */
export function fragmentOf(sdp: string, candidates: readonly string[] = values(sdp, 'candidate').map((c) => `candidate:${c}`), whole = true): string {
  const lines = [`a=ice-ufrag:${values(sdp, 'ice-ufrag')[0] ?? ''}`, `a=ice-pwd:${values(sdp, 'ice-pwd')[0] ?? ''}`];
  const media = /^m=audio[^\r\n]*/m.exec(sdp)?.[0];
  if (media) lines.push(media, `a=mid:${values(sdp, 'mid')[0] ?? '0'}`);
  lines.push(...candidates.map((c) => `a=${c}`));
  if (whole) lines.push('a=end-of-candidates');
  return `${lines.join('\r\n')}\r\n`;
}

/** The answer of before with the credentials and candidates that the server gave at an ICE restart; null if it gave none. */
export function restarted(answer: string, fragment: string): string | null {
  const [name, password] = [values(fragment, 'ice-ufrag')[0], values(fragment, 'ice-pwd')[0]];
  if (!name || !password) return null;
  let sdp = answer.replace(/^a=ice-ufrag:[^\r\n]*/gm, `a=ice-ufrag:${name}`).replace(/^a=ice-pwd:[^\r\n]*/gm, `a=ice-pwd:${password}`);
  const candidates = values(fragment, 'candidate');
  if (candidates.length) {
    sdp = sdp.replace(/^a=(?:candidate:[^\r\n]*|end-of-candidates)\r?\n/gm, '');
    sdp = after(sdp, `a=ice-pwd:`, candidates.map((c) => `a=candidate:${c}`).join('\r\n'));
  }
  return sdp;
}

/** ICE servers of a Link header (RFC 9725, 4.6), or of a list of them joined by commas. */
export function serversOf(link: string): RTCIceServer[] {
  const servers: RTCIceServer[] = [];
  for (const [, urls = '', params = ''] of link.matchAll(/<([^>]*)>((?:\s*;\s*[\w-]+\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]+))*)/g)) {
    const named = new Map([...params.matchAll(/([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]+))/g)].map((m) => [(m[1] ?? '').toLowerCase(), (m[2] ?? m[3] ?? '').replace(/\\(.)/g, '$1')]));
    if (named.get('rel') !== 'ice-server' || !/^(?:stun|turn)s?:/i.test(urls)) continue;
    const [username, credential] = [named.get('username'), named.get('credential')];
    servers.push({ urls, ...(username === undefined ? {} : { username }), ...(credential === undefined ? {} : { credential }) });
  }
  return servers;
}

/** ICE servers of the answer of /whip-info: its stun and turn lists hold addresses or whole servers. */
export function serversIn(info: unknown): RTCIceServer[] {
  const { stun = [], turn = [] } = (info ?? {}) as { stun?: unknown[]; turn?: unknown[] };
  const lists = [stun, turn].map((list) => (Array.isArray(list) ? list : []));
  return lists.flat().flatMap((item): RTCIceServer[] => {
    if (typeof item === 'string') return /^stuns?:/i.test(item) ? [{ urls: item }] : []; // turn without a credential is of no use
    const server = (item ?? {}) as { urls?: string | string[]; url?: string; username?: string; credential?: string };
    const urls = server.urls ?? server.url;
    if (!urls?.length) return [];
    return [{ urls, ...(server.username === undefined ? {} : { username: server.username }), ...(server.credential === undefined ? {} : { credential: server.credential }) }];
  });
}

/** The addresses that lead to a relay by one way: udp, tcp or tls. All of them where none is named. */
export function relaysBy(servers: RTCIceServer[], way: string | undefined): RTCIceServer[] {
  if (!way) return servers;
  const wayOf = (url: string): string => (/^turns:/i.test(url) ? 'tls' : (/^turn:[^?]*\?transport=(\w+)/i.exec(url)?.[1] ?? (/^turn:/i.test(url) ? 'udp' : '')));
  return servers.map((server) => ({ ...server, urls: [server.urls].flat().filter((url) => wayOf(url) === way) })).filter(({ urls }) => urls.length > 0);
}
