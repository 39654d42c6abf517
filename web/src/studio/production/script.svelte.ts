import { Problem } from '../../station/control';
import { plain } from '../../text/bidi';
import type { Door } from '../door.svelte';
import type { BulletinScript } from './answers';

const path = '/api/station/bulletin/preview';

/** How long nothing is typed before the station is asked. */
export const pauseMs = 400;
/** How long nothing has changed before a screen reader is told: pauses between two words are none. */
export const quietMs = 2000;

/** What the station says of one line of headlines. */
export interface Fault {
  /** Among the headlines, from 0. */
  line: number;
  message: string;
}

/**
 * What the next bulletin will say with the headlines that are typed. The
 * station writes it: it is asked when typing pauses, and an answer counts only
 * while nothing was asked since.
 */
export class Script {
  phase = $state<'none' | 'asking' | 'ready' | 'refused' | 'locked' | 'failed'>('none');
  /** The newest that is known; it stays while another is asked for. */
  said = $state.raw<BulletinScript | null>(null);
  fault = $state.raw<Fault | null>(null);
  /** Why there is none, in the station's words; empty where it did not answer. */
  why = $state('');
  /** What a screen reader is told: grows with each text that has stood for a while. */
  settled = $state(0);
  #lines: readonly string[] | null = null;
  #stamp = '';
  #turn = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #still: ReturnType<typeof setTimeout> | undefined;
  #ask = new AbortController();
  readonly #door: Door;

  constructor(door: Door) {
    this.#door = door;
  }

  /** What stands in the box, and what else a text depends on: the minute, the newest bulletin. */
  follow(lines: readonly string[], stamp: string): void {
    const typed = this.#lines !== null && this.#lines.join('\n') !== lines.join('\n');
    if (!typed && this.#lines !== null && stamp === this.#stamp) return;
    [this.#lines, this.#stamp] = [lines, stamp];
    this.#soon(typed ? pauseMs : 0);
  }

  /** Asks once more, for the key too. */
  async retry(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#put((body, how) => this.#door.order<BulletinScript>('POST', path, body, how));
  }

  /** Asks for nothing any more: the section is left. */
  leave(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#still);
    this.#turn++;
    this.#ask.abort();
    this.#lines = null;
  }

  #soon(ms: number): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#still);
    this.#turn++; // what is under way was asked for other lines
    this.#ask.abort();
    this.#timer = setTimeout(() => void this.#put((body, how) => this.#door.quietly<BulletinScript>('POST', path, body, how)), ms);
  }

  async #put(send: (body: unknown, how: { timeoutMs: number; signal: AbortSignal }) => Promise<BulletinScript>): Promise<void> {
    const turn = ++this.#turn;
    this.#ask = new AbortController();
    this.phase = 'asking';
    try {
      const said = await send({ headlines: this.#lines ?? [] }, { timeoutMs: 8000, signal: this.#ask.signal });
      if (turn !== this.#turn) return;
      const same = this.said?.text === said.text;
      [this.said, this.phase, this.fault, this.why] = [said, 'ready', null, ''];
      if (!same) this.#still = setTimeout(() => this.settled++, quietMs);
    } catch (failure) {
      if (turn !== this.#turn) return;
      this.#refuse(failure instanceof Problem ? failure : new Problem(0, ''));
    }
  }

  #refuse(problem: Problem): void {
    const field = problem.fields.map(({ location, message }) => ({ at: /^body\.headlines\[(\d+)\]$/.exec(location)?.[1], message })).find(({ at }) => at !== undefined);
    this.fault = field ? { line: Number(field.at), message: plain(field.message) } : null;
    this.why = plain(problem.fields[0]?.message || problem.detail);
    this.phase = problem.status === 422 ? 'refused' : problem.status === 401 ? 'locked' : 'failed';
  }
}
