import { addressOf, isOurs, routeOf, type Route } from './route';

/** Where one is; links inside the page change it without loading it anew, so that the sound goes on. */
class Router {
  route = $state.raw<Route>(routeOf(location.pathname, location.search));
  /** Grows with each step, so that the focus can follow. */
  steps = $state(0);

  follow(): () => void {
    const look = (): void => {
      this.route = routeOf(location.pathname, location.search);
    };
    const click = (event: MouseEvent): void => {
      const link = event.target instanceof Element ? event.target.closest('a') : null;
      const plainly = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
      if (!link || !plainly || link.target || link.hasAttribute('download') || link.origin !== location.origin || !isOurs(link.pathname)) return;
      event.preventDefault();
      this.go(routeOf(link.pathname, link.search));
    };
    document.addEventListener('click', click);
    addEventListener('popstate', look);
    return () => {
      document.removeEventListener('click', click);
      removeEventListener('popstate', look);
    };
  }

  go(route: Route): void {
    if (addressOf(route) !== location.pathname + location.search) history.pushState(null, '', addressOf(route));
    this.route = route;
    scrollTo(0, 0);
    this.steps++;
  }

  /** The same step goes on, as a search does that is being typed. */
  change(route: Route): void {
    history.replaceState(null, '', addressOf(route));
    this.route = route;
  }
}

export const router = new Router();
