import type { Component, ComponentProps } from 'svelte';
import type { Steer } from '../steer.svelte';
import Aim from './Aim.svelte';
import HandExtras from './HandExtras.svelte';
import HeldBar from './HeldBar.svelte';
import { HandList, type Listed } from './list.svelte';
import PlaceBar from './PlaceBar.svelte';
import { Queue } from './queue.svelte';
import RowTools from './RowTools.svelte';

/** What edits the queue by hand, as one part that is loaded when somebody may. */
export interface Hands {
  queue: Queue;
  /** The rotation as a list that is changed by hand. */
  list: (list: Listed) => HandList;
  Aim: Component<ComponentProps<typeof Aim>>;
  HandExtras: Component<ComponentProps<typeof HandExtras>>;
  HeldBar: Component<ComponentProps<typeof HeldBar>>;
  PlaceBar: Component<ComponentProps<typeof PlaceBar>>;
  RowTools: Component<ComponentProps<typeof RowTools>>;
}

export function handsOf(steer: Steer): Hands {
  const queue = new Queue(steer.door, steer.desk, steer.toasts, () => steer.timezone);
  return { queue, list: (list) => new HandList(queue, steer.desk, list), Aim, HandExtras, HeldBar, PlaceBar, RowTools };
}
