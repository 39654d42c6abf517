import { playlistWords } from '../../../i18n/playlists';
import { tongue } from '../../../i18n/tongue.svelte';
import { Problem } from '../../../station/control';
import { isolate, plain } from '../../../text/bidi';
import type { Door } from '../../door.svelte';
import { sayRefused } from '../../problem';
import type { Toasts } from '../../toasts.svelte';
import { phaseOf, spoken, type Phase } from '../library.svelte';
import type { Query } from '../query';
import type { Done, FileFound, ItemsDone, ListDeed, Playlist, Said, Settings } from './answers';
import { keptOf, settingsOf, wholeOf, type Draft } from './settings';

export const at = '/api/station/playlists';
const draftsUnder = 'athir.playlist-drafts';
/** The most that one playlist holds, as the station has it. */
export const mostItems = 20_000;
const longMs = 120_000;

/** The station's own playlists. */
export class Playlists {
  list = $state.raw<readonly Playlist[]>([]);
  phase = $state<Phase>('loading');
  busy = $state(false);
  /** Grows with each change that was made here: items and lists of deeds look again. */
  made = $state(0);
  /** What was typed into settings and not saved, by playlist: it outlives the page, and a reload. */
  drafts = $state.raw<ReadonlyMap<number, Draft>>(keptDrafts());

  readonly #door: Door;
  readonly #toasts: Toasts;
  #turn = 0;
  /** Grows with each playlist that was taken or left: a look that was begun before shows what was. */
  #changes = 0;

  constructor(door: Door, toasts: Toasts) {
    this.#door = door;
    this.#toasts = toasts;
  }

  get #words() {
    return playlistWords[tongue.language];
  }

  /** Looks again for what has changed, until the returned function is called. */
  follow(): () => void {
    void this.load();
    const often = setInterval(() => document.visibilityState === 'visible' && this.phase === 'ready' && !this.busy && void this.load(), 20_000);
    return () => clearInterval(often);
  }

  async load(insist = false): Promise<void> {
    const [turn, changes] = [++this.#turn, this.#changes];
    try {
      const answer = await (insist ? this.#door.order<{ playlists: Said[] }>('GET', at) : this.#door.quietly<{ playlists: Said[] }>('GET', at));
      if (turn !== this.#turn) return;
      if (changes !== this.#changes) return await this.load(); // it shows what was
      [this.list, this.phase] = [answer.playlists.map(wholeOf), 'ready'];
    } catch (failure) {
      if (turn === this.#turn && (this.phase !== 'ready' || phaseOf(failure) !== 'failed')) this.phase = phaseOf(failure);
    }
  }

  of(id: number): Playlist | undefined {
    return this.list.find((one) => one.id === id);
  }

  draftOf(id: number): Draft {
    const list = this.of(id);
    const draft = this.drafts.get(id) ?? {};
    return list ? keptOf(list, draft) : draft;
  }

  keepDraft(id: number, draft: Draft): void {
    const drafts = new Map(this.drafts);
    if (Object.keys(draft).length > 0) drafts.set(id, draft);
    else drafts.delete(id);
    this.drafts = drafts;
    try {
      if (drafts.size > 0) sessionStorage.setItem(draftsUnder, JSON.stringify([...drafts]));
      else sessionStorage.removeItem(draftsUnder);
    } catch {
      // private windows may keep nothing
    }
  }

  /** Takes what the station says of one playlist. */
  take(said: Said): Playlist {
    this.#changes++;
    const list = wholeOf(said);
    this.list = [...this.list.filter(({ id }) => id !== list.id), list].sort((a, b) => (a.name < b.name ? -1 : 1));
    return list;
  }

  /** Makes a playlist. Rejects with a Problem where values are refused (422), or its name is taken (409). */
  async make(settings: Settings): Promise<Playlist | null> {
    return this.#run(async () => {
      const done = await this.#door.order<Done>('POST', at, settings);
      const list = this.take(done.playlist);
      this.#tell(this.#words.done.made(named(settings.name)), done.deed);
      return list;
    }, [409, 422]);
  }

  /** Saves settings. Rejects with a Problem where values are refused (422) or somebody else changed it since (409). */
  async save(list: Playlist, draft: Draft, said = this.#words.done.saved(named(draft.name ?? list.name))): Promise<boolean> {
    const done = await this.#run(async () => {
      const answer = await this.#door.order<Done>('PUT', `${at}/${list.id}`, { ...settingsOf(list, draft), version: list.version });
      this.take(answer.playlist);
      this.#tell(said, answer.deed);
      return true;
    }, [409, 422]);
    return done ?? false;
  }

  /** Turns one on or off, where it stands by now. */
  async turn(list: Playlist, on: boolean): Promise<void> {
    const said = this.#words.done[on ? 'on' : 'off'](named(list.name));
    try {
      await this.save(list, { on }, said);
    } catch (failure) {
      if (failure instanceof Problem && failure.status === 409) {
        this.#toasts.say('bad', this.#words.stale, { action: { label: this.#words.reload, run: () => void this.load() } });
      } else sayRefused(this.#toasts, failure);
    }
  }

  async remove(list: Playlist): Promise<boolean> {
    const done = await this.#run(async () => {
      const { deed } = await this.#door.order<{ deed?: ListDeed }>('DELETE', `${at}/${list.id}`);
      this.#changes++;
      this.list = this.list.filter(({ id }) => id !== list.id);
      this.keepDraft(list.id, {});
      this.#tell(this.#words.done.deleted(named(list.name)), deed);
      return true;
    }, [409]).catch((failure: unknown) => this.#because(failure, this.#words.done.notDeleted));
    return done ?? false;
  }

  /** Takes a change back. */
  async undo(id: number): Promise<boolean> {
    const done = await this.#run(async () => {
      const answer = await this.#door.order<{ playlist?: Said; deed?: ListDeed }>('POST', `${at}/deeds/${id}/undo`, {}, { timeoutMs: longMs });
      if (answer.playlist) this.take(answer.playlist);
      else await this.load();
      this.#toasts.say('good', this.#words.done.undone);
      return true;
    }, [409]).catch((failure: unknown) => this.#because(failure, failure instanceof Problem && failure.reason ? this.#words.done.cannotUndo : this.#words.done.notUndone));
    return done ?? false;
  }

  /** Adds to the end of a playlist, whichever version it is at. */
  async addTo(list: Playlist, targets: readonly ({ query: Query } | { paths: string[] })[]): Promise<boolean> {
    const done = await this.#run(async () => {
      let added = 0;
      const refused: NonNullable<ItemsDone['refused']> = [];
      const deeds: ListDeed[] = [];
      let { version } = list;
      for (const add of targets) {
        const answer = await this.#append(list.id, version, add);
        this.take(answer.playlist);
        ({ version } = answer.playlist);
        added += answer.added ?? 0;
        refused.push(...(answer.refused ?? []));
        if (answer.deed) deeds.push(answer.deed);
      }
      this.tellRefused(refused);
      this.#tell(tongue.counted(added, this.#words.done.added), ...deeds);
      return true;
    });
    return done ?? false;
  }

  /** The end is the end: where somebody else was faster, it is asked for once more. */
  async #append(id: number, version: number, add: object): Promise<ItemsDone> {
    const send = (now: number) => this.#door.order<ItemsDone>('PATCH', `${at}/${id}/items`, { version: now, add }, { timeoutMs: longMs });
    try {
      return await send(version);
    } catch (failure) {
      if (!(failure instanceof Problem && failure.status === 409)) throw failure;
      return send((await this.#door.order<{ playlist: Said }>('GET', `${at}/${id}`)).playlist.version);
    }
  }

  tellRefused(refused: NonNullable<ItemsDone['refused']>): void {
    const [first] = refused;
    if (first) this.#toasts.say('bad', tongue.counted(refused.length, this.#words.done.refused), { detail: `${plain(first.path)}: ${spoken(first)}` });
  }

  /** Reads a playlist file, and makes a playlist of what was found where it is not a dry run. Rejects with a Problem. */
  async file(file: File, dry: boolean): Promise<FileFound> {
    const params = new URLSearchParams({ name: file.name, ...(dry ? { dry: 'true' } : {}) });
    // Which kind it is is told by its content and its name: browsers have no common type for them.
    const answer = await this.#door.order<FileFound>('POST', `${at}/file?${params}`, new Blob([file], { type: 'application/octet-stream' }), { timeoutMs: longMs });
    if (answer.playlist) {
      this.take(answer.playlist);
      this.#tell(this.#words.done.made(named(answer.playlist.name)), answer.deed);
      this.made++;
    }
    return answer;
  }

  async refresh(list: Playlist): Promise<boolean> {
    const done = await this.#run(async () => {
      const { playlist } = await this.#door.order<{ playlist: Said }>('POST', `${at}/${list.id}/refresh`, {}, { timeoutMs: longMs });
      this.take(playlist);
      if (!playlist.problem) this.#toasts.say('good', this.#words.remote.fetchedNow);
      return true;
    });
    return done ?? false;
  }

  async export(list: Playlist, format: 'm3u' | 'pls' | 'xspf'): Promise<void> {
    try {
      const file = await this.#door.order<Blob>('GET', `${at}/${list.id}/export?${new URLSearchParams({ format })}`, undefined, { read: (answer) => answer.blob(), timeoutMs: longMs, headers: { accept: '*/*' } });
      const link = document.createElement('a');
      link.href = URL.createObjectURL(file);
      link.download = `${list.name.replace(/[\\/:*?"<>|]+/g, ' ').trim() || 'playlist'}.${format}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    } catch (failure) {
      sayRefused(this.#toasts, failure);
    }
  }

  /** Says what was done, with the way back. */
  #tell(text: string, ...deeds: (ListDeed | undefined)[]): void {
    const ids = deeds.flatMap((deed) => (deed ? [deed.id] : []));
    const run = async (): Promise<void> => {
      for (const id of [...ids].reverse()) if (!(await this.undo(id))) return;
    };
    this.#toasts.say('good', text, ids.length > 0 ? { action: { label: this.#words.undo, run: () => void run() }, staysMs: 20_000 } : {});
  }

  /** Tells what stands against an order. */
  #because(failure: unknown, text: string): null {
    if (!(failure instanceof Problem)) throw failure;
    this.#toasts.say('bad', text, { detail: plain(failure.reason?.[tongue.language] ?? '') });
    return null;
  }

  /** null where it was refused, which is told; the statuses in rethrown are for whoever asked. */
  async #run<T>(work: () => Promise<T>, rethrown: readonly number[] = []): Promise<T | null> {
    if (this.busy) return null;
    this.busy = true;
    try {
      const out = await work();
      this.made++;
      return out;
    } catch (failure) {
      if (failure instanceof Problem && rethrown.includes(failure.status)) throw failure;
      sayRefused(this.#toasts, failure);
      return null;
    } finally {
      this.busy = false;
    }
  }
}

const named = (name: string): string => isolate(name, tongue.direction);

function keptDrafts(): Map<number, Draft> {
  try {
    return new Map(JSON.parse(sessionStorage.getItem(draftsUnder) ?? '[]') as [number, Draft][]);
  } catch {
    return new Map();
  }
}
