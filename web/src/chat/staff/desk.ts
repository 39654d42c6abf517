/** The staff's part of the chat; no listener loads it. */
export { default as Desk } from './Desk.svelte';
export { Office } from './office.svelte';
export { default as StaffDoor } from './StaffDoor.svelte';
