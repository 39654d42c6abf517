/** Keeps the screen on while it is wanted: a phone that locks itself may close the microphone. */
export class Awake {
  #lock: WakeLockSentinel | null = null;
  #wanted = false;

  constructor() {
    // The browser takes the lock away whenever the page is hidden.
    document.addEventListener('visibilitychange', () => void this.#look());
  }

  want(wanted: boolean): void {
    this.#wanted = wanted;
    void this.#look();
  }

  async #look(): Promise<void> {
    if (!this.#wanted) {
      const lock = this.#lock;
      this.#lock = null;
      return void lock?.release().catch(() => undefined);
    }
    if (this.#lock?.released === false || document.visibilityState !== 'visible') return;
    try {
      const lock = await navigator.wakeLock.request('screen');
      if (this.#wanted) this.#lock = lock;
      else void lock.release();
    } catch {
      // no such thing here, or the battery is low: the page works without it
    }
  }
}
