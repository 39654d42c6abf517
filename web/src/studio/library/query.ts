import { facetNames, shownStates, sorts, type FacetName, type Sort } from './answers';

/** What is asked of the library; without a field nothing is asked of it. */
export interface Query {
  q?: string;
  category?: string[];
  state?: string[];
  genre?: string[];
  artist?: string[];
  album?: string[];
  sort?: Sort;
  order?: 'asc' | 'desc';
}

export interface View {
  name: string;
  query: Query;
}

/** Sorted by these, what is largest or newest is looked for first. */
const downwards: readonly Sort[] = ['duration', 'added', 'aired', 'plays'];

/** The query as the station is asked, always in the same order: equal queries are equal texts. */
export function paramsOf(query: Query): URLSearchParams {
  const params = new URLSearchParams();
  const q = query.q?.trim().slice(0, 200);
  if (q) params.set('q', q);
  for (const name of facetNames) for (const value of query[name] ?? []) params.append(name, value);
  if (query.sort) params.set('sort', query.sort);
  if (query.order === 'desc') params.set('order', 'desc');
  return params;
}

/** The query without what says nothing: as it is saved in a view and sent with a change. */
export function tidy(query: Query): Query {
  const out: Query = {};
  const q = query.q?.trim().slice(0, 200);
  if (q) out.q = q;
  for (const name of facetNames) {
    const values = query[name];
    if (values && values.length > 0) out[name] = [...values];
  }
  if (query.sort) out.sort = query.sort;
  if (query.order === 'desc') out.order = 'desc';
  return out;
}

export const sameQuery = (a: Query, b: Query): boolean => paramsOf(a).toString() === paramsOf(b).toString();

/** Whether anything narrows what is shown; the order does not. */
export const narrows = (query: Query): boolean => Boolean(query.q?.trim()) || facetNames.some((name) => (query[name]?.length ?? 0) > 0);

/** Takes a facet's value in, or out. */
export function toggled(query: Query, name: FacetName, value: string): Query {
  const had = query[name] ?? [];
  return { ...query, [name]: had.includes(value) ? had.filter((other) => other !== value) : [...had, value] };
}

/** What the list is sorted by; without a choice the best fit is first where there is a text, and that is no column. */
export const orderOf = (query: Query): Sort | '' => query.sort ?? (query.q?.trim() ? '' : 'artist');

/** Sorts by a column; by the same once more the other way round. */
export function sortedBy(query: Query, sort: Sort): Query {
  if (orderOf(query) === sort) return { ...query, sort, order: query.order === 'desc' ? 'asc' : 'desc' };
  return { ...query, sort, order: downwards.includes(sort) ? 'desc' : 'asc' };
}

/** A view's query as it may be trusted: an older page, or a newer station, may have written it. */
export function queryIn(said: Query): Query {
  const out = tidy(said);
  if (out.sort && !sorts.includes(out.sort)) delete out.sort;
  if (out.state) out.state = out.state.filter((state) => shownStates.some((known) => known === state));
  return tidy(out);
}
