/** Who may do what in the studio, and which of its sections that opens. */

export const roles = ['owner', 'programme', 'moderator', 'presenter', 'viewer'] as const;
export type Role = (typeof roles)[number];

export const rights = ['look', 'inside', 'requests', 'air', 'moderate', 'programme', 'own'] as const;
export type Right = (typeof rights)[number];

export interface User {
  id: string;
  login: string;
  name: string;
  role: Role;
}

/** What the station says of whoever asks. */
export interface Session {
  /** Somebody can log in here. */
  users: boolean;
  /** The station has no key: everybody may do everything. */
  open: boolean;
  /** Everybody may look at the studio. */
  look: boolean;
  /** Passkeys work at this address. */
  passkeys: boolean;
  /** Missing where nobody is logged in. */
  user?: User | null;
  way: '' | 'session' | 'key' | 'station key';
  rights: readonly Right[];
}

/** In the order of their tabs. */
export const views = ['air', 'programme', 'library', 'production', 'live', 'podcasts', 'listeners', 'requests', 'review', 'station', 'log', 'people'] as const;
export type View = (typeof views)[number] | 'account' | 'invited';

/** What it takes to see a section. */
const sees: Record<(typeof views)[number], Right> = {
  air: 'look', programme: 'look', library: 'look', production: 'look', live: 'look', podcasts: 'look', listeners: 'look', requests: 'inside', review: 'moderate', station: 'look', log: 'programme', people: 'own',
};

/** What it takes to change anything in a section: any of these. */
const changes: Record<(typeof views)[number], readonly Right[]> = {
  air: ['air'], programme: ['programme'], library: ['programme'], production: ['programme'], live: ['air', 'programme'], podcasts: ['programme'], listeners: ['moderate', 'own'], requests: ['requests', 'air'], review: ['moderate'], station: ['programme'], log: ['programme'], people: ['own'],
};

/**
 * The sections for whoever has these rights. null: nobody has said who they
 * are, and everything is listed but what belongs to owners, as each control
 * asks by itself.
 */
export function sectionsOf(known: ReadonlySet<Right> | null): (typeof views)[number][] {
  return views.filter((view) => (known ? known.has(sees[view]) : view !== 'people'));
}

/** Whether one may look at a section and change nothing in it. */
export function looksOnly(known: ReadonlySet<Right> | null, view: View): boolean {
  if (known === null || view === 'account' || view === 'invited') return false;
  return known.has(sees[view]) && !changes[view].some((right) => known.has(right));
}

/** #/listeners, or a part of it: #/listeners/guard. */
export function viewOf(hash: string): View {
  const name = hash.split('/')[1];
  return name === 'account' || name === 'invited' ? name : (views.find((view) => view === name) ?? 'air');
}

/** The roles that may be given by somebody of a role: their own and those that may do less. */
export function upTo(role: Role): Role[] {
  if (role === 'owner') return [...roles];
  if (role === 'programme') return roles.filter((other) => other !== 'owner');
  return role === 'viewer' ? ['viewer'] : [role, 'viewer'];
}
