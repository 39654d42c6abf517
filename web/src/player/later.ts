/** The parts of the player that have nothing to show before the station answers; loaded beside its first answer. */
export { default as ComingUp } from './ComingUp.svelte';
export { default as Dial } from './Dial.svelte';
