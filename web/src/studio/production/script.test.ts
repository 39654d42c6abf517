import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Door } from '../door.svelte';
import type { BulletinScript } from './answers';
import { pauseMs, quietMs, Script } from './script.svelte';

vi.mock('../../i18n/tongue.svelte', () => ({ tongue: { language: 'en' } }));

interface Asked {
  lines: string[];
  signal: AbortSignal;
  answer: (answer: Response) => void;
  lose: () => void;
}

let asked: Asked[];
let script: Script;

const saying = (text: string) => Response.json({ at: 1, text, sentences: [{ kind: 'headlines', text }], spares: [], missing: [], waiting: 0 } satisfies BulletinScript);
const goOn = (ms = 0) => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  vi.stubGlobal('fetch', (path: string, init: RequestInit) => {
    if (path !== '/api/station/bulletin/preview') return Promise.resolve(Response.json({ rights: [], way: '', open: true }));
    return new Promise<Response>((answer, refuse) => {
      asked.push({ lines: (JSON.parse(String(init.body)) as { headlines: string[] }).headlines, signal: init.signal as AbortSignal, answer, lose: () => refuse(new TypeError('network')) });
    });
  });
  script = new Script(new Door());
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('what the bulletin will say', () => {
  it('is asked for at once, then when typing pauses, and not for each letter', async () => {
    script.follow(['a'], '1');
    await goOn();
    expect(asked.map(({ lines }) => lines)).toEqual([['a']]);
    asked[0]?.answer(saying('a.'));
    await goOn();
    expect([script.phase, script.said?.text]).toEqual(['ready', 'a.']);
    for (const text of ['ab', 'abc', 'abcd']) {
      script.follow([text], '1');
      await goOn(pauseMs - 1);
    }
    expect(asked).toHaveLength(1);
    await goOn(1);
    expect(asked.map(({ lines }) => lines)).toEqual([['a'], ['abcd']]);
    expect(script.said?.text).toBe('a.'); // until the new one is there
  });

  it('never shows an older answer over a newer one', async () => {
    script.follow(['one'], '1');
    await goOn();
    script.follow(['two'], '1');
    await goOn(pauseMs);
    expect(asked).toHaveLength(2);
    expect(asked[0]?.signal.aborted).toBe(true);
    asked[1]?.answer(saying('two.'));
    await goOn();
    asked[0]?.answer(saying('one.'));
    await goOn();
    expect([script.said?.text, script.phase]).toEqual(['two.', 'ready']);
    // Nor one that comes while more is being typed.
    script.follow(['three'], '1');
    await goOn(pauseMs);
    script.follow(['three and'], '1');
    asked[2]?.answer(saying('three.'));
    await goOn();
    expect(script.said?.text).toBe('two.');
  });

  it('is asked for again when the minute or the newest bulletin is another, and not without a reason', async () => {
    script.follow(['one'], '1 a');
    await goOn();
    asked[0]?.answer(saying('one.'));
    await goOn();
    script.follow(['one'], '1 a');
    await goOn(pauseMs);
    expect(asked).toHaveLength(1);
    script.follow(['one'], '2 a');
    await goOn();
    expect(asked).toHaveLength(2);
    script.leave();
    asked[1]?.answer(saying('late.'));
    await goOn(60_000);
    expect([asked.length, script.said?.text]).toEqual([2, 'one.']);
  });

  it('names the headline that is refused, and forgets that once it is mended', async () => {
    script.follow(['one', '...'], '1');
    await goOn();
    asked[0]?.answer(Response.json({ detail: 'validation failed', errors: [{ location: 'body.headlines[1]', message: 'has no letter in it' }] }, { status: 422 }));
    await goOn();
    expect([script.phase, script.fault]).toEqual(['refused', { line: 1, message: 'has no letter in it' }]);
    script.follow(['one', 'two'], '1');
    await goOn(pauseMs);
    asked[1]?.answer(saying('one. two.'));
    await goOn();
    expect([script.phase, script.fault]).toEqual(['ready', null]);
  });

  it('keeps the last text where the station does not answer, and asks for no key by itself', async () => {
    script.follow(['one'], '1');
    await goOn();
    asked[0]?.answer(saying('one.'));
    await goOn();
    script.follow(['two'], '1');
    await goOn(pauseMs);
    asked[1]?.lose();
    await goOn();
    expect([script.phase, script.why, script.said?.text]).toEqual(['failed', '', 'one.']);
    void script.retry();
    await goOn();
    asked[2]?.answer(Response.json({ detail: 'send the station key' }, { status: 503 }));
    await goOn();
    expect([script.phase, script.why]).toEqual(['failed', 'send the station key']);
    script.follow(['three'], '1');
    await goOn(pauseMs);
    asked[3]?.answer(Response.json({ detail: 'send the station key' }, { status: 401 }));
    await goOn();
    expect(script.phase).toBe('locked');
  });

  it('tells a screen reader of a text that stands, once', async () => {
    script.follow(['one'], '1');
    await goOn();
    asked[0]?.answer(saying('one.'));
    await goOn(quietMs - 1);
    script.follow(['one more'], '1');
    await goOn(pauseMs);
    asked[1]?.answer(saying('one more.'));
    await goOn(quietMs - 1);
    expect(script.settled).toBe(0);
    await goOn(1);
    expect(script.settled).toBe(1);
    script.follow(['one more'], '2');
    await goOn();
    asked[2]?.answer(saying('one more.')); // the same text is no news
    await goOn(quietMs);
    expect(script.settled).toBe(1);
  });
});
