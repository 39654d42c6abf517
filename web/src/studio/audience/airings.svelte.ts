import { studioWords } from '../../i18n/studio';
import { tongue } from '../../i18n/tongue.svelte';
import { isImaging } from '../../station/ear';
import { Problem } from '../../station/control';
import { beginOf, dayAfter, dayIn } from '../../text/zone';
import { NoKey, type Door } from '../door.svelte';
import { problemWords } from '../problem';
import type { Toasts } from '../toasts.svelte';
import type { Airing } from './answers';
import { save } from './csv';
import { soughtIn } from './figures';

/** A day of short imaging has fewer. */
export const mostOfDay = 5000;
const mostOfTable = 20_000;
const everyMs = 20_000;
const path = '/api/station/telemetry/airings';

/** What was on the air on one day of the station's clock, with who listened. */
export class Airings {
  day = $state('');
  sought = $state('');
  imaging = $state(false);
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  all = $state.raw<readonly Airing[]>([]);
  saving = $state(false);

  readonly #door: Door;
  readonly #toasts: Toasts;
  readonly #timezone: string;
  #turn = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(door: Door, toasts: Toasts, timezone: string) {
    this.#door = door;
    this.#toasts = toasts;
    this.#timezone = timezone;
    this.day = this.today;
  }

  /** Newest first. */
  readonly found = $derived(
    soughtIn(this.all.filter((airing) => this.imaging || !isImaging(airing)), this.sought, ({ title, artist, file }) => `${title} ${artist} ${file}`),
  );

  get today(): string {
    return dayIn(Date.now(), this.#timezone);
  }

  /** Of the day that is looked at, epoch milliseconds. */
  get span(): { from: number; to: number } {
    return { from: beginOf(this.day, this.#timezone), to: beginOf(dayAfter(this.day, 1), this.#timezone) };
  }

  follow(): () => void {
    void this.#look();
    return () => {
      this.#turn++;
      clearTimeout(this.#timer);
    };
  }

  show(day: string): void {
    if (!/^\d{4}-\d\d-\d\d$/.test(day) || day > this.today) return;
    this.day = day;
    this.all = [];
    this.phase = 'loading';
    void this.#look();
  }

  /** The day as the station's own table for spreadsheets. */
  async download(): Promise<void> {
    if (this.saving) return;
    this.saving = true;
    try {
      const { from, to } = this.span;
      const read = (answer: Response) => answer.blob();
      const table = await this.#door.order<Blob>('GET', `${path}?from=${from}&to=${to}&limit=${mostOfTable}&format=csv`, undefined, { headers: { accept: 'text/csv' }, timeoutMs: 60_000, read });
      save(table, `airings-${this.day}.csv`);
    } catch (failure) {
      if (failure instanceof Problem) this.#toasts.say('bad', ...problemWords(failure, studioWords[tongue.language].control, tongue.language));
      else if (!(failure instanceof NoKey)) throw failure;
    } finally {
      this.saving = false;
    }
  }

  /** The day of today grows: it is asked for again and again. */
  async #look(): Promise<void> {
    const turn = ++this.#turn;
    clearTimeout(this.#timer);
    try {
      const { from, to } = this.span;
      const { airings } = await this.#door.quietly<{ airings: Airing[] | null }>('GET', `${path}?from=${from}&to=${to}&limit=${mostOfDay}`);
      if (turn !== this.#turn) return;
      this.all = airings ?? [];
      this.phase = 'ready';
    } catch {
      if (turn !== this.#turn) return;
      this.phase = 'failed';
    }
    if (this.day === this.today || this.phase === 'failed') this.#timer = setTimeout(() => void this.#look(), everyMs);
  }
}
