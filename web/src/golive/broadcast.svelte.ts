import { Awake } from './awake';
import { keepKey, keepSettings, keptKey, keptSettings, type Settings } from './kept';
import { initial, next, wanted, type LiveEvent, type LiveState } from './machine';
import { Microphone } from './microphone.svelte';
import { redundancyPays, wayNow } from './redundancy';
import { relaysBy } from './sdp';
import { Session, type Quality } from './session';
import { goesOn, signOf, type Facts, type Sign } from './sign';
import { keyIn, Resource, type Account } from './whip';

/** ICE servers are asked for anew after so long: the credentials of a relay wear out. */
const serversMs = 600_000;

/** A broadcast from this page: carries out what the machine asks for, and holds what the page shows. */
export class Broadcast {
  state = $state.raw<LiveState>(initial(navigator.onLine));
  facts = $state.raw<Facts | null>(null);
  quality = $state.raw<Quality | null>(null);
  key = $state(keptKey());
  settings = $state<Settings>(keptSettings());
  /** Whose key it is: what the station says where the settings say nothing. */
  account = $state.raw<Account>({ name: '', show: '' });
  muted = $state(false);
  monitor = $state(false);
  /** What barred the microphone when it was only to be tried. */
  barred = $state('');
  /** How long the last broadcast was on the air. */
  lastedMs = $state(0);
  /** A steady clock, moved on four times a second. */
  now = $state(performance.now());
  readonly mic = new Microphone();

  #session: Session | null = null;
  #awake = new Awake();
  #due: ReturnType<typeof setTimeout> | undefined;
  #dueAt = $state(0);
  #factsAt = $state(0);
  /** The station's clock less the page's steady one. */
  #ahead = $state(0);
  #onAirSince = $state(0);
  #servers: Promise<RTCIceServer[]> | null = null;
  #serversAt = 0;
  /** The key whose account was asked for last. */
  #learnt = '';
  /** How the session fares: the worst loss so far, whether its connection broke, whether it carries copies. */
  #way = { lossPct: 0, broke: false, redundant: false };
  /** ?ice=relay has it go through TURN alone, ?ice=relay-tcp by that way alone: to try a network. */
  readonly #relay = /^relay(?:-(udp|tcp|tls))?$/.exec(new URLSearchParams(location.search).get('ice') ?? '');

  readonly wanted = $derived(wanted(this.state));
  readonly sign: Sign = $derived(signOf(this.state.name, this.facts, this.now - this.#factsAt));
  readonly live = $derived(goesOn(this.sign));

  constructor() {
    this.mic.onLost = (why) => this.send({ type: 'barred', why });
    this.mic.onTurn = (track) => void this.#session?.turnTo(track);
  }

  /** The station's clock, epoch milliseconds. */
  get stationNow(): number {
    return this.#ahead ? this.now + this.#ahead : Date.now();
  }

  /** Time on the air so far; holes and pauses count, as they do for listeners. */
  get onAirMs(): number {
    return this.#onAirSince ? Math.max(0, this.stationNow - this.#onAirSince) : 0;
  }

  get retryInMs(): number {
    return Math.max(0, this.#dueAt - this.now);
  }

  /** Milliseconds until the studio wants the end; null while it has not said so. */
  get wrapUpMs(): number | null {
    return this.wanted && this.facts?.wrapUpAt ? this.facts.wrapUpAt - this.stationNow : null;
  }

  /** Reacts to the browser until the returned function is called. */
  follow(): () => void {
    this.readKey();
    void this.#learn();
    const ended = new AbortController();
    const { signal } = ended;
    const ticker = setInterval(() => (this.now = performance.now()), 250);
    addEventListener('hashchange', () => this.readKey(), { signal });
    addEventListener('online', () => this.send({ type: 'online' }), { signal });
    addEventListener('offline', () => this.send({ type: 'offline' }), { signal });
    addEventListener('pagehide', () => this.send({ type: 'left' }), { signal });
    addEventListener('beforeunload', (event) => this.wanted && event.preventDefault(), { signal });
    return () => {
      ended.abort();
      clearInterval(ticker);
      this.send({ type: 'left' });
      this.mic.close();
    };
  }

  /** Takes the key out of the address, where it would be seen and sent on with a picture of the screen. */
  readKey(): void {
    if (!location.hash.includes('k=')) return;
    const key = keyIn(location.hash);
    history.replaceState(history.state, '', location.pathname + location.search);
    if (key) this.useKey(key);
  }

  /** Learns whose key it is. */
  async #learn(): Promise<void> {
    const { key } = this;
    if (key === this.#learnt) return;
    this.#learnt = key;
    this.account = { name: '', show: '' };
    const account = key ? await Resource.account(key) : this.account;
    if (key === this.key) this.account = account;
  }

  /** Uses a key, or a link that holds one; answers whether it is one. */
  useKey(text: string): boolean {
    const key = keyIn(text);
    if (!key || this.wanted) return false;
    this.key = key;
    keepKey(key);
    this.#servers = null;
    this.send({ type: 'back' });
    void this.#learn();
    return true;
  }

  forgetKey(): void {
    if (this.wanted) return;
    this.key = '';
    keepKey('');
    void this.#learn();
    this.mic.close();
    this.send({ type: 'back' });
  }

  /** Opens the microphone to look at its level, without going live. */
  async tryMicrophone(): Promise<void> {
    void this.#iceServers();
    await this.mic.set(this.settings.device, this.settings.sound);
    this.barred = await this.mic.open();
  }

  /** Takes changed settings: keeps them, and opens the microphone anew if that is what changed. */
  async change(): Promise<void> {
    keepSettings($state.snapshot(this.settings));
    this.barred = await this.mic.set(this.settings.device, this.settings.sound);
  }

  setMonitor(on: boolean): void {
    this.monitor = on;
    this.mic.monitor(on);
  }

  press(): void {
    if (!this.key) return;
    this.barred = '';
    void this.#iceServers();
    this.send({ type: 'press' });
  }

  toggleMute(): void {
    this.muted = !this.muted;
    this.mic.mute(this.muted);
    void this.#session?.muted(this.muted);
  }

  send(event: LiveEvent): void {
    const before = this.state;
    const { state, open, connect, restart, close, dueInMs } = next(before, event, Math.random());
    const lasted = this.onAirMs;
    if ((event.type === 'gone' && event.cause === 'path') || (event.type === 'due' && before.name === 'mending')) this.#way.broke = true;
    this.state = state;
    if (state.name !== before.name || dueInMs !== undefined) this.#wait(dueInMs);
    if (close || connect) this.#close(state.name === 'ended' && state.why !== 'left');
    if (open) void this.#open();
    if (connect) void this.#connect();
    if (restart) void this.#session?.restart();
    if (wanted(before) && !wanted(state)) this.#over(state, lasted);
    this.#awake.want(wanted(state));
  }

  #wait(ms: number | undefined): void {
    clearTimeout(this.#due);
    if (ms === undefined) return;
    this.#dueAt = performance.now() + ms;
    this.now = performance.now();
    this.#due = setTimeout(() => this.send({ type: 'due' }), ms);
  }

  async #open(): Promise<void> {
    this.lastedMs = 0;
    await this.mic.set(this.settings.device, this.settings.sound);
    const why = await this.mic.open();
    this.send(why ? { type: 'barred', why } : { type: 'opened' });
  }

  async #connect(): Promise<void> {
    const attempt = this.state;
    const servers = relaysBy(await this.#iceServers(), this.#relay?.[1]);
    const { track } = this.mic;
    if (this.state !== attempt || !track) return; // stopped, or lost its microphone, meanwhile
    const { title, name, push, sound } = this.settings;
    // Listeners are told of a show once, not of each new connection.
    const show = { title: title.trim(), name: name.trim(), push: push && !attempt.returned };
    const redundant = redundancyPays({ sound, ...wayNow(navigator), ...this.#way });
    this.#way = { lossPct: 0, broke: false, redundant };
    const session: Session = new Session({ key: this.key, show, sound, track, servers, relayed: this.#relay !== null, redundant, muted: this.muted }, {
      event: (event) => this.send(event),
      facts: (facts) => this.#heed(facts),
      quality: (quality) => this.#measured(quality),
    });
    this.#session = session;
    await session.begin();
  }

  #measured(quality: Quality): void {
    this.quality = quality;
    this.#way.lossPct = Math.max(this.#way.lossPct, quality.lossPct);
  }

  #close(stop: boolean): void {
    this.#session?.end(stop);
    this.#session = null;
    this.facts = null;
    this.quality = null;
  }

  #over(state: LiveState, lastedMs: number): void {
    this.lastedMs = lastedMs;
    this.#onAirSince = 0;
    this.muted = false;
    this.mic.close();
    if (this.monitor) this.setMonitor(false);
    if (state.why === 'revoked' || state.why === 'unknown') {
      this.key = '';
      keepKey('');
    }
  }

  #heed(facts: Facts): void {
    const now = performance.now();
    this.now = now;
    // The same clock again: they are the last facts that the server could get, and grow old.
    if (!facts.now || facts.now !== this.facts?.now) this.#factsAt = now;
    this.#setClock(facts.now ?? 0, now);
    this.facts = facts;
    const sign = signOf('linked', facts, 0);
    if (!goesOn(sign)) this.#onAirSince = 0;
    else if (sign === 'on air') this.#onAirSince ||= facts.since || this.stationNow;
  }

  /** Facts may be a second old when they come: what looks latest is closest to the station's clock. */
  #setClock(stationNow: number, now: number): void {
    const ahead = stationNow - now;
    if (stationNow && (ahead > this.#ahead || this.#ahead - ahead > 8000)) this.#ahead = ahead;
  }

  /** Asked for beforehand, so that a press does not wait for it. */
  #iceServers(): Promise<RTCIceServer[]> {
    if (!this.#servers || performance.now() - this.#serversAt > serversMs) {
      const asked = Resource.servers(this.key);
      this.#servers = asked;
      this.#serversAt = performance.now();
      void asked.then((servers) => {
        if (!servers.length && this.#servers === asked) this.#serversAt -= serversMs - 20_000; // nobody answered, or there are none: ask again soon
      });
    }
    return this.#servers;
  }
}
