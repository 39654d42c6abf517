import { Router } from '../look/router.svelte';
import { addressOf, isOurs, routeOf, type Route } from './route';

export const router = new Router<Route>({ routeOf, addressOf, isOurs, scrolls: (to) => to.view === 'list' && to.at > 0 }); // a moment is scrolled to
