import { untrack } from 'svelte';
import { studioWords } from '../i18n/studio';
import { tongue } from '../i18n/tongue.svelte';
import { fetchJSON, type Library, type Planned, type Schedule, type Why } from '../station/api';
import { Problem } from '../station/control';
import type { Station } from '../station/station.svelte';
import type { QueueAnswer } from './byhand/answers';
import type { Door } from './door.svelte';

const pageSize = 50;
const libraryEveryMs = 30_000;
const scheduleEveryMs = 20_000;

interface RuleInfo {
  rule: string;
  why: string;
}

/** What the studio fetches besides the status: the rotation when it changes, and one page of the library. */
export class Desk {
  schedule = $state.raw<Schedule | null>(null);
  /** What is to come as it can be changed by hand; null where the station does not show it to whoever looks. */
  queue = $state.raw<QueueAnswer | null>(null);
  library = $state.raw<Library | null>(null);
  query = $state('');
  category = $state('');
  offset = $state(0);
  /** Progress of loading the reasons. */
  explaining = $state<'' | 'asked' | 'done' | 'failed'>('');

  readonly #station: Station;
  readonly #door: Door;
  #whys = $state.raw<{ of: string; by: Map<string, Why> }>({ of: '', by: new Map() });
  #rules = $state.raw<RuleInfo[]>([]);
  #asked = 0;
  #askingWhy = false;
  #turn = 0;

  constructor(station: Station, door: Door) {
    this.#station = station;
    this.#door = door;
  }

  /** Follows the station and the operator's search; call it while a component starts. */
  follow(): void {
    const mark = $derived.by(() => {
      const status = this.#station.status;
      return status && `${status.rotation.builtAt} ${status.rotation.consumed} ${status.track?.startedAt}`;
    });
    $effect(() => {
      if (!mark) return;
      void this.refresh();
      const often = setInterval(() => void this.refresh(), scheduleEveryMs); // votes and expected times move
      return () => clearInterval(often);
    });
    $effect(() => {
      if (this.#door.open) void this.#askRules();
      if (this.#sees) untrack(() => void this.refresh());
    });
    $effect(() => {
      const path = this.#libraryPath();
      const soon = setTimeout(() => void this.#askLibrary(path), this.library ? 200 : 0);
      const often = setInterval(() => void this.#askLibrary(path), libraryEveryMs);
      return () => {
        clearTimeout(soon);
        clearInterval(often);
      };
    });
  }

  search(query: string): void {
    this.query = query;
    this.offset = 0;
  }

  choose(category: string): void {
    this.category = category;
    this.offset = 0;
  }

  turn(pages: number): void {
    this.offset = Math.max(0, this.offset + pages * pageSize);
  }

  /** A rule's short name in the page's language. */
  ruleName(rule: string): string {
    return studioWords[tongue.language].control.rules[rule]?.[0] ?? rule;
  }

  /** What a rule asks for; a rule that this page does not know in the station's own words. */
  ruleWhy(rule: string): string {
    return studioWords[tongue.language].control.rules[rule]?.[1] ?? this.#rules.find((info) => info.rule === rule)?.why ?? rule;
  }

  whyOf(entry: Planned): Why | undefined {
    return this.#whys.of === this.#plan() ? this.#whys.by.get(place(entry)) : undefined;
  }

  /** Asks for every reason of the rotation on air, once for each rotation. */
  async explain(): Promise<void> {
    const plan = this.#plan();
    if (this.#whys.of === plan || this.#askingWhy) return;
    this.#askingWhy = true;
    this.explaining = 'asked';
    try {
      const { rotation } = await fetchJSON<Schedule>('/api/schedule?explain=1');
      const by = new Map<string, Why>();
      for (const entry of rotation ?? []) if (entry.why) by.set(place(entry), entry.why);
      this.#whys = { of: plan, by };
      this.explaining = 'done';
    } catch {
      this.explaining = 'failed';
    } finally {
      this.#askingWhy = false;
    }
  }

  /** Names the rotation on air. */
  #plan(): string {
    const rotation = this.#station.status?.rotation;
    return `${rotation?.builtAt} ${rotation?.length}`;
  }

  async #askRules(): Promise<void> {
    if (this.#rules.length > 0) return;
    const answer = await this.#door.quietly<{ rules: RuleInfo[] }>('GET', '/api/station/rules').catch(() => null);
    this.#rules = answer?.rules ?? [];
  }

  #libraryPath(): string {
    const query = new URLSearchParams({ offset: String(this.offset), limit: String(pageSize) });
    if (this.category) query.set('category', this.category);
    if (this.query.trim()) query.set('q', this.query.trim());
    return `/api/library?${query}`;
  }

  /** Looks at the rotation again, and at what was done to it by hand. */
  async refresh(): Promise<void> {
    const turn = ++this.#turn;
    // The status reports outages; what was there stays until an answer comes.
    const [schedule, queue] = await Promise.all([fetchJSON<Schedule>('/api/schedule').catch(() => this.schedule), this.#askQueue()]);
    if (turn === this.#turn) [this.schedule, this.queue] = [schedule, queue];
  }

  /** Shows what an edit has made of the queue, before anything else is asked. */
  take(queue: QueueAnswer): void {
    this.queue = queue;
    void this.refresh();
  }

  /** Whether the station shows the queue to whoever looks, without asking for a key. */
  get #sees(): boolean {
    const { open, session } = this.#door;
    return open || session?.open === true || session?.look === true;
  }

  async #askQueue(): Promise<QueueAnswer | null> {
    if (!untrack(() => this.#sees)) return null;
    try {
      return await this.#door.look<QueueAnswer>('/api/station/queue');
    } catch (failure) {
      return failure instanceof Problem && [401, 403, 404].includes(failure.status) ? null : this.queue;
    }
  }

  async #askLibrary(path: string): Promise<void> {
    const ticket = ++this.#asked;
    const library = await this.#door.look<Library>(path).catch(() => null);
    if (library && ticket === this.#asked) this.library = library; // a slow answer never replaces a later one
  }
}

/** An entry's place, with its file: a rotation that changed meanwhile gives no wrong reason. */
function place(entry: Planned): string {
  return `${entry.position} ${entry.file}`;
}
