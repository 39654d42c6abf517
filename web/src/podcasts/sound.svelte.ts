import type { Chapter, Episode, Show } from './answers';
import { chapterAt, chapterBeside } from './chapters';
import { isDone, readPlaces, resumeAt, withPlace, type Place, type Places } from './places';
import { speeds } from './when';

/** What of a show the sound has to know. */
export type Of = Pick<Show, 'slug' | 'title' | 'cover' | 'serial'>;

/**
 * - idle: nothing was chosen
 * - loading: it is wanted, and not heard yet or just now
 * - failed: the sound did not come; gone: there is no such file any more
 */
export type SoundState = 'idle' | 'loading' | 'playing' | 'paused' | 'ended' | 'failed' | 'gone';

const keptPlaces = 'athir.podcasts';
const keptSpeed = 'athir.podcasts.speed';
const saveEverySeconds = 5;
/** After that long without sound the listener may ask for it anew. */
const patienceMs = 10_000;

/** The one episode that is heard, wherever on the page one is. */
class Sound {
  episode = $state.raw<Episode | null>(null);
  show = $state.raw<Of | null>(null);
  state = $state<SoundState>('idle');
  /** It takes long. */
  slow = $state(false);
  /** Seconds. */
  at = $state(0);
  length = $state(0);
  speed = $state(1);
  places = $state.raw<Places>({});
  /** What comes after it. */
  next = $state.raw<Episode | null>(null);

  readonly #audio = new Audio();
  #wanted = $state(false);
  /** The second that the sound is to begin with, once it can. */
  #from = 0;
  #savedAt = 0;
  #patience: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.#audio.preload = 'none';
    this.#audio.dataset.podcast = '';
    this.speed = readSpeed();
    this.places = this.#read();
    this.#listen();
  }

  get wanted(): boolean {
    return this.#wanted;
  }

  get chapters(): readonly Chapter[] {
    return this.episode?.chapters ?? [];
  }

  /** The place of the chapter that is heard; -1: none. */
  get chapter(): number {
    return chapterAt(this.chapters, this.at);
  }

  is(episode: Pick<Episode, 'id' | 'show'>): boolean {
    return this.episode?.id === episode.id && this.episode.show === episode.show;
  }

  placeOf(episode: Pick<Episode, 'id' | 'show'>): Place | undefined {
    return this.places[`${episode.show}/${episode.id}`];
  }

  /** Where an episode would go on. */
  resumes(episode: Pick<Episode, 'id' | 'show'>): number {
    return this.is(episode) ? this.at : resumeAt(this.placeOf(episode));
  }

  /** Plays an episode: from a second, else from where it was left. */
  play(episode: Episode, show: Of, from?: number): void {
    if (this.is(episode) && this.state !== 'gone') {
      if (from !== undefined) this.seek(from);
      return this.resume();
    }
    this.#save();
    this.next = null;
    [this.episode, this.show] = [episode, show];
    this.#from = from ?? resumeAt(this.placeOf(episode));
    [this.at, this.length] = [this.#from, episode.durationMs / 1000];
    this.#open();
  }

  /** The whole of what is heard has come: its chapters, and what is next. */
  complete(whole: Episode, next: Episode | null): void {
    if (!this.is(whole)) return;
    this.episode = whole;
    this.next = next;
  }

  toggle(): void {
    if (this.#wanted) this.pause();
    else this.resume();
  }

  resume(): void {
    if (!this.episode) return;
    if (this.state === 'failed' || this.state === 'gone') return this.again();
    if (this.state === 'ended') this.seek(0);
    this.#want();
    this.#start();
  }

  pause(): void {
    this.#wanted = false;
    this.#audio.pause();
    if (this.state === 'loading' || this.state === 'playing') this.state = 'paused';
    this.#calm();
    this.#save();
  }

  /** Asks for the sound anew, where it broke. */
  again(): void {
    this.#from = this.at;
    this.#open();
  }

  seek(seconds: number): void {
    const at = Math.max(0, this.length > 0 ? Math.min(seconds, this.length) : seconds);
    this.at = at;
    if (this.#audio.readyState >= HTMLMediaElement.HAVE_METADATA) this.#audio.currentTime = at;
    else this.#from = at;
    if (this.state === 'ended') this.state = 'paused';
    this.#save();
  }

  skip(seconds: number): void {
    this.seek(this.at + seconds);
  }

  step(way: 1 | -1): void {
    const to = chapterBeside(this.chapters, this.at, way);
    if (to !== null) this.seek(to);
  }

  setSpeed(speed: number): void {
    this.speed = speed;
    this.#audio.playbackRate = this.#audio.defaultPlaybackRate = speed;
    keep(keptSpeed, String(speed));
  }

  /** Lets go of the episode. */
  close(): void {
    this.pause();
    this.#audio.removeAttribute('src');
    this.#audio.load();
    [this.episode, this.show, this.next, this.state] = [null, null, null, 'idle'];
  }

  /** Puts the element into the page, and keeps the place when the page goes away. */
  follow(): () => void {
    document.body.append(this.#audio);
    const leave = (): void => this.#save();
    const online = (): void => void (this.state === 'failed' && this.again());
    const told = (event: StorageEvent): void => void (event.key === keptPlaces && (this.places = this.#read()));
    addEventListener('pagehide', leave);
    addEventListener('online', online);
    addEventListener('storage', told);
    return () => {
      removeEventListener('pagehide', leave);
      removeEventListener('online', online);
      removeEventListener('storage', told);
      this.close();
      this.#audio.remove();
    };
  }


  #listen(): void {
    const on = (name: string, heed: () => void): void => this.#audio.addEventListener(name, heed);
    on('loadedmetadata', () => {
      const { duration } = this.#audio;
      if (Number.isFinite(duration) && duration > 0) this.length = duration;
      if (this.#from > 0) this.#audio.currentTime = Math.min(this.#from, this.length);
      this.#from = 0;
    });
    on('durationchange', () => {
      const { duration } = this.#audio;
      if (Number.isFinite(duration) && duration > 0) this.length = duration;
    });
    on('timeupdate', () => {
      if (this.#from > 0 || !this.episode || this.#audio.readyState < HTMLMediaElement.HAVE_METADATA) return;
      this.at = this.#audio.currentTime;
      if (Math.abs(this.at - this.#savedAt) >= saveEverySeconds) this.#save();
    });
    on('playing', () => {
      if (!this.#wanted) return;
      this.state = 'playing';
      this.#calm();
    });
    on('waiting', () => this.#wanted && this.state === 'playing' && this.#await());
    // Not by the page: headphones were pulled out, or a call came.
    on('pause', () => {
      if (!this.#wanted || this.#audio.ended || this.#audio.error || this.state === 'loading') return;
      this.pause();
    });
    on('ended', () => {
      this.#wanted = false;
      this.state = 'ended';
      this.at = this.length;
      this.#save();
    });
    on('error', () => void (this.episode && this.#fail()));
  }

  #want(): void {
    this.#wanted = true;
    this.#await();
  }

  #await(): void {
    this.state = 'loading';
    this.slow = false;
    clearTimeout(this.#patience);
    this.#patience = setTimeout(() => (this.slow = this.state === 'loading'), patienceMs);
  }

  #calm(): void {
    clearTimeout(this.#patience);
    this.slow = false;
  }

  #open(): void {
    const { episode } = this;
    if (!episode) return;
    this.#want();
    this.#audio.src = episode.audio;
    this.#audio.playbackRate = this.#audio.defaultPlaybackRate = this.speed;
    this.#start();
  }

  #start(): void {
    const { episode } = this;
    this.#audio.play().catch((reason: unknown) => {
      // Another sound was asked for meanwhile, or the browser wants a press first; what fails tells by its event.
      if (episode === this.episode && reason instanceof DOMException && reason.name === 'NotAllowedError') this.pause();
    });
  }

  /** The browser does not say why no sound came: the station does. */
  async #fail(): Promise<void> {
    const { episode } = this;
    if (!episode) return;
    this.state = 'failed';
    this.#wanted = false;
    this.#calm();
    this.#save();
    const status = await fetch(episode.audio, { method: 'HEAD', cache: 'no-store' }).then((answer) => answer.status, () => 0);
    if (this.episode === episode && this.state === 'failed' && (status === 404 || status === 410)) this.state = 'gone';
  }

  #read(): Places {
    try {
      return readPlaces(localStorage.getItem(keptPlaces));
    } catch {
      return {}; // private windows may keep nothing
    }
  }

  #save(): void {
    const { episode, show, at, length } = this;
    if (!episode || !show || this.#from > 0) return;
    this.#savedAt = at;
    const place: Place = { at, of: length, done: this.state === 'ended' || isDone(at, length), when: Date.now(), title: episode.title, showTitle: show.title, cover: episode.cover || show.cover };
    // Another tab may have gone on in another episode.
    this.places = withPlace({ ...this.places, ...this.#read() }, `${episode.show}/${episode.id}`, place);
    keep(keptPlaces, JSON.stringify(this.places));
  }
}

function keep(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // private windows may keep nothing
  }
}

function readSpeed(): number {
  try {
    const kept = Number(localStorage.getItem(keptSpeed));
    return speeds.find((speed) => speed === kept) ?? 1;
  } catch {
    return 1;
  }
}

export const sound = new Sound();
