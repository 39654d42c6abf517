import type { Heard } from './heard';
import type { Player } from './player.svelte';
import { fadeOf, leftOf, type Plan } from './sleep';

/** The sleep timer of a player. */
export class Sleep {
  plan = $state.raw<Plan | null>(null);
  left = $state(0);
  readonly #player: Player;
  readonly #heard: () => Heard;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(player: Player, heard: () => Heard) {
    this.#player = player;
    this.#heard = heard;
  }

  /** The track that is heard can be waited for. */
  get song(): Plan | null {
    const { kind, startedAt, durationMs } = this.#heard();
    return kind === 'song' && startedAt > 0 && durationMs > 0 ? { song: startedAt, lasting: durationMs } : null;
  }

  start(plan: Plan | null): void {
    this.end();
    if (!plan) return;
    this.plan = plan;
    this.#tick();
    this.#timer = setInterval(() => this.#tick(), 250);
  }

  end(): void {
    clearInterval(this.#timer);
    this.plan = null;
    this.#player.fade(1);
  }

  #tick(): void {
    if (!this.plan) return;
    this.left = leftOf(this.plan, { now: Date.now(), heard: this.#player.moment(), began: this.#heard().startedAt });
    if (this.left > 0) return this.#player.fade(fadeOf(this.plan, this.left));
    this.#player.silence();
    this.end();
  }
}
