import { fetchJSON } from '../../station/api';
import type { Door } from '../door.svelte';
import type { Airing, By, Point } from './answers';
import { byOf, day, minute, panned, spanOf, stepOf, zoomed, type Range, type Span } from './ranges';

const everyMs = 60_000;
/** From the last movement of a finger until the station is asked. */
const restMs = 250;
/** Of a longer span it is not said what aired. */
const longestBand = 1.5 * day;
const mostAirings = 4000;
/** What began so long before a span may still be on in it. */
const longestAiring = 4 * 60 * minute;

/**
 * How many listened over a span of time, and what was on. It asks anew when
 * another span is looked at and, while now is in sight, once a minute: as often
 * as the station writes down what it counted.
 */
export class Listening {
  /** What is looked at; null after it was moved. */
  range = $state.raw<Range | null>({ last: 'day' });
  now = $state(Date.now());
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  /** Another span, or finer points, are on their way. */
  busy = $state(false);
  /** Oldest first, some of them outside of the span: it may be dragged. */
  counted = $state.raw<{ by: By; points: readonly Point[] }>({ by: 'minute', points: [] });
  /** Newest first; null where the station does not say. */
  airings = $state.raw<readonly Airing[] | null>(null);

  #own = $state.raw<Span>({ from: 0, to: 0 });
  readonly #door: Door;
  readonly #timezone: string;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #open = false;
  #turn = 0;

  constructor(door: Door, timezone: string) {
    this.#door = door;
    this.#timezone = timezone;
  }

  readonly span = $derived.by<Span>(() => (this.range ? spanOf(this.range, this.now, this.#timezone) : this.#own));
  readonly by = $derived(byOf(this.span, this.now));
  readonly banded = $derived(this.span.to - this.span.from <= longestBand);
  /** Now is in sight. */
  readonly runs = $derived(this.span.to >= this.now - stepOf[this.by]);

  follow(): () => void {
    this.#open = true;
    this.soon();
    return () => {
      this.#open = false;
      this.#turn++;
      clearTimeout(this.#timer);
    };
  }

  soon(ms = 0): void {
    clearTimeout(this.#timer);
    if (this.#open) this.#timer = setTimeout(() => void this.#look(), ms);
  }

  show(range: Range): void {
    this.range = range;
    this.#moved(0);
  }

  put(span: Span): void {
    this.#own = span;
    this.range = null;
    this.#moved(restMs);
  }

  zoom(factor: number, about = (this.span.from + this.span.to) / 2): void {
    this.put(zoomed(this.span, factor, about, this.now));
  }

  /** Moves by a share of what is in sight. */
  pan(share: number): void {
    this.put(panned(this.span, share * (this.span.to - this.span.from), this.now));
  }

  #moved(ms: number): void {
    this.#turn++; // what is under way is of another span
    this.busy = true;
    this.soon(ms);
  }

  async #look(): Promise<void> {
    const turn = ++this.#turn;
    const { span, by, banded } = this;
    const margin = (span.to - span.from) / 2;
    const [from, to] = [Math.max(0, Math.floor(span.from - margin)), Math.ceil(span.to + margin)];
    try {
      const said = fetchJSON<{ points: Point[] | null }>(`/api/telemetry/listeners?by=${by}&from=${from}&to=${to}`);
      const [{ points }, airings] = await Promise.all([said, banded ? this.#aired(from, to) : null]);
      if (turn !== this.#turn) return; // a later look knows better
      this.counted = { by, points: points ?? [] };
      this.airings = airings;
      [this.phase, this.busy] = ['ready', false];
    } catch {
      if (turn !== this.#turn) return;
      [this.phase, this.busy] = ['failed', false];
    }
    if (this.runs || this.phase === 'failed') this.soon(everyMs);
  }

  /** The curve is open to everybody, what aired is not: without a key there is no band. */
  #aired(from: number, to: number): Promise<readonly Airing[] | null> {
    if (!this.#door.may('look')) return Promise.resolve(null);
    return this.#door.quietly<{ airings: Airing[] | null }>('GET', `/api/station/telemetry/airings?from=${Math.max(0, from - longestAiring)}&to=${to}&limit=${mostAirings}`).then(
      ({ airings }) => airings ?? [],
      () => null,
    );
  }
}
