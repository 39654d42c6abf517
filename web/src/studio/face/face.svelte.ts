import { faceWords } from '../../i18n/face';
import { tongue } from '../../i18n/tongue.svelte';
import type { Both } from '../../station/face';
import { Problem, type FieldError } from '../../station/control';
import { plain } from '../../text/bidi';
import type { Language } from '../../text/format';
import { NoKey, type Door } from '../door.svelte';
import { sayRefused } from '../problem';
import type { Toasts } from '../toasts.svelte';
import type { Contact, FaceAnswer, Link, Picked, Texts, Which } from './answers';
import { changed, faultsIn, keyed, merged, rowOf, sent, type FaultCode, type Part } from './draft';
import { fileFault, sizeNote } from './picture';

const at = '/api/station/face';
const pictureMs = 60_000;
/** Paths that have a field on the page. */
const homes = /^((name|tagline|about|contact\.address)(\.(ar|en))?|languages.*|accent|links(\[\d+\].*)?|contact\.(email|phone|whatsapp)|credit|css)$/;

/** Why a field is wrong: by our own words, or by the station's in both languages. */
type Fault = FaultCode | Record<Language, string>;

/** What a save replaced, for undo. A picture is there where it was replaced; null: there was none. */
interface Before {
  texts: Texts | null;
  pictures: Partial<Record<Which, Blob | null>>;
}

/**
 * The station's face as the station has it, and the operator's draft over it.
 * Pictures are part of the draft: nothing is sent before it is saved. A draft
 * that was begun on a face which somebody else has changed since is kept, and
 * saved only once the operator has said what becomes of both.
 */
export class FaceDesk {
  phase = $state<'loading' | 'ready' | 'failed' | 'locked' | 'absent'>('loading');
  answer = $state.raw<FaceAnswer | null>(null);
  texts = $state.raw<Texts | null>(null);
  picked = $state.raw<Readonly<Record<Which, Picked>>>({ logo: null, icon: null });
  /** What is wrong with a picture or worth knowing of it. */
  pictureSaid = $state.raw<Readonly<Record<Which, { text: () => string; bad: boolean } | null>>>({ logo: null, icon: null });
  busy = $state(false);
  /** The face as somebody else has saved it under the draft. */
  theirs = $state.raw<FaceAnswer | null>(null);
  /** By the path of the field. */
  faults = $state.raw<ReadonlyMap<string, Fault>>(new Map());

  readonly parts = $derived<Part[]>(this.answer && this.texts ? changed(this.answer.face, this.texts) : []);
  readonly changed = $derived(this.parts.length > 0 || this.picked.logo !== null || this.picked.icon !== null);
  /** The parts that somebody else has changed. */
  readonly theirParts = $derived<Part[]>(this.answer && this.theirs ? changed(this.answer.face, this.theirs.face) : []);

  /** What is wrong with a field, or with what it holds; empty: nothing. */
  faultAt(path: string): string {
    for (const [at, fault] of this.faults) {
      if (at === path || at.startsWith(`${path}.`) || at.startsWith(`${path}[`)) return typeof fault === 'string' ? this.#words.faults[fault] : fault[tongue.language];
    }
    return '';
  }

  /** What is wrong with something that has no field on the page. */
  readonly strays = $derived([...this.faults].filter(([path]) => !homes.test(path)).map(([path, fault]) => `${path}: ${typeof fault === 'string' ? this.#words.faults[fault] : fault[tongue.language]}`));

  readonly #door: Door;
  readonly #toasts: Toasts;
  #keys = 0;

  constructor(door: Door, toasts: Toasts) {
    this.#door = door;
    this.#toasts = toasts;
  }

  /** Name and logo as listeners see them by now; null until they are known. */
  readonly shown = $derived.by((): { name: Both; logo: string } | null => {
    const { answer } = this;
    if (!answer) return null;
    const name = (language: Language) => sayIn(answer.face.name, language) || plain(answer.defaults.name);
    return { name: { ar: name('ar'), en: name('en') }, logo: addressOf(answer, 'logo') };
  });

  get mayChange(): boolean {
    return this.#door.may('programme');
  }

  /** Asks for the face; ask: also for the login that it takes. */
  async load(insist = false): Promise<void> {
    try {
      const answer = await (insist ? this.#door.order<FaceAnswer>('GET', at) : this.#door.quietly<FaceAnswer>('GET', at, undefined, { timeoutMs: 8000 }));
      if (!this.changed) this.#take(answer);
      else if (this.texts && changed(answer.face, this.texts).length === 0) this.#adopt(answer, answer.face); // what was sent got there
      else if (answer.version !== this.answer?.version) this.theirs = answer;
      this.phase = 'ready';
    } catch (failure) {
      if (failure instanceof NoKey) return;
      if (!(failure instanceof Problem)) throw failure;
      if (this.phase === 'ready') return; // what is shown stays
      this.phase = failure.status === 401 ? 'locked' : failure.status === 404 || failure.status === 501 ? 'absent' : 'failed';
    }
  }

  #change(how: (texts: Texts) => Texts): void {
    if (!this.texts || !this.mayChange) return;
    this.texts = how(this.texts);
  }

  /** Writes one of two languages of a text. */
  write(field: 'name' | 'tagline' | 'about', language: Language, text: string): void {
    this.#change((texts) => ({ ...texts, [field]: { ...texts[field], [language]: text } }));
    this.#right(`${field}.${language}`, field);
  }

  setAccent(accent: string): void {
    this.#change((texts) => ({ ...texts, accent }));
    this.#right('accent');
  }

  setLanguages(languages: readonly Language[]): void {
    this.#change((texts) => ({ ...texts, languages }));
    this.#right('languages');
  }

  /** language: of the address. */
  setContact(more: Partial<Contact>, language?: Language): void {
    this.#change((texts) => ({ ...texts, contact: { ...texts.contact, ...more } }));
    this.#right(...Object.keys(more).flatMap((field) => [`contact.${field}`, `contact.${field}.${language}`]));
  }

  setCredit(credit: boolean): void {
    this.#change((texts) => ({ ...texts, credit }));
  }

  setCss(css: string): void {
    this.#change((texts) => ({ ...texts, css }));
    this.#right('css');
  }

  setLinks(links: readonly Link[]): void {
    this.#change((texts) => ({ ...texts, links }));
    // A fault is told by its row, and the rows have changed.
    this.faults = new Map([...this.faults].filter(([path]) => !path.startsWith('links')));
  }

  addLink(): void {
    this.#change((texts) => keyed({ ...texts, links: [...texts.links, { label: { ar: '', en: '' }, url: '' }] }, () => ++this.#keys));
  }

  setLink(row: number, link: Link): void {
    this.#change((texts) => ({ ...texts, links: texts.links.map((other, i) => (i === row ? link : other)) }));
    this.#right(`links[${row}].url`, `links[${row}].label`, `links[${row}]`);
  }

  /** Takes a picture into the draft, or says why not. */
  async pick(which: Which, file: Blob | undefined): Promise<void> {
    if (!file || !this.mayChange) return;
    const say = (code: ReturnType<typeof fileFault>, bad: boolean) => (this.pictureSaid = { ...this.pictureSaid, [which]: code ? { text: () => this.#words.picture.faults[code], bad } : null });
    const fault = fileFault(file);
    if (fault) return void say(fault, true);
    let size: { width: number; height: number };
    try {
      const decoded = await createImageBitmap(file);
      size = { width: decoded.width, height: decoded.height };
      decoded.close();
    } catch {
      return void say('broken', true);
    }
    this.#put(which, { blob: file, url: URL.createObjectURL(file) });
    say(sizeNote(which, size.width, size.height), false);
  }

  /** Takes the picture out of the face; one that is only in the draft goes back to what the station has. */
  unpick(which: Which): void {
    if (!this.mayChange) return;
    const had = this.picked[which];
    this.#put(which, had === null && this.answer?.[which] ? 'none' : null);
    this.pictureSaid = { ...this.pictureSaid, [which]: null };
  }

  /** Where a picture of the draft is to be seen; empty: there is none. */
  pictureOf(which: Which): string {
    const picked = this.picked[which];
    if (picked === 'none') return '';
    return picked?.url ?? (this.answer ? addressOf(this.answer, which) : '');
  }

  discard(): void {
    if (this.theirs) this.#take(this.theirs);
    else if (this.answer) this.#take(this.answer);
  }

  /** Saves the draft over what somebody else has made of the face; what only they changed stays. */
  async saveOver(): Promise<void> {
    if (this.answer && this.texts && this.theirs) {
      const texts = keyed(merged(this.answer.face, this.texts, this.theirs.face), () => ++this.#keys, this.texts.links);
      [this.answer, this.texts, this.theirs] = [this.theirs, texts, null];
    }
    await this.save();
  }

  /** Whether it was saved. What is refused stays as it was typed. */
  async save(): Promise<boolean> {
    const { answer, texts } = this;
    if (!answer || !texts || !this.changed || this.busy || this.theirs) return false;
    this.faults = faultsIn(texts);
    if (this.faults.size > 0) return false;
    this.busy = true;
    try {
      const before = await this.#send(answer, texts);
      this.#toasts.closeOffers();
      this.#toasts.say('good', this.#words.saved, { action: { label: this.#words.undo, run: () => void this.#undo(before) } });
      return true;
    } catch (failure) {
      await this.#refused(failure);
      return false;
    } finally {
      this.busy = false;
    }
  }

  /** Texts first: they alone can be refused because of somebody else. */
  async #send(answer: FaceAnswer, texts: Texts): Promise<Before> {
    const before: Before = { texts: null, pictures: {} };
    if (this.parts.length > 0) {
      const fresh = await this.#door.order<FaceAnswer>('PUT', at, { version: answer.version, face: sent(texts) });
      before.texts = sent(answer.face);
      this.#adopt(fresh, texts);
    }
    for (const which of ['logo', 'icon'] as const) {
      const picked = this.picked[which];
      if (picked === null) continue;
      before.pictures[which] = await this.#kept(which);
      await this.#sendPicture(which, picked === 'none' ? null : picked.blob);
    }
    return before;
  }

  /** The picture that the station has, as it is; null: none, or it is not to be had. */
  async #kept(which: Which): Promise<Blob | null> {
    if (!this.answer?.[which]) return null;
    const got = await fetch(addressOf(this.answer, which), { cache: 'no-store', signal: AbortSignal.timeout(pictureMs) }).catch(() => null);
    return got?.ok ? got.blob() : null;
  }

  async #sendPicture(which: Which, blob: Blob | null): Promise<void> {
    try {
      const fresh = await this.#door.order<FaceAnswer>(blob ? 'PUT' : 'DELETE', `${at}/${which}`, blob ?? undefined, { timeoutMs: pictureMs });
      this.#put(which, null);
      this.pictureSaid = { ...this.pictureSaid, [which]: null };
      this.#adopt(fresh);
    } catch (failure) {
      if (failure instanceof Problem && [413, 415, 422].includes(failure.status)) {
        const { reason, detail, fields } = failure;
        this.pictureSaid = { ...this.pictureSaid, [which]: { bad: true, text: () => reason?.[tongue.language] ?? plain(fields[0]?.message ?? detail) } };
      }
      throw failure;
    }
  }

  /** Puts the face back that was in force before a save. */
  async #undo(before: Before): Promise<void> {
    if (this.busy || !this.answer) return;
    if (this.changed) return void this.#toasts.say('note', this.#words.undoFirst);
    this.busy = true;
    try {
      if (before.texts) this.#adopt(await this.#door.order<FaceAnswer>('PUT', at, { version: this.answer.version, face: before.texts }));
      for (const which of ['logo', 'icon'] as const) {
        const picture = before.pictures[which];
        if (picture !== undefined) await this.#sendPicture(which, picture);
      }
      this.#toasts.say('good', this.#words.undone);
    } catch (failure) {
      if (failure instanceof Problem && failure.status === 409) this.#toasts.say('note', this.#words.undoLate);
      else sayRefused(this.#toasts, failure);
      await this.load();
    } finally {
      this.busy = false;
    }
  }

  async #refused(failure: unknown): Promise<void> {
    if (!(failure instanceof Problem)) return void sayRefused(this.#toasts, failure);
    if (failure.status === 409 || failure.status === 0) {
      await this.load();
      if (this.theirs) return; // it is told in the page, beside both
      // Browsers send an order whose answer was lost again by themselves: the second found the first one's work.
      if (failure.status === 409 && !this.changed) return void this.#toasts.say('good', this.#words.saved);
      return void sayRefused(this.#toasts, failure);
    }
    if (failure.status === 422 && failure.fields.length > 0) {
      const pictures = this.pictureSaid.logo?.bad || this.pictureSaid.icon?.bad;
      if (!pictures) this.faults = new Map(failure.fields.map((field) => this.#placed(field, failure)));
      return;
    }
    if (this.pictureSaid.logo?.bad || this.pictureSaid.icon?.bad) return; // said at the picture
    sayRefused(this.#toasts, failure);
  }

  #placed({ location, message, arabic }: FieldError, { reason, fields }: Problem): [string, Fault] {
    const path = location.replace(/^body\.?/, '').replace(/^face\.?/, '').replace(/^links\[(\d+)\]/, (_, place: string) => `links[${this.texts ? rowOf(this.texts, Number(place)) : place}]`);
    const own = fields.length === 1 ? reason?.ar : '';
    return [path, { en: plain(message), ar: plain(arabic || own || message) }];
  }

  get #words() {
    return faceWords[tongue.language];
  }

  #right(...paths: string[]): void {
    if (!paths.some((path) => this.faults.has(path))) return;
    this.faults = new Map([...this.faults].filter(([path]) => !paths.includes(path)));
  }

  #put(which: Which, picked: Picked): void {
    const had = this.picked[which];
    if (had && had !== 'none') URL.revokeObjectURL(had.url);
    this.picked = { ...this.picked, [which]: picked };
  }

  /** The face as the station now has it, and over it what was typed since it was sent. */
  #adopt(answer: FaceAnswer, sentTexts = this.answer?.face): void {
    const texts = sentTexts && this.texts ? merged(sentTexts, this.texts, answer.face) : answer.face;
    this.texts = keyed(texts, () => ++this.#keys, this.texts?.links);
    this.answer = answer;
    [this.faults, this.theirs] = [new Map(), null];
  }

  /** The face as the station has it, and no draft. */
  #take(answer: FaceAnswer): void {
    for (const which of ['logo', 'icon'] as const) this.#put(which, null);
    this.pictureSaid = { logo: null, icon: null };
    this.texts = null;
    this.#adopt(answer);
  }
}

/** A desk that outlives the section in which it is made: what it derives is not that section's, which ends with it. */
export function lastingDesk(door: Door, toasts: Toasts): FaceDesk {
  let desk: FaceDesk | undefined;
  $effect.root(() => void (desk = new FaceDesk(door, toasts)));
  return desk as FaceDesk;
}

/** Address of a picture, new for each version of the face. */
function addressOf({ version, ...answer }: FaceAnswer, which: Which): string {
  const path = answer[which];
  return path === '' || path.includes('?') ? path : `${path}?v=${version}`;
}

/** A text in a language, or in the other where it has none. */
export const sayIn = (text: Both, language: Language): string => plain(text[language]) || plain(text[language === 'ar' ? 'en' : 'ar']);
