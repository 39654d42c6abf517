/** Where one is: the list, at a moment or at what is searched, or one track's page. */
export type Route = { view: 'list'; query: string; at: number } | { view: 'track'; id: string };

export function routeOf(path: string, search: string): Route {
  const id = /^\/track\/([a-z2-7]{16})$/.exec(path)?.[1];
  if (id) return { view: 'track', id };
  const said = new URLSearchParams(search);
  const at = Number(said.get('at') ?? 0);
  return { view: 'list', query: (said.get('q') ?? '').trim().slice(0, 100), at: Number.isSafeInteger(at) && at > 0 && at < 8.64e15 ? at : 0 };
}

export function addressOf(route: Route): string {
  if (route.view === 'track') return `/track/${route.id}`;
  const said = new URLSearchParams({ ...(route.query ? { q: route.query } : {}), ...(route.at ? { at: String(route.at) } : {}) }).toString();
  return said ? `/history?${said}` : '/history';
}

/** Whether an address is one that this page itself shows. */
export const isOurs = (path: string): boolean => path === '/history' || /^\/track\/[a-z2-7]{16}$/.test(path);
