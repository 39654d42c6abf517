/** Where one is: all shows, one show (or what is searched in it), or one episode, perhaps at a second of it. */
export type Route =
  | { view: 'shows' }
  | { view: 'show'; show: string; query: string }
  | { view: 'episode'; show: string; episode: string; at: number }
  | { view: 'nowhere' };

const slug = '[a-z0-9][a-z0-9-]{0,63}';
const showPath = new RegExp(`^/podcasts/(${slug})$`);
const episodePath = new RegExp(`^/podcasts/(${slug})/([a-z2-7]{16})$`);
/** No episode is longer than two days. */
const mostSeconds = 172_800;

export function routeOf(path: string, search: string): Route {
  const said = new URLSearchParams(search);
  if (path === '/podcasts') return { view: 'shows' };
  const show = showPath.exec(path)?.[1];
  if (show) return { view: 'show', show, query: (said.get('q') ?? '').trim().slice(0, 100) };
  const [, of, episode] = episodePath.exec(path) ?? [];
  if (of && episode) return { view: 'episode', show: of, episode, at: secondOf(said.get('t') ?? '') };
  return { view: 'nowhere' };
}

export function addressOf(route: Route): string {
  if (route.view === 'show') return `/podcasts/${route.show}${route.query ? `?${new URLSearchParams({ q: route.query })}` : ''}`;
  if (route.view === 'episode') return `/podcasts/${route.show}/${route.episode}${route.at ? `?t=${route.at}` : ''}`;
  return '/podcasts';
}

/** Whether an address is one that this page itself shows. */
export const isOurs = (path: string): boolean => routeOf(path, '').view !== 'nowhere';

/** A whole second of an episode; 0 where none is said. */
function secondOf(text: string): number {
  const at = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  return at <= mostSeconds ? at : 0;
}
