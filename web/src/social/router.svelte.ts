import type { Owned } from './post';
import { addressOf, page, routeOf, secretOf, type Route } from './route';

/** Where one is; links inside the page change it without loading it anew, so that an upload and a sound go on. */
class Router {
  route = $state.raw<Route>(routeOf(location.search, location.hash));
  /** Grows with each step, so that the focus can follow. */
  steps = $state(0);

  /** Follows links and the browser's back and forward; tells of an owner's link, whose secret leaves the address at once. */
  follow(opened: (owned: Owned) => void): () => void {
    const look = (): void => {
      const secret = secretOf(location.hash);
      if (secret) {
        history.replaceState(null, '', addressOf({ view: 'mine' }));
        opened(secret);
      }
      this.#set(routeOf(location.search, location.hash));
    };
    const click = (event: MouseEvent): void => {
      const link = event.target instanceof Element ? event.target.closest('a') : null;
      const plainly = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
      if (!link || !plainly || link.target || link.origin !== location.origin || link.pathname !== page) return;
      event.preventDefault();
      if (link.href !== location.href) history.pushState(null, '', link.href);
      look();
      scrollTo(0, 0);
      this.steps++;
    };
    look();
    document.addEventListener('click', click);
    addEventListener('popstate', look);
    return () => {
      document.removeEventListener('click', click);
      removeEventListener('popstate', look);
    };
  }

  go(route: Route): void {
    history.pushState(null, '', addressOf(route));
    this.#set(route);
    scrollTo(0, 0);
    this.steps++;
  }

  #set(route: Route): void {
    if (addressOf(route) !== addressOf(this.route)) this.route = route;
  }
}

export const router = new Router();
