/** What a page knows of its own addresses. */
interface Ways<R> {
  routeOf(path: string, search: string): R;
  addressOf(route: R): string;
  /** Whether an address is one that this page itself shows. */
  isOurs(path: string): boolean;
  /** A step that scrolls by itself; without it each begins at the top. */
  scrolls?(route: R): boolean;
}

/** Where one is; links inside the page change it without loading it anew, so that the sound goes on. */
export class Router<R> {
  route = $state.raw<R>() as R;
  /** Grows with each step, so that the focus can follow. */
  steps = $state(0);
  readonly #ways: Ways<R>;

  constructor(ways: Ways<R>) {
    this.#ways = ways;
    this.#look();
  }

  follow(): () => void {
    const look = (): void => this.#look();
    const click = (event: MouseEvent): void => {
      const link = event.target instanceof Element ? event.target.closest('a') : null;
      const plainly = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
      if (!link || !plainly || link.target || link.hasAttribute('download') || link.origin !== location.origin || !this.#ways.isOurs(link.pathname)) return;
      event.preventDefault();
      this.go(this.#ways.routeOf(link.pathname, link.search));
    };
    document.addEventListener('click', click);
    addEventListener('popstate', look);
    return () => {
      document.removeEventListener('click', click);
      removeEventListener('popstate', look);
    };
  }

  go(route: R): void {
    const address = this.#ways.addressOf(route);
    if (address !== location.pathname + location.search) history.pushState(null, '', address);
    this.route = route;
    if (!this.#ways.scrolls?.(route)) scrollTo(0, 0);
    this.steps++;
  }

  /** The same step goes on, as a search does that is being typed. */
  change(route: R): void {
    history.replaceState(null, '', this.#ways.addressOf(route));
    this.route = route;
  }

  #look(): void {
    this.route = this.#ways.routeOf(location.pathname, location.search);
  }
}
