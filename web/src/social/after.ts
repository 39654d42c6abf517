/** What an upload does after a failure: it waits and goes on, or it stops and says why. */
export type After = { wait: number } | 'stop';

const first = 1000;
const longest = 30_000;

/**
 * | failure | what it means | what follows |
 * |---|---|---|
 * | no answer | the line is gone | wait, ever longer, at once when the network is back |
 * | 408, 5xx | the station is starting or down | wait, ever longer |
 * | 409, 423, 460 | the server still holds the connection that broke off | wait, ever longer |
 * | 404, 410 with an upload begun | the server forgot the upload | wait, then begin it anew |
 * | 409, 507 with a reason and nothing begun | a rule stands against it | stop: the sender must do something first |
 * | 429 | too many | wait as long as the station says |
 * | other 4xx | refused | stop |
 */
export function after(status: number, attempt: number, waitMs: number, begun: boolean, ruled = false): After {
  const pause = Math.min(longest, first * 2 ** Math.min(10, attempt));
  if (ruled && !begun && (status === 409 || status === 507)) return 'stop';
  if (status === 429) return { wait: Math.max(pause, waitMs) };
  const passing = status === 0 || status >= 500 || [408, 409, 423, 460].includes(status);
  const forgotten = begun && (status === 404 || status === 410);
  return passing || forgotten ? { wait: Math.max(pause, waitMs) } : 'stop';
}

/** How fast bytes leave, over the last seconds. */
export class Speed {
  #seen: { at: number; bytes: number }[] = [];

  /** Takes how many bytes have left altogether. */
  take(bytes: number, at: number): void {
    const last = this.#seen.at(-1);
    if (last && bytes < last.bytes) this.#seen = []; // the server had less than was thought
    this.#seen = [...this.#seen.filter((look) => at - look.at <= 8000), { at, bytes }];
  }

  /** Bytes a second; 0 where too little is known. */
  get perSecond(): number {
    const [from, to] = [this.#seen[0], this.#seen.at(-1)];
    if (!from || !to || to.at - from.at < 500) return 0;
    return ((to.bytes - from.bytes) * 1000) / (to.at - from.at);
  }

  /** Until the rest has left, milliseconds; 0 where it cannot be said. */
  leftMs(rest: number): number {
    return this.perSecond > 0 ? (rest / this.perSecond) * 1000 : 0;
  }

  forget(): void {
    this.#seen = [];
  }
}
