import type { Owned } from './post';

/** Where on the page one is. */
export type Route = { view: 'listen' | 'choose' | 'send' | 'mine' | 'chart' } | { view: 'post'; id: number };

export const page = '/social.html';

/** An address of the page as where it leads; the secret of an owner's link is no part of that. */
export function routeOf(search: string, hash: string): Route {
  const id = idOf(new URLSearchParams(search).get('post'));
  const name = hash.replace(/^#/, '');
  if (name === 'choose' || name === 'send' || name === 'mine' || name === 'chart') return { view: name };
  if (secretOf(hash)) return { view: 'mine' };
  return id ? { view: 'post', id } : { view: 'listen' };
}

export function addressOf(route: Route): string {
  if (route.view === 'post') return `${page}?post=${route.id}`;
  return route.view === 'listen' ? page : `${page}#${route.view}`;
}

/** The post and its secret in an owner's link; null where it is none. */
export function secretOf(hash: string): Owned | null {
  const said = new URLSearchParams(hash.replace(/^#/, ''));
  const [id, token] = [idOf(said.get('post')), said.get('token') ?? ''];
  return id && /^[\w.~-]{4,200}$/.test(token) ? { id, token } : null;
}

/** The owner's link: its secret is behind #, which browsers send to nobody. */
export function secretLink(origin: string, { id, token }: Owned): string {
  return `${origin}${page}#post=${id}&token=${token}`;
}

function idOf(text: string | null): number {
  return text && /^[1-9]\d{0,15}$/.test(text) ? Number(text) : 0;
}
