import { expect, it } from 'vitest';
import { Hand } from './hand';
import type { Span } from './ranges';

it('of two fingers the one that stays drags from where it is, when the browser takes the other', () => {
  let span: Span = { from: 1_000_000, to: 101_000_000 };
  const hand = new Hand({ span: () => span, momentAt: (x) => span.from + (x / 1000) * (span.to - span.from), put: (next) => (span = next), now: () => 2_000_000_000, pick: () => undefined });
  const stage = { clientWidth: 1000, setPointerCapture: () => undefined };
  const finger = (pointerId: number, clientX: number) => ({ pointerId, clientX, pointerType: 'touch', button: 0, currentTarget: stage }) as unknown as PointerEvent & { currentTarget: HTMLElement };
  hand.down(finger(1, 100));
  hand.down(finger(2, 500));
  hand.move(finger(2, 900));
  hand.lost(finger(1, 100));
  const before = span;
  hand.move(finger(2, 900));
  expect(span).toEqual(before);
  hand.move(finger(2, 890));
  expect(Math.round(((span.from - before.from) / (before.to - before.from)) * 1000)).toBe(10);
});
