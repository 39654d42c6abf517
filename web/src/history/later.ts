/** The parts of the page that have nothing to show before the station answers. */
export { begin, type Live } from '../live/begin';
export { default as RequestDialog } from '../requests/RequestDialog.svelte';
