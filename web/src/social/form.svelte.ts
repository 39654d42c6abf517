import { Recorder, type Manner } from '../chat/recorder.svelte';
import { keepName, keptName, randomId } from '../live/device';
import { Problem } from '../station/control';
import { plain } from '../text/bidi';
import { api } from './api';
import type { Owner } from './owner.svelte';
import { fits, tagsOf, type Draft, type Kind, type Owned, type Status } from './post';
import type { Upload } from './upload.svelte';

export type Way = 'record' | 'file' | 'link';
export type Missing = 'sound' | 'window' | 'title' | 'artist' | 'from' | 'rights';

/** Effects are trimmed of the silence around them: a recording of one may be longer than it. */
const aroundEffectMs = 7000;

/** What a listener is about to send. It lives as long as the page, so that looking elsewhere loses nothing. */
export class Form {
  type = $state<Kind>('song');
  way = $state<Way>('record');
  file = $state.raw<File | null>(null);
  /** Of the file, as far as this browser can read it; 0 where it cannot. */
  fileMs = $state(0);
  address = $state('');
  title = $state('');
  artist = $state('');
  description = $state('');
  tags = $state('');
  from = $state(keptName());
  rights = $state(false);
  /** A press showed what is missing; from then on it is shown until it is there. */
  pressed = $state(false);
  busy = $state(false);
  problem = $state.raw<Problem | null>(null);
  /** What was sent by its address. */
  accepted = $state.raw<Owned | null>(null);

  readonly recorder = new Recorder(() => this.#manner());
  #types: Status['types'] = {};
  #key = randomId();

  /** Takes what the station takes. */
  heed(status: Status): void {
    this.#types = status.types;
  }

  get window(): { min: number; max: number } | undefined {
    return this.#types[this.type];
  }

  /** Length of the sound where it is known, else 0. */
  get soundMs(): number {
    if (this.way === 'record') return this.recorder.recording?.durationMs ?? 0;
    return this.way === 'file' ? this.fileMs : 0;
  }

  get fit(): 'short' | 'fits' | 'long' {
    const fit = fits(this.soundMs, this.window);
    return this.type === 'sfx' && fit === 'long' ? 'fits' : fit;
  }

  get missing(): Missing[] {
    const has = { record: this.recorder.recording !== null, file: this.file !== null, link: addressIn(this.address) !== '' }[this.way];
    const wants: [Missing, boolean][] = [
      ['sound', !has],
      // What the browser measures of a file may be wrong: the station judges that.
      ['window', this.way === 'record' && has && this.fit !== 'fits'],
      ['title', !plain(this.title)],
      ['artist', !plain(this.artist)],
      ['from', !plain(this.from)],
      ['rights', !this.rights],
    ];
    return wants.filter(([, wanted]) => wanted).map(([name]) => name);
  }

  async choose(file: File): Promise<void> {
    this.file = file;
    this.way = 'file';
    this.fileMs = 0;
    if (!this.title) this.title = plain(file.name.replace(/\.[^.]{1,5}$/, '').replaceAll('_', ' ')).slice(0, 120);
    const length = await lengthOf(file);
    if (this.file === file) this.fileMs = length;
  }

  /** Sends it; what came of it is in upload, or in accepted and problem. */
  async send(upload: Upload, owner: Owner): Promise<void> {
    const draft = this.#draft();
    keepName(draft.createdBy);
    this.problem = null;
    const recording = this.recorder.recording?.blob;
    if (this.way === 'file' && this.file) return upload.begin(this.file, this.file.name, draft);
    if (this.way === 'record' && recording) return upload.begin(recording, `recording.${endingOf(recording.type)}`, draft);
    this.busy = true;
    try {
      const { post, token } = await api.fetch(draft, addressIn(this.address), this.#key);
      this.accepted = { id: post.id, token };
      owner.add(this.accepted, draft.title, draft.type);
    } catch (failure) {
      this.problem = failure as Problem;
      if (this.problem.status !== 0) this.#key = randomId(); // what is sent next is another order
    } finally {
      this.busy = false;
    }
  }

  /** Empties it for the next one; who sends stays the same. */
  clear(): void {
    this.recorder.discard();
    this.#key = randomId();
    Object.assign(this, { file: null, fileMs: 0, address: '', title: '', description: '', tags: '', rights: false, pressed: false, problem: null, accepted: null });
  }

  #draft(): Draft {
    const [title, artist, createdBy] = [plain(this.title), plain(this.artist), plain(this.from)];
    return { type: this.type, title, artist, description: this.description.trim(), tags: tagsOf(this.tags), createdBy };
  }

  /** Speech is freed of its room; music is left as it is. */
  #manner(): Manner {
    const speech = this.type === 'voice' || this.type === 'sweepers' || this.type === 'ads';
    const longest = (this.window?.max ?? 60) * 1000 + (this.type === 'sfx' ? aroundEffectMs : 0);
    return {
      longestMs: longest,
      bitsPerSecond: speech ? 128_000 : 192_000,
      sound: { echoCancellation: speech, noiseSuppression: speech, autoGainControl: speech },
    };
  }
}

export const form = new Form();

/** An address that can be fetched; empty where it is none. */
export function addressIn(text: string): string {
  try {
    const url = new URL(text.trim());
    return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : '';
  } catch {
    return '';
  }
}

function endingOf(type: string): string {
  return /mp4/.test(type) ? 'm4a' : /ogg/.test(type) ? 'ogg' : 'webm';
}

function lengthOf(file: File): Promise<number> {
  const url = URL.createObjectURL(file);
  const sound = new Audio();
  return new Promise<number>((done) => {
    sound.preload = 'metadata';
    sound.onloadedmetadata = () => done(Number.isFinite(sound.duration) ? sound.duration * 1000 : 0);
    sound.onerror = () => done(0);
    sound.src = url;
  }).finally(() => {
    sound.removeAttribute('src');
    URL.revokeObjectURL(url);
  });
}
