import type { Snippet } from 'svelte';

/** What makes a row of the rotation one that can be changed by hand. */
export interface RowHand {
  /** The keyboard is at this row. */
  active: boolean;
  carried: boolean;
  pending: boolean;
  /** Takes it to the head of what is to come; null where it is there. */
  next: (() => void) | null;
  keys: (event: KeyboardEvent) => void;
  reached: () => void;
  tools: Snippet<[string]>;
  /** What stands beneath it while an edit of it is not done. */
  bar: Snippet | null;
}
