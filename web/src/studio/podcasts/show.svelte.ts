import { podcastingWords } from '../../i18n/podcasting';
import { tongue } from '../../i18n/tongue.svelte';
import { Problem, type FieldError } from '../../station/control';
import { plain } from '../../text/bidi';
import { count, type Language } from '../../text/format';
import { sayRefused } from '../problem';
import type { Own, OwnShow } from './answers';
import { fileFault, pixelFault } from './cover';
import { changed, faultsIn, merged, sent, type FaultCode, type Part } from './draft';
import { addressOf, named, type Podcasts } from './podcasts.svelte';

const pictureMs = 120_000;
/** Paths that have a field on the page. */
const homes = /^(title|description|language|author|email|copyright|categories(\[\d+\])?|keep\.\w+|from\.(shortest|streams|types).*)$/;

export type Fault = FaultCode | Record<Language, string>;

export function saidOf(fault: Fault, language: Language): string {
  return typeof fault === 'string' ? podcastingWords[language].faults[fault] : fault[language];
}

/** The faults that the station names, by the paths of their fields. */
export function faultsOf({ fields, reason }: Problem): Map<string, Fault> {
  const place = ({ location, message, arabic }: FieldError): [string, Fault] => {
    const own = fields.length === 1 ? reason?.ar : '';
    return [location.replace(/^body\.?/, '').replace(/^own\.?/, ''), { en: plain(message), ar: plain(arabic || own || message) }];
  };
  return new Map(fields.map(place));
}

/** A picture that was chosen for the cover and not sent yet. */
export interface Picked {
  blob: Blob;
  url: string;
  width: number;
  height: number;
}

/**
 * One show as the station has it, and the operator's draft over it. A draft
 * that was begun on a show which somebody else has changed since is kept, and
 * saved only once the operator has said what becomes of both.
 */
export class ShowDesk {
  show = $state.raw<OwnShow>() as OwnShow;
  own = $state.raw<Own>() as Own;
  busy = $state(false);
  /** The show as somebody else has saved it under the draft. */
  theirs = $state.raw<OwnShow | null>(null);
  faults = $state.raw<ReadonlyMap<string, Fault>>(new Map());
  picked = $state.raw<Picked | null>(null);
  coverSaid = $state.raw<(() => string) | null>(null);
  sending = $state(false);

  readonly #podcasts: Podcasts;

  constructor(podcasts: Podcasts, show: OwnShow) {
    this.#podcasts = podcasts;
    [this.show, this.own] = [show, show.own];
  }

  get parts(): Part[] {
    return changed(this.show.own, this.own);
  }

  get changed(): boolean {
    return this.parts.length > 0;
  }

  /** The parts that somebody else has changed. */
  get theirParts(): Part[] {
    return this.theirs ? changed(this.show.own, this.theirs.own) : [];
  }

  /** What is wrong with a field, or with what it holds; empty: nothing. */
  faultAt(path: string): string {
    for (const [at, fault] of this.faults) if (at === path || at.startsWith(`${path}.`) || at.startsWith(`${path}[`)) return saidOf(fault, tongue.language);
    return '';
  }

  /** What is wrong with something that has no field on the page. */
  get strays(): string[] {
    return [...this.faults].filter(([path]) => !homes.test(path)).map(([path, fault]) => (path ? `${path}: ` : '') + saidOf(fault, tongue.language));
  }

  set(more: Partial<Own>): void {
    if (!this.#podcasts.mayChange) return;
    this.own = { ...this.own, ...more };
    const [field = ''] = Object.keys(more);
    this.faults = new Map([...this.faults].filter(([path]) => path.split(/[.[]/)[0] !== field));
  }

  /** What the station says of the show, while nothing is asked: a draft stays as it is. */
  hear(show: OwnShow): void {
    if (!this.changed) this.#take(show);
  }

  discard(): void {
    this.#take(this.theirs ?? this.show);
  }

  /** Saves the draft over what somebody else has made of the show; what only they changed stays. */
  async saveOver(): Promise<void> {
    if (this.theirs) [this.own, this.show, this.theirs] = [merged(this.show.own, this.own, this.theirs.own), this.theirs, null];
    await this.save();
  }

  /** Whether it was saved. What is refused stays as it was typed. */
  async save(): Promise<boolean> {
    if (!this.changed || this.busy || this.theirs) return false;
    this.faults = faultsIn(this.own);
    if (this.faults.size > 0) return false;
    const before = this.show.own;
    return this.#saving(async () => {
      this.#adopt(await this.#send(this.own), this.own);
      this.#podcasts.toasts.closeOffers();
      this.#podcasts.toasts.say('good', this.#words.done.saved, { action: { label: this.#words.undo, run: () => void this.#undo(before) } });
      void this.#podcasts.episodesOf(before.slug).load(); // what the new bounds leave
    });
  }

  /** Turns the show on or off at once; a draft stays one. */
  async turn(on: boolean): Promise<void> {
    const { title } = this.show.own;
    await this.#saving(async () => {
      const base = this.show.own;
      this.#adopt(await this.#send({ ...base, on }), base);
      this.#podcasts.toasts.say('good', this.#words.done[on ? 'on' : 'off'](named(title)), { action: { label: this.#words.undo, run: () => void this.turn(!on) } });
    });
  }

  /** Takes a picture to be looked at, or says why not. */
  async pick(file: Blob | undefined): Promise<void> {
    if (!file || !this.#podcasts.mayChange) return;
    this.unpick();
    const fault = fileFault(file);
    if (fault) return void (this.coverSaid = () => this.#words.cover.faults[fault]);
    const decoded = await createImageBitmap(file).catch(() => null);
    if (!decoded) return void (this.coverSaid = () => this.#words.cover.faults.broken);
    const { width, height } = decoded;
    decoded.close();
    const size = (): string => this.#words.cover.has(count(width, tongue.language), count(height, tongue.language));
    const wrong = pixelFault(width, height);
    if (wrong) return void (this.coverSaid = () => `${this.#words.cover.faults[wrong]} ${size()}`);
    this.picked = { blob: file, url: URL.createObjectURL(file), width, height };
  }

  unpick(): void {
    if (this.picked) URL.revokeObjectURL(this.picked.url);
    [this.picked, this.coverSaid] = [null, null];
  }

  /** Sends the picture, or null for the one that the station makes. */
  async sendCover(blob: Blob | null): Promise<void> {
    if (this.sending) return;
    this.sending = true;
    try {
      const had = this.show.ownCover;
      const before = had ? await this.#coverNow() : null;
      await this.#putCover(blob);
      const back = before || !had ? { action: { label: this.#words.undo, run: () => void this.#uncover(before) } } : {};
      this.#podcasts.toasts.closeOffers();
      this.#podcasts.toasts.say('good', this.#words.cover[blob ? 'done' : 'removed'], back);
    } catch (failure) {
      if (failure instanceof Problem && [413, 415, 422].includes(failure.status)) {
        const { reason, detail, fields } = failure;
        this.coverSaid = () => reason?.[tongue.language] ?? plain(fields[0]?.message ?? detail);
      } else sayRefused(this.#podcasts.toasts, failure);
    } finally {
      this.sending = false;
    }
  }

  async #putCover(blob: Blob | null): Promise<void> {
    const { slug } = this.show.own;
    const show = await this.#podcasts.door.order<OwnShow>(blob ? 'PUT' : 'DELETE', `${addressOf(slug)}/cover`, blob ?? undefined, { timeoutMs: pictureMs });
    this.unpick();
    this.#adopt(show, this.show.own);
  }

  async #uncover(before: Blob | null): Promise<void> {
    try {
      await this.#putCover(before);
      this.#podcasts.toasts.say('good', this.#words.cover.undone);
    } catch (failure) {
      sayRefused(this.#podcasts.toasts, failure);
    }
  }

  /** The cover that the station has, as it is; null: it is not to be had. */
  async #coverNow(): Promise<Blob | null> {
    const got = await fetch(this.show.cover, { cache: 'no-store', signal: AbortSignal.timeout(pictureMs) }).catch(() => null);
    return got?.ok ? got.blob() : null;
  }

  #send(own: Own): Promise<OwnShow> {
    return this.#podcasts.door.order<OwnShow>('PUT', addressOf(own.slug), { version: this.show.version, own: sent(own) });
  }

  async #saving(work: () => Promise<void>): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    try {
      await work();
      return true;
    } catch (failure) {
      await this.#refused(failure);
      return false;
    } finally {
      this.busy = false;
    }
  }

  /** Puts the show back that was in force before a save. */
  async #undo(before: Own): Promise<void> {
    if (this.busy) return;
    const { toasts } = this.#podcasts;
    if (this.changed) return void toasts.say('note', this.#words.done.undoFirst);
    this.busy = true;
    try {
      this.#adopt(await this.#send(before), this.own);
      toasts.say('good', this.#words.done.undone);
    } catch (failure) {
      if (failure instanceof Problem && failure.status === 409) toasts.say('note', this.#words.done.undoLate);
      else sayRefused(toasts, failure);
      await this.#podcasts.load();
    } finally {
      this.busy = false;
    }
  }

  async #refused(failure: unknown): Promise<void> {
    const { toasts } = this.#podcasts;
    if (!(failure instanceof Problem)) return void sayRefused(toasts, failure);
    if (failure.status === 422 && failure.fields.length > 0) return void (this.faults = faultsOf(failure));
    if (failure.status !== 409 && failure.status !== 0) return void sayRefused(toasts, failure);
    await this.#podcasts.load();
    const now = this.#podcasts.of(this.show.own.slug);
    if (now && this.changed) {
      // Browsers send an order whose answer was lost again by themselves: the second found the first one's work.
      if (changed(now.own, this.own).length === 0) {
        this.#take(now);
        return void toasts.say('good', this.#words.done.saved);
      }
      if (now.version !== this.show.version) return void (this.theirs = now); // it is told in the page, beside both
    }
    if (failure.status === 409) toasts.say('note', this.#words.done.stale);
    else sayRefused(toasts, failure);
  }

  /** The show as the station now has it, and over it what was typed since it was sent. */
  #adopt(show: OwnShow, sentOwn: Own): void {
    this.own = merged(sentOwn, this.own, show.own);
    this.show = show;
    [this.faults, this.theirs] = [new Map(), null];
    this.#podcasts.take(show);
  }

  /** The show as the station has it, and no draft. */
  #take(show: OwnShow): void {
    [this.show, this.own, this.faults, this.theirs] = [show, show.own, new Map(), null];
  }

  get #words() {
    return podcastingWords[tongue.language];
  }
}
