/** Keeps a scrolled list at its end while the reader is there, whatever grows in it or around it. */
export class Stick {
  atEnd = $state(true);
  #box: HTMLElement | null = null;

  /** {@attach stick.box} on what scrolls; its first child is what grows. */
  readonly box = (box: HTMLElement): (() => void) => {
    this.#box = box;
    const look = () => (this.atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 40);
    const grown = new ResizeObserver(() => this.atEnd && this.#down());
    grown.observe(box);
    if (box.firstElementChild) grown.observe(box.firstElementChild);
    box.addEventListener('scroll', look, { passive: true });
    return () => {
      grown.disconnect();
      box.removeEventListener('scroll', look);
      this.#box = null;
    };
  };

  toEnd(): void {
    this.atEnd = true;
    this.#down();
  }

  /** Runs what adds above, and keeps in place what is looked at. */
  async above(add: () => Promise<void>): Promise<void> {
    const box = this.#box;
    if (!box) return add();
    const below = box.scrollHeight - box.scrollTop;
    this.atEnd = false;
    await add();
    box.scrollTop = box.scrollHeight - below;
  }

  #down(): void {
    if (this.#box) this.#box.scrollTop = this.#box.scrollHeight;
  }
}
