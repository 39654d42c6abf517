import type { LiveEvent } from './machine';
import { preferRedundancy } from './redundancy';
import { bitrates, fragmentOf, restarted, withNack, withOpus, type Sound } from './sdp';
import type { Facts } from './sign';
import { Denied, Resource, type Show } from './whip';

/** How the packets fare on their way, over the last seconds. */
export interface Quality {
  lossPct: number;
  rttMs: number;
}

export interface Setting {
  key: string;
  show: Show;
  sound: Sound;
  track: MediaStreamTrack;
  servers: RTCIceServer[];
  /** Through TURN alone, as a network that lets nothing else through forces it. */
  relayed: boolean;
  /** Each packet is to carry a copy of the one before, where the browser can. */
  redundant: boolean;
  muted: boolean;
}

export interface Ears {
  event: (event: LiveEvent) => void;
  facts: (facts: Facts) => void;
  quality: (quality: Quality) => void;
}

/** With a candidate in hand the offer waits so long for more; without one, four times that. The rest follows by PATCH. */
const gatherMs = 250;
const statsMs = 2000;
/** So long a stop may take to be heard before the connection is closed all the same. */
const tellMs = 1000;

/** One session: the peer connection, its resource at the server, and what both tell. It ends once, and tells nothing afterwards. */
export class Session {
  readonly #pc: RTCPeerConnection;
  readonly #over = new AbortController();
  readonly #setting: Setting;
  readonly #tell: Ears;
  #sender: RTCRtpSender;
  #resource: Resource | null = null;
  #late: string[] = [];
  /** Candidates up to here were in an offer; the rest is sent by itself. */
  #sent = false;
  #restarts = 0;
  #muted: boolean;
  /** Its connection has stood: the station may have heard it. */
  #stood = false;
  #before: { at: number; sent: number; lost: number }[] = [];

  constructor(setting: Setting, tell: Ears) {
    this.#setting = setting;
    this.#tell = tell;
    this.#muted = setting.muted;
    this.#pc = new RTCPeerConnection({ iceServers: setting.servers, bundlePolicy: 'max-bundle', rtcpMuxPolicy: 'require', ...(setting.relayed ? { iceTransportPolicy: 'relay' } : {}) });
    const transceiver = this.#pc.addTransceiver(setting.track, { direction: 'sendonly', streams: [new MediaStream([setting.track])] });
    this.#sender = transceiver.sender;
    if (setting.redundant) preferRedundancy(transceiver);
    this.#pc.onconnectionstatechange = () => this.#look();
    this.#pc.onicecandidate = ({ candidate }) => {
      if (!this.#sent || !candidate?.candidate) return;
      this.#late.push(candidate.candidate);
      if (this.#late.length === 1) setTimeout(() => void this.#trickle(), 50);
    };
  }

  /** Never throws: what goes wrong is told as an event. */
  async begin(): Promise<void> {
    try {
      const offer = await this.#offer();
      this.#resource = await Resource.begin(this.#setting.key, offer, this.#setting.show, this.#over.signal);
      await this.#accept(this.#resource.answer);
      void this.#follow(this.#resource);
      void this.#measure();
      if (this.#late.length) void this.#trickle();
      if (this.#muted) void this.muted(true);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Restarts ICE. While nobody answers it asks again each second: the network may be on its way back. */
  async restart(): Promise<void> {
    const turn = ++this.#restarts;
    const resource = this.#resource;
    if (!resource) return this.#event({ type: 'gone', cause: 'server' });
    try {
      const offer = await this.#offer(true);
      const fragment = fragmentOf(offer, undefined, this.#pc.iceGatheringState === 'complete');
      for (;;) {
        try {
          const answer = restarted(resource.answer, await resource.restart(fragment));
          if (turn !== this.#restarts) return; // only the last request counts (RFC 9725, 4.3.3)
          if (!answer) throw new Denied({ kind: 'gone' });
          await this.#accept(answer);
          return this.#look(); // it may never have been broken for long enough to change again
        } catch (error) {
          if (!isAway(error)) throw error;
          await new Promise((done) => setTimeout(done, 1000));
          if (this.#over.signal.aborted || turn !== this.#restarts) return;
        }
      }
    } catch {
      if (turn === this.#restarts) this.#event({ type: 'gone', cause: 'server' }); // whatever the reason: a new session will tell
    }
  }

  /** Tells the station that the presenter is silent on purpose; repeated until it is heard. */
  async muted(muted: boolean): Promise<void> {
    this.#muted = muted;
    while (this.#resource && this.#muted === muted && !this.#over.signal.aborted) {
      try {
        return await this.#resource.muted(muted);
      } catch (error) {
        if (!isAway(error)) return;
        await new Promise((done) => setTimeout(done, 2000));
      }
    }
  }

  /** Sends another microphone from now on. */
  async turnTo(track: MediaStreamTrack): Promise<void> {
    await this.#sender.replaceTrack(track).catch(() => undefined);
  }

  /**
   * Ends it. A stop is told first, and the connection closed once that was heard or a second has passed: the word that
   * a connection is closed comes another way, may overtake the DELETE, and is what a page sends that is loaded again. One
   * that is to be followed by another, or whose page goes, is only closed: the station keeps its place for a moment.
   */
  end(stop: boolean): void {
    if (this.#over.signal.aborted) return;
    this.#over.abort();
    this.#pc.onconnectionstatechange = this.#pc.onicecandidate = null;
    const told = stop || !this.#stood ? this.#resource?.end() : undefined;
    if (!told) return this.#pc.close();
    void Promise.race([told, new Promise((done) => setTimeout(done, tellMs))]).then(() => this.#pc.close());
  }

  #event(event: LiveEvent): void {
    if (!this.#over.signal.aborted) this.#tell.event(event);
  }

  #fail(error: unknown): void {
    const said = error instanceof Denied ? error.said : null;
    if (said?.kind === 'refused') this.#event({ type: 'refused', why: said.why, retryAt: said.retryAt });
    else if (said?.kind === 'busy') this.#event({ type: 'busy', afterMs: said.afterMs, cause: said.cause });
    else this.#event({ type: 'gone', cause: said ? 'server' : 'path' });
  }

  #look(): void {
    const state = this.#pc.connectionState;
    this.#stood ||= state === 'connected';
    if (state === 'connected') this.#event({ type: 'connected' });
    else if (state === 'disconnected') this.#event({ type: 'shaken' });
    else if (state === 'failed') this.#event({ type: 'gone', cause: 'path' });
  }

  /** The offer with the candidates that come soon. */
  async #offer(iceRestart = false): Promise<string> {
    this.#sent = false;
    this.#late = [];
    const plain = await this.#pc.createOffer({ iceRestart });
    const sdp = withNack(withOpus(plain.sdp ?? '', this.#setting.sound));
    // A browser that allows no change of its offer sends without the extras.
    await this.#pc.setLocalDescription({ type: 'offer', sdp }).catch(() => this.#pc.setLocalDescription(plain));
    await this.#gathered();
    this.#sent = true;
    return this.#pc.localDescription?.sdp ?? sdp;
  }

  async #gathered(): Promise<void> {
    const { promise, resolve } = withResolvers();
    const look = (): void => {
      if (this.#pc.iceGatheringState === 'complete') resolve();
    };
    const some = (): void => {
      if (this.#pc.localDescription?.sdp.includes('a=candidate:')) resolve();
    };
    this.#pc.addEventListener('icegatheringstatechange', look);
    const timers = [1, 2, 3].map((n) => setTimeout(some, n * gatherMs)).concat(setTimeout(resolve, 4 * gatherMs));
    look();
    await promise;
    this.#pc.removeEventListener('icegatheringstatechange', look);
    timers.forEach(clearTimeout);
  }

  async #accept(answer: string): Promise<void> {
    await this.#pc.setRemoteDescription({ type: 'answer', sdp: withOpus(answer, this.#setting.sound) });
    const parameters = this.#sender.getParameters();
    for (const encoding of parameters.encodings) encoding.maxBitrate = bitrates[this.#setting.sound];
    await this.#sender.setParameters(parameters).catch(() => undefined); // the answer's format says the same
  }

  async #trickle(): Promise<void> {
    const found = this.#late.splice(0);
    const sdp = this.#pc.localDescription?.sdp;
    if (!found.length || !sdp || !this.#resource) return void this.#late.unshift(...found);
    // A server that takes no trickle has the candidates of the offer, and learns the others as packets come from them.
    await this.#resource.trickle(fragmentOf(sdp, found, this.#pc.iceGatheringState === 'complete')).catch(() => undefined);
  }

  async #follow(resource: Resource): Promise<void> {
    for (let pause = 500; !this.#over.signal.aborted; pause = Math.min(5000, pause * 2)) {
      const began = performance.now();
      const how = await resource.follow((facts) => this.#heed(facts), this.#over.signal);
      if (how === 'gone') return this.#event({ type: 'gone', cause: 'server' });
      if (performance.now() - began > 10_000) pause = 500;
      await new Promise((done) => setTimeout(done, pause));
    }
  }

  #heed(facts: Facts): void {
    if (this.#over.signal.aborted) return;
    this.#tell.facts(facts);
    if (!facts.ended) return;
    this.#event(facts.ended === 'server' ? { type: 'gone', cause: 'server' } : { type: 'told', why: facts.ended });
  }

  async #measure(): Promise<void> {
    while (!this.#over.signal.aborted) {
      await new Promise((done) => setTimeout(done, statsMs));
      const stats = await this.#pc.getStats().catch(() => null);
      if (stats && !this.#over.signal.aborted) this.#judge(stats);
    }
  }

  /** Loss over the last six seconds or so, as the other side counts it. */
  #judge(stats: RTCStatsReport): void {
    let sent = 0;
    let lost = 0;
    let rttMs = 0;
    stats.forEach((s) => {
      if (s.type === 'outbound-rtp' && s.kind === 'audio') sent = s.packetsSent ?? 0;
      if (s.type === 'remote-inbound-rtp' && s.kind === 'audio') {
        lost = s.packetsLost ?? 0;
        rttMs = (s.roundTripTime ?? 0) * 1000 || rttMs;
      }
      if (s.type === 'candidate-pair' && s.nominated && !rttMs) rttMs = (s.currentRoundTripTime ?? 0) * 1000;
    });
    const at = performance.now();
    this.#before = [...this.#before.filter((b) => at - b.at < 3.5 * statsMs), { at, sent, lost }];
    const first = this.#before[0] as { sent: number; lost: number };
    const [packets, gone] = [sent - first.sent, Math.max(0, lost - first.lost)];
    this.#tell.quality({ lossPct: packets > 50 ? Math.min(100, (100 * gone) / packets) : 0, rttMs: Math.round(rttMs) });
  }
}

const isAway = (error: unknown): boolean => error instanceof Denied && error.said.kind === 'away';

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
