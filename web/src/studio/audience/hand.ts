import { panned, zoomed, type Span } from './ranges';

/** What the hand may do. */
interface Reach {
  span: () => Span;
  /** The moment beneath a place on the screen. */
  momentAt: (x: number) => number;
  put: (span: Span) => void;
  now: () => number;
  /** A moment was pointed at. */
  pick: (moment: number) => void;
}

/** Pixels that a finger may slip before it drags. */
const slip = 6;

/**
 * A mouse points as it passes and drags with its button down; one finger
 * points by a tap and drags along; two fingers pinch. Up and down stay the
 * page's own.
 */
export class Hand {
  readonly #reach: Reach;
  readonly #fingers = new Map<number, number>();
  #from = { span: { from: 0, to: 0 }, x: 0, apart: 1, about: 0, wide: 1 };
  #moved = false;

  constructor(reach: Reach) {
    this.#reach = reach;
  }

  down(event: PointerEvent & { currentTarget: HTMLElement }): void {
    if (event.pointerType === 'mouse' && event.button !== 0) return;
    if (this.#fingers.size >= 2) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    if (this.#fingers.size === 0) this.#moved = false;
    this.#fingers.set(event.pointerId, event.clientX);
    this.#take(event.currentTarget);
  }

  move(event: PointerEvent & { currentTarget: HTMLElement }): void {
    const { momentAt, now, pick, put } = this.#reach;
    if (!this.#fingers.has(event.pointerId)) {
      if (event.pointerType === 'mouse') pick(momentAt(event.clientX));
      return;
    }
    this.#fingers.set(event.pointerId, event.clientX);
    const { span, x, apart, about, wide } = this.#from;
    const [one = 0, two] = [...this.#fingers.values()];
    if (two !== undefined) {
      this.#moved = true;
      return put(zoomed(span, apart / Math.max(20, Math.abs(one - two)), about, now()));
    }
    if (!this.#moved && Math.abs(one - x) < slip) return;
    this.#moved = true;
    put(panned(span, ((x - one) / wide) * (span.to - span.from), now()));
  }

  up(event: PointerEvent & { currentTarget: HTMLElement }): void {
    if (!this.#fingers.delete(event.pointerId)) return;
    if (this.#fingers.size > 0) this.#take(event.currentTarget);
    else if (!this.#moved) this.#reach.pick(this.#reach.momentAt(event.clientX));
  }

  /** The browser took the finger to scroll. */
  lost(event: PointerEvent & { currentTarget: HTMLElement }): void {
    if (!this.#fingers.delete(event.pointerId)) return;
    this.#moved = true;
    if (this.#fingers.size > 0) this.#take(event.currentTarget); // the other drags from where it is
  }

  #take(stage: HTMLElement): void {
    const [one = 0, two = one] = [...this.#fingers.values()];
    this.#from = { span: this.#reach.span(), x: one, apart: Math.max(20, Math.abs(one - two)), about: this.#reach.momentAt((one + two) / 2), wide: Math.max(1, stage.clientWidth) };
  }
}
