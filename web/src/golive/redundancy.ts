/** Redundant audio (RFC 2198): each packet carries a copy of the one before, so that a lost one need not be sent again. */
import type { Sound } from './sdp';

/** What is known of the way when a session is about to begin; null where the browser does not say, or nothing came before. */
export interface Way {
  sound: Sound;
  /** The presenter has asked the device to save data. */
  saveData: boolean;
  rttMs: number | null;
  downlinkMbps: number | null;
  /** Of the session before this one: the worst of its loss, per cent, whether its connection broke, and whether it carried copies. */
  lossPct: number;
  broke: boolean;
  redundant: boolean;
}

/** From here a retransmission takes as long as the station waits on a good way. */
const farMs = 200;
/** From here loss is heard when a retransmission is lost too. */
const lossyPct = 3;
/** Twice the voice is 110 kbit/s on the wire: not for a way that carries hardly more, whose loss may be its narrowness. */
const narrowMbps = 0.25;

/** Whether copies are worth twice the rate: on a long or lossy way, for voice alone. A session that broke with them may have broken by them. */
export function redundancyPays({ sound, saveData, rttMs, downlinkMbps, lossPct, broke, redundant }: Way): boolean {
  if (sound !== 'voice' || saveData || (broke && redundant) || (downlinkMbps !== null && downlinkMbps < narrowMbps)) return false;
  return (rttMs !== null && rttMs >= farMs) || lossPct > lossyPct || broke;
}

/** The codecs with redundant audio first, the rest in their order; null where the browser has none. */
export function redundantFirst<C extends { mimeType: string }>(codecs: readonly C[]): C[] | null {
  const isRED = ({ mimeType }: C): boolean => mimeType.toLowerCase() === 'audio/red';
  const red = codecs.filter(isRED);
  return red.length ? [...red, ...codecs.filter((codec) => !isRED(codec))] : null;
}

/** What Chromium tells of the network, no other browser: rtt in milliseconds, downlink in Mbit/s. */
export function wayNow(around: Navigator): Pick<Way, 'saveData' | 'rttMs' | 'downlinkMbps'> {
  const told = (around as { connection?: { saveData?: unknown; rtt?: unknown; downlink?: unknown } }).connection;
  const number = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : null);
  return { saveData: told?.saveData === true, rttMs: number(told?.rtt), downlinkMbps: number(told?.downlink) };
}

/** Prefers redundant audio where the browser can: the order of the offer is what the station goes by. */
export function preferRedundancy(transceiver: RTCRtpTransceiver): void {
  try {
    const codecs = redundantFirst(RTCRtpReceiver.getCapabilities('audio')?.codecs ?? []);
    if (codecs) transceiver.setCodecPreferences(codecs);
  } catch {
    // an old browser: it sends without
  }
}
