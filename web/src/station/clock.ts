/** For how long the best that was heard of the station's clock counts, ms: clocks of devices drift by some 50 ms in it. */
const keptMs = 600_000;
/** A device's clock that has moved by more against its own running time was set, or slept. */
const stepMs = 1000;

/**
 * The station's clock, as what it says tells it. What arrives was said before:
 * of all that came of late, what came fastest is nearest to the truth.
 */
export class Clock {
  /** Oldest first, and each better than all after it; the first is the best. */
  #heard: { at: number; ahead: number }[] = [];
  /** The device's time less its running time, when the station was last asked. */
  #zero = 0;
  readonly #date: () => number;
  readonly #running: () => number;

  constructor(date: () => number = () => Date.now(), running: () => number = () => performance.now()) {
    this.#date = date;
    this.#running = running;
    this.#zero = date() - running();
  }

  now(): number {
    return this.#date() + (this.#heard[0]?.ahead ?? 0);
  }

  /** The device's clock was set, or the device slept: the station has to be asked. */
  get stepped(): boolean {
    return Math.abs(this.#date() - this.#running() - this.#zero) > stepMs;
  }

  /** Takes the time that an answer gave, to a question that took tookMs there and back. */
  asked(said: number, tookMs: number): void {
    if (this.stepped) this.#heard = [];
    this.#zero = this.#date() - this.#running();
    this.#take(said + tookMs / 2 - this.#date());
  }

  /** Takes a time that was sent unasked, perhaps long ago: it is never too late. */
  told(said: number): void {
    if (!this.stepped) this.#take(said - this.#date());
  }

  #take(ahead: number): void {
    const at = this.#running();
    this.#heard = [...this.#heard.filter((other) => other.ahead > ahead && at - other.at < keptMs), { at, ahead }];
  }
}
