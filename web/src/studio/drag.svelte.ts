/** What is carried, the place before which it would be put, and where the pointer is. */
export interface Carried {
  places: readonly number[];
  to: number;
  y: number;
}

/** What a drag asks of the list that it is in. */
export interface Dragged {
  /** What scrolls. */
  box: () => HTMLElement | undefined;
  /** The place before which something would be put that is let go at this height of the window. */
  placeAt: (y: number) => number;
  /** How near to an edge the list goes on by itself, in pixels, and how much of its top is covered. */
  reach: () => { edge: number; head: number };
}

/** What becomes of what is carried. */
export interface Put {
  /** It was let go there. */
  drop: (ended: Carried) => void;
  /** It stays where it was: the pointer was taken away. */
  leave?: () => void;
}

/** Entries of a list that a pointer, mouse or finger, carries to another place. */
export class Drag {
  carried = $state.raw<Carried | null>(null);

  readonly #list: Dragged;
  #frame = 0;
  #follows = new AbortController();

  constructor(list: Dragged) {
    this.#list = list;
  }

  /** Takes entries up; false where the press was none of the first button. */
  grab(event: PointerEvent & { currentTarget: HTMLElement }, places: readonly number[], at: number, put: Put): boolean {
    if (event.button !== 0) return false;
    event.preventDefault(); // no text is selected on the way
    event.currentTarget.setPointerCapture(event.pointerId);
    this.carried = { places, to: at, y: event.clientY };
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#drift());
    // The row may be drawn anew on the way or scrolled out of the page, and its grip with it: the
    // pointer is followed wherever it is.
    this.#follows.abort();
    this.#follows = new AbortController();
    const { signal } = this.#follows;
    const { pointerId } = event;
    const follow = (name: 'pointermove' | 'pointerup' | 'pointercancel', act: (event: PointerEvent) => void) =>
      addEventListener(name, (met) => met.pointerId === pointerId && act(met), { signal });
    follow('pointermove', (moved) => this.#pull(moved));
    follow('pointerup', (ended) => {
      const carried = this.end(ended);
      if (carried) put.drop(carried);
    });
    follow('pointercancel', (ended) => {
      if (this.end(ended)) put.leave?.();
    });
    return true;
  }

  #pull(event: PointerEvent): void {
    if (this.carried) this.carried = { ...this.carried, to: this.#list.placeAt(event.clientY), y: event.clientY };
  }

  /** Lets go; answers what was carried where, null where nothing was. */
  end(event?: Event): Carried | null {
    cancelAnimationFrame(this.#frame);
    this.#follows.abort();
    const { carried } = this;
    this.carried = null;
    event?.preventDefault();
    return carried;
  }

  /** Near an edge the list goes on by itself. */
  #drift(): void {
    const box = this.#list.box();
    const { carried } = this;
    if (!carried || !box) return;
    const { top, bottom } = box.getBoundingClientRect();
    const { edge, head } = this.#list.reach();
    const [first, last] = [top + head + edge, bottom - edge];
    const into = carried.y < first ? carried.y - first : carried.y > last ? carried.y - last : 0;
    if (into !== 0) {
      box.scrollTop += Math.max(-24, Math.min(24, into / 3));
      this.carried = { ...carried, to: this.#list.placeAt(carried.y) };
    }
    this.#frame = requestAnimationFrame(() => this.#drift());
  }
}
