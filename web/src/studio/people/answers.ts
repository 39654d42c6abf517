import type { Role, User } from '../rights';

/** What the station says of people (times are epoch milliseconds). */
export interface Person extends User {
  locked: boolean;
  /** They have chosen one. */
  password: boolean;
  totp: boolean;
  passkeys: number;
  keys: number;
  sessions: number;
  /** Until when their invitation holds; 0 for none. */
  invited: number;
  createdAt: number;
  seenAt: number;
}

export interface Login {
  id: string;
  user: string;
  agent: string;
  createdAt: number;
  seenAt: number;
  until: number;
}

/** A key of a program. */
export interface ProgramKey {
  id: string;
  user: string;
  name: string;
  role: Role;
  until: number;
  createdAt: number;
  /** Days since 1970; 0 for never. */
  usedDay: number;
  /** Only as it is made. */
  secret?: string;
}

export interface Passkey {
  id: string;
  name: string;
  createdAt: number;
  usedDay: number;
}

export interface Invitation {
  user: Person;
  token: string;
  until: number;
}

export interface Detail {
  user: Person;
  sessions: Login[] | null;
  keys: ProgramKey[] | null;
  passkeys: Passkey[] | null;
}

export interface Account extends Detail {
  /** Recovery codes that are left. */
  recovery: number;
  /** The id of this login. */
  session: string;
}

/** One order in the log, newest first. */
export interface Order {
  n: number;
  at: number;
  /** Empty: the station key, the moderators’ one, or nobody who is known. */
  user: string;
  name: string;
  way: string;
  order: string;
  target: string;
  /** JSON, without secrets. */
  detail: string;
  address: string;
  /** 0: nobody knows how it went. */
  status: number;
}

/** A setting of the authenticator app that is not confirmed yet. */
export interface Setting {
  secret: string;
  url: string;
  /** Rows of modules, 1 is dark. */
  qr: string[];
}
