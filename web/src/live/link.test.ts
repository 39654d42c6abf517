import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Link } from './link.svelte';

type Hear = (...args: unknown[]) => void;

/** The transport's library, with connections that the test makes and breaks. */
const sockets: FakeSocket[] = [];

class FakeSocket {
  connected = false;
  recovered = false;
  active = true;
  io = { on: (event: string, hear: Hear) => void this.#managed.set(event, hear), reconnectionDelayMax: () => undefined };
  any: Hear = () => undefined;
  readonly #managed = new Map<string, Hear>();
  readonly #ears = new Map<string, Hear>();

  on(event: string, hear: Hear): void {
    this.#ears.set(event, hear);
  }
  onAny(hear: Hear): void {
    this.any = hear;
  }
  connect(): void {}
  disconnect(): void {}

  meet(recovered = false): void {
    [this.connected, this.recovered] = [true, recovered];
    this.#ears.get('connect')?.();
  }
  break(): void {
    this.connected = false;
    this.#ears.get('disconnect')?.('transport close');
  }
  beat(): void {
    this.#managed.get('ping')?.();
  }
}

vi.mock('socket.io-client', () => ({
  io: () => {
    const socket = new FakeSocket();
    sockets.push(socket);
    return socket;
  },
}));

/** A link whose library has come, and when what is not told is asked for, ms since it was made. */
async function open(): Promise<{ link: Link; socket: FakeSocket; asked: number[] }> {
  const link = new Link();
  const asked: number[] = [];
  const since = Date.now();
  link.onAnew(() => asked.push(Date.now() - since));
  link.open();
  await vi.dynamicImportSettled();
  return { link, socket: sockets.at(-1) as FakeSocket, asked };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('thousands that come back at one moment ask at as many', async () => {
  const all: Awaited<ReturnType<typeof open>>[] = [];
  for (let i = 0; i < 500; i++) all.push(await open()); // one after another: each has its own socket
  for (const { socket } of all) socket.meet();
  expect(all.every(({ asked }) => asked.length === 1)).toBe(true); // the first time at once
  for (const { socket } of all) {
    socket.break();
    socket.meet();
  }
  expect(all.some(({ asked }) => asked.length > 1)).toBe(false);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(all.every(({ asked }) => asked.length === 2)).toBe(true);
  const seconds = all.map(({ asked }) => Math.floor((asked[1] as number) / 1000));
  const busiest = Math.max(...Array.from({ length: 30 }, (_, i) => seconds.filter((second) => second === i).length));
  expect(busiest).toBeLessThan(60); // 17 on average
});

test('a connection that is taken up where it broke asks for nothing; one that breaks again asks once', async () => {
  const { socket, asked } = await open();
  socket.meet();
  socket.break();
  socket.meet(true);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toHaveLength(1);
  for (let i = 0; i < 5; i++) {
    socket.break();
    socket.meet();
  }
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toHaveLength(2);
});

test('a server that finds the station again has everybody ask once, spread', async () => {
  const { socket, asked } = await open();
  socket.meet();
  socket.any('link', { up: false, since: 0 });
  socket.any('link', { up: true, since: 0 });
  expect(asked).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(asked).toHaveLength(2);
});

test('a connection is believed while heartbeats or events come', async () => {
  const { link, socket } = await open();
  expect(link.brings).toBe(false);
  socket.meet();
  for (let i = 0; i < 10; i++) {
    await vi.advanceTimersByTimeAsync(25_000);
    if (i % 2) socket.beat();
    else socket.any('stats_update', {});
    expect(link.brings).toBe(true);
  }
  await vi.advanceTimersByTimeAsync(61_000);
  expect(link.up && !link.brings).toBe(true);
});
