/** Keeps a scrolled list at its end while the reader is there, whatever grows in it or around it. */
export class Stick {
  atEnd = $state(true);
  #box: HTMLElement | null = null;
  #top = 0;

  /** {@attach stick.box} on what scrolls; its first child is what grows. */
  readonly box = (box: HTMLElement): (() => void) => {
    this.#box = box;
    // Only a move upwards leaves the end: what grew between two looks is not one.
    const look = () => {
      if (box.scrollHeight - box.scrollTop - box.clientHeight < 40) this.atEnd = true;
      else if (box.scrollTop < this.#top - 1) this.atEnd = false;
      this.#top = box.scrollTop;
    };
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
    this.#top = box.scrollTop;
  }

  #down(): void {
    if (!this.#box) return;
    this.#box.scrollTop = this.#box.scrollHeight;
    this.#top = this.#box.scrollTop;
  }
}
