import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Door } from '../door.svelte';
import type { Toasts } from '../toasts.svelte';
import type { Job, JobState } from './answers';
import { Rehearsal } from './rehearsal.svelte';

vi.mock('../../i18n/tongue.svelte', () => ({ tongue: { language: 'en' } }));

const at = '/api/station/bulletin/preview/audio';

/** A station that speaks, and a browser that plays. */
let sent: string[];
let state: JobState;
let result: unknown;
let lost: boolean;
let orders: ((answer: Response) => void)[] | null;
let sounds: Sound[];
let plays: boolean;
let rehearsal: Rehearsal;

class Sound extends EventTarget {
  currentTime = 0;
  paused = true;
  constructor(readonly src: string) {
    super();
    sounds.push(this);
  }
  play(): Promise<void> {
    if (!plays) return Promise.reject(new DOMException('not allowed', 'NotAllowedError'));
    this.paused = false;
    return Promise.resolve();
  }
  pause(): void {
    this.paused = true;
  }
}

const job = (): Partial<Job> => ({ id: 'j1', kind: 'rehearsal', state, result });
const done = () => {
  state = 'done';
  result = { id: 'r1', until: Date.now() + 900_000, durationMs: 35_000, sentences: [], missing: [] };
};
const goOn = (ms = 0) => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  vi.useFakeTimers();
  [sent, sounds, state, result, lost, orders, plays] = [[], [], 'running', undefined, false, null, true];
  vi.stubGlobal('Audio', Sound);
  vi.stubGlobal('fetch', (path: string, init: RequestInit) => {
    if (path === '/api/session') return Promise.resolve(Response.json({ rights: [], way: '', open: true }));
    sent.push(`${init.method} ${path}`);
    if (lost) return Promise.reject(new TypeError('network'));
    if (path === at && orders) return new Promise<Response>((answer) => orders?.push(answer));
    if (path === at) return Promise.resolve(Response.json(job(), { status: 202 }));
    if (path.endsWith('/ticket')) return Promise.resolve(Response.json({ path: '/api/bulletin/preview/audio?ticket=t', until: 0 }));
    return Promise.resolve(Response.json(job()));
  });
  rehearsal = new Rehearsal(new Door(), { say: () => 0 } as unknown as Toasts);
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('listening to a bulletin', () => {
  it('has it spoken, shows how far that is, and plays it', async () => {
    void rehearsal.press(['one']);
    await goOn();
    expect([rehearsal.stage, rehearsal.job?.id]).toEqual(['making', 'j1']);
    lost = true; // for a moment
    await goOn(500);
    lost = false;
    expect(rehearsal.stage).toBe('making');
    done();
    await goOn(500);
    expect([rehearsal.stage, rehearsal.job, rehearsal.made?.id, sounds[0]?.src, sounds[0]?.paused]).toEqual(['playing', null, 'r1', '/api/bulletin/preview/audio?ticket=t', false]);
    sounds[0]?.dispatchEvent(new Event('ended'));
    expect(rehearsal.stage).toBe('idle');
  });

  it('plays again without another job while nothing that is read has changed and it is kept', async () => {
    done();
    await Promise.all([rehearsal.press(['one', 'two', 'three', 'waits']), goOn()]);
    await rehearsal.press([]); // stops
    sent = [];
    await rehearsal.press(['one', 'two', 'three', 'waits, changed']);
    expect([sent, rehearsal.stage, sounds.length]).toEqual([[], 'playing', 1]);
    await rehearsal.press([]);
    await Promise.all([rehearsal.press(['other']), goOn()]);
    expect(sent[0]).toBe(`POST ${at}`);
    await rehearsal.press([]);
    await goOn(900_000);
    sent = [];
    done();
    await Promise.all([rehearsal.press(['other']), goOn()]);
    expect(sent[0]).toBe(`POST ${at}`);
  });

  it('ends the job when it is stopped, also one whose answer has not come yet', async () => {
    void rehearsal.press(['one']);
    await goOn();
    await rehearsal.press(['one']);
    expect([rehearsal.stage, sent.at(-1)]).toEqual(['idle', 'POST /api/jobs/j1/cancel']);
    await goOn(5000);
    expect(sent.filter((one) => one.endsWith('/cancel'))).toHaveLength(1);
    orders = [];
    void rehearsal.press(['one']);
    await goOn();
    await rehearsal.press(['one']);
    expect(rehearsal.stage).toBe('idle');
    orders[0]?.(Response.json(job(), { status: 202 }));
    await goOn();
    expect(sent.filter((one) => one.endsWith('/cancel'))).toHaveLength(2);
    expect([rehearsal.stage, sounds.length]).toEqual(['idle', 0]);
  });

  it('says why nothing can be heard, in the words of the station', async () => {
    const reason = { code: 'unspoken', en: 'No voice could speak.', ar: 'لم ينطق أي صوت.', detail: 'espeak-ng: exit code 1' };
    [state, result] = ['failed', { id: '', reason }];
    await Promise.all([rehearsal.press(['one']), goOn()]);
    expect([rehearsal.stage, rehearsal.unheard?.reason?.ar, rehearsal.unheard?.detail]).toEqual(['failed', 'لم ينطق أي صوت.', 'espeak-ng: exit code 1']);
    [state, result] = ['cancelled', undefined]; // by somebody else
    await Promise.all([rehearsal.press(['one']), goOn()]);
    expect([rehearsal.stage, rehearsal.unheard]).toEqual(['idle', null]);
    lost = true;
    await Promise.all([rehearsal.press(['one']), goOn()]);
    expect([rehearsal.stage, rehearsal.unheard?.refused?.status]).toEqual(['failed', 0]);
  });

  it('waits for a press where the browser wants one, and has it spoken again where the sound is gone', async () => {
    done();
    plays = false;
    await Promise.all([rehearsal.press(['one']), goOn()]);
    expect(rehearsal.stage).toBe('waiting');
    plays = true;
    sent = [];
    await rehearsal.press(['one']);
    expect([sent, rehearsal.stage]).toEqual([[], 'playing']);
    sounds[0]?.dispatchEvent(new Event('error'));
    expect([rehearsal.stage, rehearsal.made]).toEqual(['failed', null]);
    await Promise.all([rehearsal.press(['one']), goOn()]);
    expect([sent[0], rehearsal.stage]).toEqual([`POST ${at}`, 'playing']);
  });
});
