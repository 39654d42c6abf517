import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Account, Invitation, Login, Order, Passkey, Person, ProgramKey } from '../../src/studio/people/answers';
import { rights as all, roles, type Right, type Role, type Session } from '../../src/studio/rights';

type Json = Record<string, unknown>;

const minute = 60_000;
const day = 86_400_000;

const may: Record<Role, readonly Right[]> = {
  owner: all, programme: all.filter((right) => right !== 'own'), moderator: ['look', 'inside', 'requests', 'moderate'], presenter: ['look', 'inside', 'requests', 'air'], viewer: ['look', 'inside'],
};
const rightWords: Record<Right, [string, string]> = {
  look: ['look at the studio', 'مشاهدة الاستوديو'], inside: ['see what is inside', 'الاطلاع على بيانات المحطة'], requests: ['answer requests', 'الرد على الطلبات'], air: ['steer the air', 'التحكم في البث'],
  moderate: ['moderate', 'الإشراف على ما يرسله المستمعون'], programme: ['change the programme', 'تغيير البرنامج'], own: ['manage people', 'إدارة المستخدمين'],
};

interface Kept {
  person: Person;
  password: string;
  recovery: string[];
  /** The link's token, while it holds. */
  token: string;
  passkeys: Passkey[];
}

class Refusal {
  constructor(
    readonly status: number,
    readonly body: Json = {},
    readonly headers: Record<string, string> = {},
  ) {}
}

const wrong = (field: string, message: string) => new Refusal(422, { detail: 'validation failed', errors: [{ location: `body.${field}`, message }] });

/** Who works at the station: users, logins by a cookie, keys of programs, and the log of orders. A station of no users until one is added. */
export class People {
  readonly users: Kept[] = [];
  readonly logins: (Login & { cookie: string })[] = [];
  readonly keys: ProgramKey[] = [];
  /** Newest first. */
  orders: Order[] = [];
  readonly tickets = new Set<string>();
  /** Everybody may look at the studio. */
  look = true;
  /** The code that every app shows. */
  code = '123456';
  /** Wrong logins until the station stops listening, and for how long it says so. */
  patience = 5;
  waitSeconds = 600;
  /** How often somebody has logged in by what. */
  readonly entered: string[] = [];
  #wrong = 0;
  #closed = false;
  #next = 1;
  #state = '';
  #added = 0;

  constructor(readonly key: () => string) {}

  /** Adds somebody who has been here before. */
  add(login: string, role: Role, more: Partial<Person> & { secret?: string } = {}): Kept {
    const { secret = `${login}-password-1`, ...rest } = more;
    const id = `u${++this.#added}`;
    const person: Person = { id, login, name: login, role, locked: false, password: true, totp: false, passkeys: 0, keys: 0, sessions: 0, invited: 0, createdAt: Date.now() - 30 * day, seenAt: Date.now() - 3 * 60 * minute, ...rest };
    const kept: Kept = { person, password: secret, recovery: person.totp ? codesOf(id) : [], token: '', passkeys: [] };
    this.users.push(kept);
    return kept;
  }

  /** Logs somebody in somewhere else. */
  loginOf(kept: Kept, agent: string, agoMs = 2 * day): void {
    this.logins.push({ id: `s${this.#next++}`, user: kept.person.id, agent, createdAt: Date.now() - agoMs, seenAt: Date.now() - agoMs / 4, until: Date.now() + 30 * day, cookie: `other-${this.#next}` });
  }

  keyOf(kept: Kept, name: string, role: Role, more: Partial<ProgramKey> = {}): ProgramKey {
    const key: ProgramKey = { id: `k${this.#next++}`, user: kept.person.id, name, role, until: 0, createdAt: Date.now() - 9 * day, usedDay: Math.floor(Date.now() / day) - 1, secret: `athir_${name}`, ...more };
    this.keys.push(key);
    return key;
  }

  invite(kept: Kept): Invitation {
    kept.token = `t${this.#next++}-${'x'.repeat(20)}`;
    kept.person.invited = Date.now() + 3 * day;
    return { user: this.#seen(kept), token: kept.token, until: kept.person.invited };
  }

  /** Ends every login, as a station that has lost them. */
  endAll(): void {
    this.logins.length = 0;
  }

  /** The wait is over. */
  forgive(): void {
    [this.#wrong, this.#closed] = [0, false];
  }

  /** Puts an order into the log. */
  log(order: Partial<Order>): void {
    const n = (this.orders[0]?.n ?? 0) + 1;
    this.orders = [{ n, at: Date.now(), user: '', name: '', way: 'station key', order: 'POST /api/station/skip', target: '', detail: '', address: '203.0.113.7', status: 200, ...order }, ...this.orders];
  }

  /**
   * Lets a request of somebody known through to the rest of the station, as
   * it would one with the station key; true where it was answered here.
   */
  answer(request: IncomingMessage, url: URL, response: ServerResponse): boolean {
    const own = /^\/api\/(session|account|people)(\/|$)/.test(url.pathname);
    const who = this.#who(request);
    if (!own) return this.#pass(request, url, response, who);
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const said = this.#attempt(request, url, text ? (JSON.parse(text) as Json) : {}, who, response);
      if (said instanceof Refusal) return refuse(response, said);
      response.writeHead(said === undefined ? 204 : request.method === 'POST' && /\/(people|keys|passkeys)$/.test(url.pathname) ? 201 : 200, { 'content-type': 'application/json' });
      response.end(said === undefined ? undefined : JSON.stringify(said));
    });
    return true;
  }

  #pass(request: IncomingMessage, url: URL, response: ServerResponse, who: Who): boolean {
    const { method = 'GET' } = request;
    if (!who.kept || !(request.headers.referer ?? '').match(/\/(studio|chat)/) || !/^\/api\/(station|jobs|channels|social|requests)(\/|$)/.test(url.pathname)) return false;
    const right = rightFor(method, url.pathname);
    const open = /^\/api\/(social|requests)/.test(url.pathname) && (request.headers.referer ?? '').includes('/chat');
    if (open) return false;
    const done = who.rights.includes(right);
    if (method !== 'GET') this.log({ user: who.kept.person.id, name: who.kept.person.name, way: who.way, order: `${method} ${url.pathname}`, status: done ? 200 : 403 });
    if (!done) {
      const [en, ar] = rightWords[right];
      refuse(response, new Refusal(403, { detail: `needs the right ${right}`, reason: { code: 'right', en: `Your role does not let you ${en}.`, ar: `دورك لا يتيح ${ar}.` } }));
      return true;
    }
    request.headers['x-station-key'] = Buffer.from(this.key(), 'utf8').toString('latin1');
    return false;
  }

  #attempt(request: IncomingMessage, url: URL, body: Json, who: Who, response: ServerResponse): unknown {
    const route = `${request.method} ${url.pathname.slice('/api/'.length)}`;
    try {
      if (route.includes(' session')) return this.#session(route, body, who, request, response);
      if (!who.rights.length) return new Refusal(401, { detail: 'log in, or send the station key' });
      if (route.includes(' account')) return who.kept ? this.#account(route, body, who.kept, who) : new Refusal(403, { detail: 'the station key has no account' });
      if (!who.rights.includes('own')) return new Refusal(403, { detail: 'needs own', reason: { code: 'right', en: 'Owners alone manage people.', ar: 'إدارة المستخدمين للمالكين وحدهم.' } });
      return this.#people(route, body, url.searchParams);
    } catch (failure) {
      if (failure instanceof Refusal) return failure;
      throw failure;
    }
  }

  #session(route: string, body: Json, who: Who, request: IncomingMessage, response: ServerResponse): unknown {
    const enter = (kept: Kept, way: string) => {
      const cookie = `c${this.#next++}-${Math.random().toString(36).slice(2)}`;
      this.logins.push({ id: `s${this.#next++}`, user: kept.person.id, agent: String(request.headers['user-agent'] ?? ''), createdAt: Date.now(), seenAt: Date.now(), until: Date.now() + 30 * day, cookie });
      kept.person.seenAt = Date.now();
      this.entered.push(way);
      this.log({ user: kept.person.id, name: kept.person.name, way: 'session', order: `POST /api/session${way === 'passkey' ? '/passkey' : ''}` });
      response.setHeader('set-cookie', `athir=${cookie}; HttpOnly; SameSite=Lax; Path=/`);
      return this.#said({ kept, way: 'session', rights: may[kept.person.role], cookie }, request);
    };
    const miss = (code: string) => {
      if (++this.#wrong >= this.patience) this.#closed = true;
      return new Refusal(401, { detail: code, reason: { code, en: 'Wrong.', ar: 'غير صحيح.' } });
    };
    switch (route) {
      case 'GET session':
        return this.#said(who, request);
      case 'DELETE session':
        this.logins.splice(0, this.logins.length, ...this.logins.filter(({ cookie }) => cookie !== who.cookie));
        return undefined;
      case 'POST session': {
        if (this.#closed) return new Refusal(429, { detail: 'too many' }, { 'retry-after': String(this.waitSeconds) });
        const kept = this.users.find(({ person }) => person.login === body.login && !person.locked);
        if (!kept || kept.password !== body.password) return miss('wrong');
        if (!kept.person.totp) return enter(kept, 'password');
        if (!body.code) return new Refusal(401, { detail: 'second factor', reason: { code: 'second_factor', en: 'Send the code as well.', ar: 'أرسل الرمز أيضًا.' } });
        if (body.code === this.code) return enter(kept, 'code');
        if (!kept.recovery.includes(String(body.code))) return miss('wrong');
        kept.recovery = kept.recovery.filter((code) => code !== body.code);
        return enter(kept, 'recovery');
      }
      case 'POST session/passkey/begin':
        this.#state = `p${this.#next++}`;
        return { options: { publicKey: { challenge: Buffer.from(this.#state).toString('base64url'), rpId: 'localhost', userVerification: 'preferred', allowCredentials: [] } }, state: this.#state };
      case 'POST session/passkey': {
        const { id, response: said } = body.answer as { id: string; response: { clientDataJSON: string; signature: string } };
        const client = JSON.parse(Buffer.from(said.clientDataJSON, 'base64url').toString()) as { type: string; challenge: string };
        const kept = this.users.find(({ passkeys }) => passkeys.some((passkey) => passkey.id === id));
        const right = client.type === 'webauthn.get' && client.challenge === Buffer.from(String(body.state)).toString('base64url') && said.signature.length > 0;
        return kept && right ? enter(kept, 'passkey') : miss('wrong');
      }
      case 'POST session/invitation':
      case 'POST session/invitation/accept': {
        const kept = this.users.find(({ token, person }) => token !== '' && token === body.token && person.invited > Date.now());
        if (!kept) return new Refusal(404, { detail: 'the link does not hold' });
        const { login, name, role, invited: until } = kept.person;
        if (route.endsWith('invitation')) return { login, name, role, until };
        setPassword(kept, String(body.password));
        [kept.token, kept.person.invited] = ['', 0];
        if (kept.person.totp || kept.passkeys.length > 0) return this.#said({ kept: null, way: '', rights: [], cookie: '' }, request); // a link does not stand for them
        return enter(kept, 'invitation');
      }
      case 'POST session/ticket': {
        if (!who.kept) return new Refusal(401, { detail: 'log in' });
        if (!who.rights.includes('moderate') && !who.rights.includes('air')) return new Refusal(403, { detail: 'needs moderate' });
        const ticket = `ticket-${this.#next++}`;
        this.tickets.add(ticket);
        return { ticket, until: Date.now() + 5 * minute };
      }
      default:
        return new Refusal(404, { detail: 'no such route' });
    }
  }

  #account(route: string, body: Json, kept: Kept, who: Who): unknown {
    const { person } = kept;
    const prove = () => {
      if (body.password !== kept.password) throw wrong('password', 'is not your password');
    };
    const [, kind, id] = /^DELETE account\/(\w+)\/(.+)$/.exec(route) ?? [];
    if (kind) return this.#end(kept, kind, String(id));
    switch (route) {
      case 'GET account':
        return { ...this.#detail(kept), recovery: kept.recovery.length, session: this.logins.find(({ cookie }) => cookie === who.cookie)?.id ?? '' } satisfies Account;
      case 'PUT account/password':
        if (body.old !== kept.password) return wrong('old', 'is not your password');
        setPassword(kept, String(body.password));
        return this.#endOthers(kept, who);
      case 'POST account/totp':
        prove();
        return { secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP', url: 'otpauth://totp/athir', qr: pattern() };
      case 'PUT account/totp':
        if (body.code !== this.code) return wrong('code', 'is wrong');
        person.totp = true;
        kept.recovery = codesOf(person.id);
        return { codes: kept.recovery };
      case 'POST account/totp/remove':
        prove();
        [person.totp, kept.recovery] = [false, []];
        return undefined;
      case 'POST account/passkeys/begin':
        prove();
        this.#state = `p${this.#next++}`;
        return {
          options: {
            publicKey: {
              challenge: Buffer.from(this.#state).toString('base64url'), rp: { id: 'localhost', name: 'Athir' }, user: { id: Buffer.from(person.id).toString('base64url'), name: person.login, displayName: person.name },
              pubKeyCredParams: [{ type: 'public-key', alg: -7 }], authenticatorSelection: { residentKey: 'required', userVerification: 'preferred' }, excludeCredentials: kept.passkeys.map((passkey) => ({ type: 'public-key', id: passkey.id })),
            },
          },
          state: this.#state,
        };
      case 'POST account/passkeys': {
        const { id: made, response: said } = body.answer as { id: string; response: { clientDataJSON: string; attestationObject: string } };
        const client = JSON.parse(Buffer.from(said.clientDataJSON, 'base64url').toString()) as { type: string };
        if (client.type !== 'webauthn.create' || !said.attestationObject) return new Refusal(422, { detail: 'no passkey' });
        const passkey: Passkey = { id: made, name: String(body.name), createdAt: Date.now(), usedDay: 0 };
        kept.passkeys.push(passkey);
        return passkey;
      }
      case 'POST account/keys': {
        prove();
        const key = this.keyOf(kept, String(body.name), body.role as Role, { until: Number(body.until), createdAt: Date.now(), usedDay: 0, secret: `athir_${'k'.repeat(30)}` });
        return key;
      }
      case 'POST account/sessions/end':
        return this.#endOthers(kept, who);
      default:
        return new Refusal(404, { detail: 'no such route' });
    }
  }

  #people(route: string, body: Json, query: URLSearchParams): unknown {
    if (route === 'GET people') return { users: this.users.map((kept) => this.#seen(kept)) };
    if (route === 'GET people/orders') {
      const before = Number(query.get('before') ?? 0) || Infinity;
      const fit = this.orders.filter(({ n, user }) => n < before && (!query.get('user') || user === query.get('user')));
      const page = fit.slice(0, Number(query.get('limit') ?? 50));
      return { orders: page, next: fit.length > page.length ? (page.at(-1)?.n ?? 0) : 0 };
    }
    if (route === 'POST people') {
      if (this.users.some(({ person }) => person.login === body.login)) return new Refusal(409, { detail: 'the login is taken' });
      const kept = this.add(String(body.login), body.role as Role, { name: String(body.name), password: false, seenAt: 0, createdAt: Date.now() });
      kept.password = '';
      return this.invite(kept);
    }
    const [, method, id, rest = ''] = /^(\w+) people\/(\w+)(?:\/(.+))?$/.exec(route) ?? [];
    const kept = this.users.find(({ person }) => person.id === id);
    if (!kept) return new Refusal(404, { detail: 'nobody has this id' });
    const { person } = kept;
    const last = person.role === 'owner' && this.users.filter((other) => other.person.role === 'owner' && !other.person.locked).length === 1;
    if (method === 'GET') return this.#detail(kept);
    if (method === 'PUT') {
      if (last && ((body.role && body.role !== 'owner') || body.locked)) return new Refusal(409, { detail: 'the last owner' });
      if (body.role && !roles.includes(body.role as Role)) return wrong('role', 'is none');
      Object.assign(person, body);
      if (body.locked) this.#forget(kept);
      return this.#seen(kept);
    }
    if (method === 'POST' && rest === 'invite') return this.invite(kept);
    if (method === 'POST' && rest === 'factors/remove') {
      [person.totp, kept.recovery, kept.passkeys] = [false, [], []];
      return this.#seen(kept);
    }
    const [kind = '', which = ''] = rest.split('/');
    if (method === 'DELETE' && kind) return this.#end(kept, kind, which);
    if (last) return new Refusal(409, { detail: 'the last owner' });
    this.#forget(kept);
    this.users.splice(this.users.indexOf(kept), 1);
    return undefined;
  }

  #who(request: IncomingMessage): Who {
    const cookie = /(?:^|; )athir=([^;]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '';
    const login = this.logins.find((one) => one.cookie === cookie);
    const kept = this.users.find(({ person }) => person.id === login?.user && !person.locked);
    if (kept) return { kept, way: 'session', rights: may[kept.person.role], cookie };
    const sent = Buffer.from(String(request.headers['x-station-key'] ?? ''), 'latin1').toString('utf8');
    if (this.key() && sent === this.key()) return { kept: null, way: 'station key', rights: all, cookie };
    const key = this.keys.find(({ secret }) => sent !== '' && secret === sent);
    const owner = this.users.find(({ person }) => person.id === key?.user);
    if (key && owner) return { kept: owner, way: 'key', rights: may[key.role], cookie };
    return { kept: null, way: '', rights: this.key() ? [] : all, cookie };
  }

  #said({ kept, way, rights }: Who, request: IncomingMessage): Session {
    const user = kept && { id: kept.person.id, login: kept.person.login, name: kept.person.name, role: kept.person.role };
    return { users: this.users.some(({ person }) => person.password), open: this.key() === '', look: this.look, passkeys: (request.headers.host ?? '').startsWith('localhost'), ...(user ? { user } : {}), way, rights: rights.length === 0 && this.look ? ['look'] : rights };
  }

  #seen(kept: Kept): Person {
    const of = (list: readonly { user: string }[]) => list.filter(({ user }) => user === kept.person.id).length;
    return { ...kept.person, passkeys: kept.passkeys.length || kept.person.passkeys, keys: of(this.keys), sessions: of(this.logins) };
  }

  #detail(kept: Kept): { user: Person; sessions: Login[]; keys: ProgramKey[]; passkeys: Passkey[] } {
    const own = <T extends { user: string }>(list: readonly T[]) => list.filter(({ user }) => user === kept.person.id);
    return { user: this.#seen(kept), sessions: own(this.logins).map(({ cookie: _, ...login }) => login), keys: own(this.keys).map(({ secret: _, ...key }) => key), passkeys: kept.passkeys };
  }

  #end(kept: Kept, kind: string, id: string): undefined {
    const drop = <T extends { id: string }>(list: T[]) => void list.splice(0, list.length, ...list.filter((one) => one.id !== id));
    if (kind === 'sessions') drop(this.logins);
    else if (kind === 'keys') drop(this.keys);
    else drop(kept.passkeys);
    return undefined;
  }

  #endOthers(kept: Kept, who: Who): undefined {
    this.logins.splice(0, this.logins.length, ...this.logins.filter(({ user, cookie }) => user !== kept.person.id || cookie === who.cookie));
    return undefined;
  }

  #forget({ person }: Kept): void {
    this.logins.splice(0, this.logins.length, ...this.logins.filter(({ user }) => user !== person.id));
    this.keys.splice(0, this.keys.length, ...this.keys.filter(({ user }) => user !== person.id));
  }
}

interface Who {
  kept: Kept | null;
  way: Session['way'];
  rights: readonly Right[];
  cookie: string;
}

function setPassword(kept: Kept, password: string): void {
  if ([...password].length < 12) throw wrong('password', 'must have at least 12 characters');
  if (/^(.)\1+$/.test(password)) throw new Refusal(422, { detail: 'validation failed', errors: [{ location: 'body.password', message: 'is too simple' }], reason: { code: 'simple', en: 'This password is too easy to guess.', ar: 'كلمة المرور هذه سهلة التخمين.' } });
  kept.password = password;
  kept.person.password = true;
}

/** What a route of the studio takes. */
function rightFor(method: string, path: string): Right {
  const of = path.replace('/api/', '');
  if (/^station\/(alarms|webhooks|import)/.test(of)) return 'own';
  if (/^station\/library\/(audio|intake\/\w+\/ticket)/.test(of) || (method === 'GET' && /^station\/library\/(deeds|peaks|archived|quarantine|export|intake)/.test(of))) return 'inside';
  if (/^station\/(telemetry|live\/recordings)/.test(of) || (method === 'GET' && /^station\/requests/.test(of))) return 'inside';
  if (/^(station\/requests|requests)/.test(of)) return 'requests';
  if (/^(station\/chat|social)/.test(of)) return 'moderate';
  if (/^station\/(log|live\/publishers)/.test(of)) return 'programme';
  if (method === 'GET' || of === 'station/queue/check') return 'look';
  return /^(station\/(skip|play|queue|rotation|live|carts\/)|channels)/.test(of) ? 'air' : 'programme';
}

function refuse(response: ServerResponse, { status, body, headers }: Refusal): void {
  response.writeHead(status, { 'content-type': 'application/problem+json', ...headers }).end(JSON.stringify({ title: 'Problem', status, ...body }));
}

function codesOf(id: string): string[] {
  return Array.from({ length: 10 }, (_, i) => `${id}${i}kd-9f3${i}-x7q${i}`);
}

/** Something like a QR code: three eyes and noise. */
function pattern(): string[] {
  const eye = (x: number, y: number) => x >= 0 && y >= 0 && x < 7 && y < 7 && (x === 0 || y === 0 || x === 6 || y === 6 || (x > 1 && x < 5 && y > 1 && y < 5));
  const inEye = (x: number, y: number) => x >= 0 && y >= 0 && x < 8 && y < 8;
  return Array.from({ length: 33 }, (_, y) => Array.from({ length: 33 }, (_, x) => {
    for (const [ox, oy] of [[0, 0], [26, 0], [0, 26]] as const) if (inEye(x - ox, y - oy) || inEye(x - ox + 1, y - oy + 1)) return eye(x - ox, y - oy) ? '1' : '0';
    return (x * 7 + y * 13 + ((x * y) % 5)) % 3 === 0 ? '1' : '0';
  }).join(''));
}
