/** The parts of the player that have nothing to show before the station answers; loaded beside its first answer. */
export { begin, type Live } from '../live/begin';
export { default as Reactions } from '../live/Reactions.svelte';
export { default as Below } from './Below.svelte';
export { default as Dial } from './Dial.svelte';
export { default as Heart } from '../push/Heart.svelte';
export { default as PushButton } from '../push/PushButton.svelte';
export { default as Tools } from './Tools.svelte';
export { default as About } from '../look/About.svelte';
export { default as InstallOffer } from '../look/InstallOffer.svelte';
export { registerAtRest } from '../push/worker';
