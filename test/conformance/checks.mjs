// What the real client must be able to do with our server, one check after
// another. It runs in Node and in a browser; `env` says where, and how to reach
// the server: {url, transport: 'polling' | 'websocket' | 'upgrade', browser,
// control(command)}. Answers [{name, error?}].
import { io, Manager } from 'socket.io-client';

const transports = { polling: ['polling'], websocket: ['websocket'], upgrade: ['polling', 'websocket'] };
// Far beyond what any check takes on a machine with many times more work than
// processors: only what would never come reaches it.
const patience = 120_000;

export async function run(env) {
  const results = [];
  const attempt = async ({ name, only, f }) => {
    if (only && !only(env) || env.filter && !name.includes(env.filter)) return;
    const t = new Test(env);
    let timer;
    const late = new Promise((_, no) => { timer = setTimeout(() => no(new Error(`not done after ${patience} ms`)), patience); });
    try {
      await Promise.race([f(t), late]);
      results.push({ name });
    } catch (error) {
      results.push({ name, error: String(error?.stack ?? error) });
    } finally {
      clearTimeout(timer);
      t.close();
    }
  };
  // Those that disturb the server come alone, after the others. A browser has
  // but six connections to a server, and every poll holds one.
  const width = env.browser ? 1 : 8;
  for (let i = 0; i < together.length; i += width) await Promise.all(together.slice(i, i + width).map(attempt));
  for (const check of alone) await attempt(check);
  return results;
}

class Test {
  constructor(env) { this.env = env; this.sockets = []; }

  open(nsp = '/', opts = {}) {
    const s = io(this.env.url + nsp, { transports: transports[this.env.transport], forceNew: true, reconnectionDelay: 50, reconnectionDelayMax: 200, ...opts });
    this.sockets.push(s);
    return s;
  }
  async connect(nsp, opts) {
    const s = this.open(nsp, opts);
    await once(s, 'connect');
    return s;
  }
  // In upgrade mode: not before the WebSocket carries it.
  async settled(nsp, opts) {
    const s = await this.connect(nsp, opts);
    await this.upgraded(s);
    return s;
  }
  // A connection that breaks on its way up is made anew, with another engine.
  async upgraded(s) {
    await until(() => s.connected && (this.env.transport !== 'upgrade' || s.io.engine.transport.name === 'websocket'), 'a connection that is all the way up');
  }
  // Breaks every connection until the client has noticed: between two polls
  // there is nothing to break.
  async breaks(s) {
    let noticed = false;
    const gone = once(s, 'disconnect').then(() => { noticed = true; });
    while (!noticed) {
      await this.env.control('break');
      await Promise.race([gone, sleep(200)]);
    }
  }
  close() { for (const s of this.sockets) s.disconnect(); }
}

const once = (s, event) => new Promise((ok, no) => {
  s.once(event, (...args) => ok(args));
  if (event === 'connect') s.once('connect_error', (e) => no(new Error(`connect_error: ${e.message}`)));
});
const sleep = (ms) => new Promise((ok) => setTimeout(ok, ms));
const show = (v) => JSON.stringify(v, (_, x) => (x instanceof Uint8Array ? { bytes: [...x.slice(0, 40)], of: x.length } : x));
function same(got, want, what = '') {
  if (show(plain(got)) !== show(plain(want))) throw new Error(`${what} got ${show(plain(got))?.slice(0, 300)}, want ${show(plain(want))?.slice(0, 300)}`);
}
// Binary comes as Buffer in Node and as ArrayBuffer in a browser.
function plain(v) {
  if (v instanceof ArrayBuffer) return new Uint8Array(v);
  if (ArrayBuffer.isView(v)) return new Uint8Array(v.buffer, v.byteOffset, v.byteLength);
  if (Array.isArray(v)) return v.map(plain);
  if (v && typeof v === 'object' && !(v instanceof Date)) return Object.fromEntries(Object.entries(v).map(([k, x]) => [k, plain(x)]));
  return v;
}
const bytes = (n, seed = 1) => Uint8Array.from({ length: n }, (_, i) => (i * 31 + seed) & 255);
async function until(f, what) {
  for (const end = Date.now() + patience; Date.now() < end; await sleep(25)) if (await f()) return;
  throw new Error(`never: ${what}`);
}

const together = [], alone = [];
const check = (name, f, only) => together.push({ name, f, only });
const checkAlone = (name, f, only) => alone.push({ name, f, only });

check('connects by the transport asked for, and is told its id', async (t) => {
  const s = await t.settled();
  same(s.io.engine.transport.name, t.env.transport === 'polling' ? 'polling' : 'websocket');
  same(await s.emitWithAck('whoami'), s.id);
  same(Boolean(s.recovered), false);
});
check('the session id is not the socket id', async (t) => {
  const s = await t.connect();
  if (s.id === s.io.engine.id) throw new Error('they are equal');
});
check('values of every kind come back as they were', async (t) => {
  const s = await t.connect();
  const values = ['', 'أثير 📻', '\u2028"\\\n\u0000', 0, -1.5, 1e21, true, false, null, [], {}, [[{ a: [1, { ب: 'ج' }] }]], { '': 'leer' }];
  same(await s.emitWithAck('ack-echo', ...values), values);
});
check('an event comes back as an event', async (t) => {
  const s = await t.connect();
  const back = once(s, 'message-back');
  s.emit('message', 1, '2', { 3: [true] });
  same(await back, [1, '2', { 3: [true] }]);
});
check('an event without arguments', async (t) => {
  const s = await t.connect();
  const back = once(s, 'message-back');
  s.emit('message');
  same(await back, []);
});
check('event names of any characters', async (t) => {
  const s = await t.connect();
  for (const name of ['a,b', '/x,', '12[', '["x"]', 'حدث', '"', '\u0001', '_placeholder']) {
    same(await s.emitWithAck(name, 7), [name, 7], name);
  }
});
check('an acknowledgement calls back once, though the server gives it twice', async (t) => {
  const s = await t.connect();
  let n = 0;
  s.emit('ack-twice', () => n++);
  await s.emitWithAck('whoami');
  same(n, 1);
});
check('acknowledgements may come out of order', async (t) => {
  const s = await t.connect();
  const order = [];
  const noted = (x) => order.push(x);
  await Promise.all([s.emitWithAck('ack-after-next', 'first').then(noted), s.emitWithAck('ack-before-last', 'second').then(noted)]);
  same(order, ['second', 'first']);
});
check('an acknowledgement that never comes times out', async (t) => {
  const s = await t.connect();
  const error = await s.timeout(150).emitWithAck('ack-never').catch((e) => e);
  same(error.message, 'operation has timed out');
});
check('the server asks and is answered', async (t) => {
  const s = await t.connect();
  s.on('question', (a, b, answer) => answer(a + b, { and: 'more' }));
  same(await s.emitWithAck('ask-me', 'question', 40, 2), { args: [42, { and: 'more' }] });
});
check('the server asks, is not answered, and goes on', async (t) => {
  const s = await t.connect();
  s.on('question', () => {});
  same(await s.emitWithAck('ask-me-briefly', 'question'), { error: 'context deadline exceeded' });
});
check('binary goes there and back as an argument', async (t) => {
  const s = await t.connect();
  const back = once(s, 'message-back');
  s.emit('message', bytes(5), 'text', bytes(3, 9));
  same(await back, [bytes(5), 'text', bytes(3, 9)]);
});
check('binary within objects, with an acknowledgement', async (t) => {
  const s = await t.connect();
  same(await s.emitWithAck('deep-binary', { file: { name: 'a', data: bytes(100) }, list: [bytes(1)] }), { file: { name: 'a', data: bytes(100) }, list: [bytes(1)] });
});
check('an empty piece of binary', async (t) => {
  const s = await t.connect();
  same(await s.emitWithAck('ack-echo', bytes(0), 1), [bytes(0), 1]);
});
check('ten attachments keep their order', async (t) => {
  const s = await t.connect();
  const pieces = Array.from({ length: 10 }, (_, i) => bytes(i * 7 + 1, i));
  same(await s.emitWithAck('ack-echo', ...pieces), pieces);
});
check('the server asks with binary and is answered with binary', async (t) => {
  const s = await t.connect();
  s.on('question', (data, answer) => answer({ got: plain(data).length, back: data }));
  const { attachments } = await s.emitWithAck('ask-me', 'question', bytes(64));
  same(attachments, 1);
});
check('eleven attachments cost the connection', async (t) => {
  const s = await t.settled('/', { reconnection: false });
  const gone = once(s, 'disconnect');
  s.emit('message', ...Array.from({ length: 11 }, () => bytes(1)));
  await gone;
});
check('900 KB of text', async (t) => {
  const s = await t.connect();
  const text = 'ش'.repeat(450_000);
  const [back] = await s.emitWithAck('ack-echo', text);
  same([back.length, back === text], [450_000, true]);
});
check('650 KB of binary', async (t) => { // 900 KB as polling sends it
  const s = await t.connect();
  const [back] = await s.emitWithAck('ack-echo', bytes(650_000));
  same([plain(back).length, show(plain(back).slice(-40))], [650_000, show(bytes(650_000).slice(-40))]);
});
check('more than maxPayload costs the connection', async (t) => {
  const s = await t.settled('/', { reconnection: false });
  const gone = once(s, 'disconnect');
  s.emit('message', 'x'.repeat(1_100_000));
  const [reason] = await gone;
  if (!['transport close', 'transport error'].includes(reason)) throw new Error(reason);
});
check('500 events arrive in order', async (t) => {
  const s = await t.connect();
  for (let i = 0; i < 500; i++) s.emit('note', i);
  same(await s.emitWithAck('noted'), Array.from({ length: 500 }, (_, i) => i));
});
check('500 events from the server arrive in order', async (t) => {
  const s = await t.connect();
  const got = [];
  s.on('count', (i) => got.push(i));
  await s.emitWithAck('count-to', 500);
  await until(() => got.length >= 500, '500 events');
  same(got, Array.from({ length: 500 }, (_, i) => i));
});
check('what is emitted before the connection arrives after it, in order', async (t) => {
  const s = t.open();
  for (let i = 0; i < 20; i++) s.emit('note', i);
  same(await s.emitWithAck('noted'), Array.from({ length: 20 }, (_, i) => i));
});
check('volatile events arrive when connected, and are dropped when not', async (t) => {
  const s = t.open();
  for (let i = 0; i < 5; i++) s.volatile.emit('note', 'early');
  await once(s, 'connect');
  await s.emitWithAck('whoami');
  await until(async () => { s.volatile.emit('note', 'late'); return (await s.emitWithAck('noted')).includes('late'); }, 'a volatile event');
  const notes = await s.emitWithAck('noted');
  same([notes.includes('early'), notes.includes('late')], [false, true]);
});
check('what OnConnect emits comes after connect, in order, and before what comes later', async (t) => {
  const s = t.open('/greets');
  const got = [];
  s.on('connect', () => got.push('connect'));
  s.onAny((event) => got.push(event));
  await until(() => got.length >= 4, 'three greetings');
  same(got, ['connect', 'one', 'two', 'room']);
});
check('the auth payload, as an object', async (t) => {
  const s = await t.connect('/', { auth: { token: 'مفتاح', n: [1] } });
  same((await s.emitWithAck('handshake')).auth, { token: 'مفتاح', n: [1] });
});
check('the auth payload, as a function', async (t) => {
  const s = await t.connect('/', { auth: (cb) => cb({ token: 'later' }) });
  same((await s.emitWithAck('handshake')).auth, { token: 'later' });
});
check('no auth payload', async (t) => {
  const s = await t.connect();
  same((await s.emitWithAck('handshake')).auth, null);
});
check('the query reaches the handshake', async (t) => {
  const s = await t.connect('/', { query: { from: 'here & there' } });
  same(new URLSearchParams((await s.emitWithAck('handshake')).query).get('from'), 'here & there');
});
check('headers reach the handshake', async (t) => {
  const s = await t.connect('/', { extraHeaders: { 'x-from': 'node' } });
  same((await s.emitWithAck('handshake')).from, 'node');
}, (env) => !env.browser);
check('a refusal has its message and data', async (t) => {
  const s = t.open('/private', { auth: { key: 'wrong' }, reconnection: false });
  const [error] = await once(s, 'connect_error');
  same([error.message, error.data, s.connected, s.active], ['not with this key', { code: 7 }, false, false]);
});
check('after a refusal the right key is let in', async (t) => {
  const s = t.open('/private', { auth: { key: 'wrong' } });
  await once(s, 'connect_error');
  s.auth = { key: 'right' };
  s.connect();
  await once(s, 'connect');
});
check('an unexpected error in OnConnect is not told to strangers', async (t) => {
  const s = t.open('/private', { auth: { key: 'oops' } });
  const [error] = await once(s, 'connect_error');
  same(error.message, 'connection refused');
});
check('an unknown namespace', async (t) => {
  const [error] = await once(t.open('/nowhere'), 'connect_error');
  same(error.message, 'Invalid namespace');
});
check('namespaces share a connection and not their events', async (t) => {
  const m = new Manager(t.env.url, { transports: transports[t.env.transport] });
  const a = m.socket('/'), b = m.socket('/custom');
  t.sockets.push(a, b);
  await Promise.all([once(a, 'connect'), once(b, 'connect')]);
  const wrong = [];
  a.on('message-back', () => wrong.push('a'));
  const back = once(b, 'message-back');
  b.emit('message', 'to custom');
  same(await back, ['to custom']);
  same([await a.emitWithAck('whoami') === a.id, await b.emitWithAck('whoami') === b.id, a.id === b.id, wrong], [true, true, false, []]);
});
check('one namespace is left and the other stays', async (t) => {
  const m = new Manager(t.env.url, { transports: transports[t.env.transport] });
  const a = m.socket('/'), b = m.socket('/custom');
  t.sockets.push(a, b);
  await Promise.all([once(a, 'connect'), once(b, 'connect')]);
  b.disconnect();
  same(await a.emitWithAck('whoami'), a.id);
  b.connect();
  await once(b, 'connect');
  same(await b.emitWithAck('whoami'), b.id);
});
check('rooms: members hear, others do not, and who leaves no longer', async (t) => {
  const room = `room-${Math.random()}`;
  const [a, b, c] = await Promise.all([t.connect(), t.connect(), t.connect()]);
  const got = { a: [], b: [], c: [] };
  for (const [k, s] of Object.entries({ a, b, c })) s.on('said', (x) => got[k].push(x));
  await a.emitWithAck('join', room);
  await b.emitWithAck('join', room);
  await c.emitWithAck('say-in', [room], 1);
  await until(() => got.a.length && got.b.length, 'both hear');
  await b.emitWithAck('leave', room);
  await c.emitWithAck('say-in', [room], 2);
  await until(() => got.a.length === 2, 'one hears');
  await b.emitWithAck('whoami');
  same(got, { a: [1, 2], b: [1], c: [] });
});
check('who is in two of the rooms hears once', async (t) => {
  const room = `room-${Math.random()}`;
  const [a, b] = await Promise.all([t.connect(), t.connect()]);
  const got = [];
  a.on('said', (x) => got.push(x));
  await a.emitWithAck('join', room);
  await a.emitWithAck('join', room + '2');
  await b.emitWithAck('say-in', [room, room + '2', a.id], 'once');
  await b.emitWithAck('say-in', [room], 'end');
  await until(() => got.includes('end'), 'the end');
  same(got, ['once', 'end']);
});
check('an id is a room; except leaves out', async (t) => {
  const room = `room-${Math.random()}`;
  const [a, b] = await Promise.all([t.connect(), t.connect()]);
  const got = { a: [], b: [] };
  a.on('said', (x) => got.a.push(x));
  b.on('said', (x) => got.b.push(x));
  await a.emitWithAck('join', room);
  await b.emitWithAck('join', room);
  await b.emitWithAck('say-in', [a.id], 'private');
  await b.emitWithAck('say-except', room, a.id, 'not a');
  await b.emitWithAck('say-in', [room], 'end');
  await until(() => got.a.includes('end') && got.b.includes('end'), 'the end');
  same(got, { a: ['private', 'end'], b: ['not a', 'end'] });
});
check('a broadcast of a socket reaches all but itself', async (t) => {
  const room = `room-${Math.random()}`;
  const [a, b] = await Promise.all([t.connect(), t.connect()]);
  const got = { a: [], b: [] };
  a.on('said', (x) => got.a.push(x));
  b.on('said', (x) => got.b.push(x));
  await a.emitWithAck('join', room);
  await b.emitWithAck('join', room);
  await a.emitWithAck('say-to-others', room, 'x', bytes(8));
  await until(() => got.b.length, 'b hears');
  await a.emitWithAck('whoami');
  same(got, { a: [], b: ['x'] });
});
check('forty clients hear one broadcast with binary', async (t) => {
  const room = `room-${Math.random()}`;
  const all = await Promise.all(Array.from({ length: 40 }, () => t.connect()));
  const heard = all.map((s) => once(s, 'said'));
  await Promise.all(all.map((s) => s.emitWithAck('join', room)));
  await all[0].emitWithAck('say-in', [room], { x: 'ج' }, bytes(300));
  for (const h of heard) same(await h, [{ x: 'ج' }, bytes(300)]);
}, (env) => !env.browser);
check('put out of the namespace: the client does not come back by itself', async (t) => {
  const s = await t.settled();
  const gone = once(s, 'disconnect');
  s.emit('put-me-out', false);
  same((await gone)[0], 'io server disconnect');
  await sleep(300);
  same(s.connected, false);
});
check('the connection ended: what was sent before still arrives', async (t) => {
  const s = await t.settled('/', { reconnection: false });
  const last = once(s, 'farewell'), gone = once(s, 'disconnect');
  s.emit('put-me-out', true);
  same(await last, ['bye']);
  same((await gone)[0], 'io server disconnect');
});
check('the server hears why: the client left', async (t) => {
  const s = await t.settled();
  const id = s.id;
  s.disconnect();
  await until(async () => (await t.env.control(`reason?id=${id}`)) === 'client namespace disconnect', 'the reason');
});
check('the server hears why: the connection was closed', async (t) => {
  const s = await t.settled('/', { reconnection: false });
  const id = s.id;
  s.io.engine.close();
  await until(async () => (await t.env.control(`reason?id=${id}`)) === 'transport close', 'the reason');
});
check('a handler that panics costs nobody the connection', async (t) => {
  const s = await t.connect();
  s.emit('panic');
  same(await s.emitWithAck('whoami'), s.id);
});
check('heartbeats keep a silent connection', async (t) => {
  const s = await t.connect('/', { reconnection: false });
  let pings = 0;
  s.io.on('ping', () => pings++);
  await until(() => pings >= 3, 'three heartbeats');
  same(s.connected, true);
});
check('retries: sent again until acknowledged, in order', async (t) => {
  // An acknowledgement that comes after its time-out is one more try.
  const s = await t.connect('/', { retries: 50, ackTimeout: 1000 });
  same(await Promise.all([1, 2].map((i) => s.emitWithAck('ack-third', i))), [1, 2]);
});
check('events both ways while the connection goes up: none lost, none twice', async (t) => {
  const s = t.open();
  const got = [];
  s.on('count', (i) => got.push(i));
  await once(s, 'connect');
  s.emit('count-slowly', 300);
  for (let i = 0; i < 300; i++) { s.emit('note', i); if (i % 3 === 0) await sleep(1); }
  const notes = await s.emitWithAck('noted');
  await until(() => got.length >= 300, 'all of the server');
  const want = Array.from({ length: 300 }, (_, i) => i);
  same(notes, want, 'client to server:');
  same(got, want, 'server to client:');
  await t.upgraded(s); // the probe may have been late
  same(s.io.engine.transport.name, t.env.transport === 'polling' ? 'polling' : 'websocket');
});
check('a client of another origin is let in or kept out', async (t) => {
  const ask = (origin, method = 'GET') => fetch(`${t.env.url}/socket.io/?EIO=4&transport=polling`, { method, headers: { origin, 'access-control-request-headers': 'x-from' } });
  const yes = await ask('https://friend.example'), no = await ask('https://stranger.example'), before = await ask('https://friend.example', 'OPTIONS');
  same([yes.status, yes.headers.get('access-control-allow-origin'), yes.headers.get('access-control-allow-credentials')], [200, 'https://friend.example', 'true']);
  same([no.status, no.headers.get('access-control-allow-origin')], [403, null]);
  same([before.status, before.headers.get('access-control-allow-headers')], [204, 'x-from']);
}, (env) => !env.browser);

checkAlone('after a restart of the server the client is back, new, and what it emitted meanwhile arrives once', async (t) => {
  const s = await t.settled();
  const before = s.id;
  const gone = once(s, 'disconnect');
  await t.env.control('stop');
  same((await gone)[0], 'transport close');
  for (let i = 0; i < 10; i++) s.emit('note', i);
  const back = new Promise((ok) => s.once('connect', ok));
  await t.env.control('start');
  await back;
  same(await s.emitWithAck('noted'), Array.from({ length: 10 }, (_, i) => i));
  same([s.id === before, Boolean(s.recovered)], [false, false]);
});
checkAlone('connections that break are made anew', async (t) => {
  const s = await t.settled();
  for (let i = 0; i < 3; i++) {
    await t.breaks(s);
    await t.upgraded(s);
  }
  // The last order to break may be carried out after the client is back.
  await until(() => s.timeout(5000).emitWithAck('whoami').then((id) => id === s.id, () => false), 'an answer after the last break');
});
checkAlone('what waits for an acknowledgement at a break is told', async (t) => {
  const s = await t.settled();
  const waiting = s.timeout(patience).emitWithAck('ack-never').catch((e) => e.message);
  await t.breaks(s);
  same(await waiting, 'socket has been disconnected');
});
checkAlone('a connection that breaks is recovered: the same id, everything once and in order, bytes included', async (t) => {
  const s = await t.settled('/kept');
  const id = s.id, got = [], recovered = [];
  s.on('noted', (n, data) => got.push(n % 2 ? [n, plain(data)] : n));
  s.on('connect', () => recovered.push([s.recovered, s.id === id]));
  await t.env.control('say');
  await until(() => got.length > 0, 'the first');
  const first = got[0][0] ?? got[0];
  for (let i = 0; i < 3; i++) {
    await t.breaks(s);
    for (let j = 0; j < 3; j++) await t.env.control('say');
    await t.upgraded(s);
    await t.env.control('say');
  }
  await until(() => got.length >= 13, 'all that was said');
  same(got, Array.from({ length: 13 }, (_, i) => ((n) => (n % 2 ? [n, new Uint8Array([n, 0, 255])] : n))(first + i)));
  same(recovered.length > 2 && recovered.every(([again, one]) => again && one), true);
});
checkAlone('a server that is replaced by another is the same to its clients', async (t) => {
  const s = await t.settled('/kept');
  const id = s.id, got = [];
  s.on('noted', (n) => got.push(n));
  await t.env.control('say');
  await until(() => got.length > 0, 'the first');
  for (let i = 0; i < 2; i++) {
    const gone = once(s, 'disconnect');
    await t.env.control('stop');
    await gone;
    await t.env.control('say');
    const back = new Promise((ok) => s.once('connect', ok));
    await t.env.control('start');
    await back;
    same([s.recovered, s.id === id], [true, true]);
    await t.env.control('say');
  }
  await until(() => got.length >= 5, 'all that was said');
  same(got, Array.from({ length: 5 }, (_, i) => got[0] + i));
});
checkAlone('who shows a pid that is none is new', async (t) => {
  const s = await t.settled('/kept', { auth: { pid: 'A'.repeat(27), offset: 'after 1' } });
  same([Boolean(s.recovered), s.connected], [false, true]);
});
