import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Session, type Setting } from './session';

/** What the page did, in order: requests by their method, and the end of the connection. */
let did: string[];
let connection: { connectionState: string; onconnectionstatechange: (() => void) | null };
/** Answers the DELETE. */
let answer: () => void;

beforeEach(() => {
  vi.useFakeTimers();
  did = [];
  class Connection {
    connectionState = 'new';
    iceGatheringState = 'complete';
    localDescription = { sdp: 'v=0\r\na=candidate:1\r\n' };
    onconnectionstatechange: (() => void) | null = null;
    constructor() {
      connection = this;
    }
    addTransceiver = () => ({ sender: { getParameters: () => ({ encodings: [] }), setParameters: async () => undefined } });
    createOffer = async () => this.localDescription;
    setLocalDescription = async () => undefined;
    setRemoteDescription = async () => undefined;
    getStats = async () => new Map();
    addEventListener = () => undefined;
    removeEventListener = () => undefined;
    close = () => void did.push('close');
  }
  vi.stubGlobal('RTCPeerConnection', Connection);
  vi.stubGlobal('MediaStream', class {});
  vi.stubGlobal('location', { href: 'http://radio.example/go-live' });
  vi.stubGlobal('fetch', (_: string, init: RequestInit = {}) => {
    const method = init.method ?? 'GET';
    did.push(method);
    if (method === 'DELETE') return new Promise<Response>((done) => (answer = () => done(new Response())));
    if (method === 'GET') return new Promise<Response>(() => undefined);
    const made = new Response('v=0\r\n', { status: 201, headers: { location: 'http://radio.example/whip/1', etag: '"1"' } });
    return Promise.resolve(Object.defineProperty(made, 'url', { value: 'http://radio.example/whip' }));
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

async function begun(stood: boolean): Promise<Session> {
  const none = () => undefined;
  const setting: Setting = { key: 'sara.secret', show: { title: '', name: '', push: false }, sound: 'voice', track: {} as MediaStreamTrack, servers: [], relayed: false, redundant: false, muted: false };
  const session = new Session(setting, { event: none, facts: none, quality: none });
  await session.begin();
  if (stood) {
    connection.connectionState = 'connected';
    connection.onconnectionstatechange?.();
  }
  did = [];
  return session;
}

describe('a session', () => {
  it('that is stopped says so before its connection is closed', async () => {
    (await begun(true)).end(true);
    await vi.advanceTimersByTimeAsync(500);
    expect(did).toEqual(['DELETE']);
    answer();
    await vi.advanceTimersByTimeAsync(0);
    expect(did).toEqual(['DELETE', 'close']);
  });

  it('is closed although nobody answers', async () => {
    (await begun(true)).end(true);
    await vi.advanceTimersByTimeAsync(1000);
    expect(did).toEqual(['DELETE', 'close']);
  });

  it('that another follows, or whose page goes, is not stopped: its place is kept', async () => {
    (await begun(true)).end(false);
    await vi.advanceTimersByTimeAsync(2000);
    expect(did).toEqual(['close']);
  });

  it('that never stood is taken back', async () => {
    (await begun(false)).end(false);
    expect(did).toEqual(['DELETE']);
  });
});
