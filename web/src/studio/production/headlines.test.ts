import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Door } from '../door.svelte';
import type { Toasts } from '../toasts.svelte';
import { Headlines } from './headlines.svelte';

vi.mock('../../i18n/tongue.svelte', () => ({ tongue: { language: 'en' } })); // the real one reads the browser's languages

type File = { headlines: string[]; version: string; cut: boolean };

let file: File;
let answers: boolean;
let puts: unknown[];
let box: Headlines;

beforeEach(() => {
  file = { headlines: ['one', 'two'], version: 'v1', cut: false };
  answers = true;
  puts = [];
  box = new Headlines(new Door(), { say: () => undefined } as unknown as Toasts);
  vi.stubGlobal('fetch', (_path: string, init: RequestInit) => {
    if (!answers) return Promise.reject(new TypeError('network'));
    if (init.method === 'PUT') {
      const sent = JSON.parse(String(init.body)) as File;
      puts.push(sent);
      if (sent.version !== file.version) return Promise.resolve(Response.json({ detail: 'headlines.txt has changed' }, { status: 409 }));
      file = { headlines: sent.headlines, version: `${sent.version}+`, cut: false };
    }
    return Promise.resolve(Response.json(file));
  });
});

afterEach(() => vi.unstubAllGlobals());

describe('the headlines box', () => {
  it('saves the lines it was shown with their version, and goes on from what came back', async () => {
    await box.load();
    box.draft = 'one\n  two, changed \n\n';
    expect(await box.save()).toBe(true);
    expect(puts).toEqual([{ headlines: ['one', 'two, changed'], version: 'v1' }]);
    expect([box.text, box.changed]).toEqual(['one\ntwo, changed', false]);
    box.draft = 'three';
    expect(await box.save()).toBe(true);
    expect(puts.at(-1)).toEqual({ headlines: ['three'], version: 'v1+' });
  });

  it('saves nothing before the lines are loaded', async () => {
    answers = false;
    await box.load();
    expect([box.phase, box.editable]).toEqual(['failed', false]);
    answers = true;
    box.draft = 'mine';
    expect(await box.save()).toBe(false);
    expect(puts).toEqual([]);
    await box.reload();
    expect([box.phase, box.editable, box.text]).toEqual(['ready', true, 'one\ntwo']);
  });

  it('says why the station did not give them', async () => {
    await box.load();
    expect(box.why).toBe('');
    const other = new Headlines(new Door(), { say: () => undefined } as unknown as Toasts);
    vi.stubGlobal('fetch', () => Promise.resolve(Response.json({ detail: 'headlines.txt: permission denied' }, { status: 500 })));
    await other.load();
    expect([other.phase, other.why]).toEqual(['failed', 'headlines.txt: permission denied']);
    await box.load(); // what was shown stays
    expect([box.phase, box.text]).toEqual(['ready', 'one\ntwo']);
  });

  it('saves nothing over a file that holds more than is shown', async () => {
    file.cut = true;
    await box.load();
    box.draft = 'one';
    expect([box.editable, await box.save(), puts]).toEqual([false, false, []]);
  });

  it('keeps the draft over lines that were changed elsewhere, until it is given up', async () => {
    await box.load();
    box.draft = 'mine';
    file = { headlines: ['one', 'two', 'theirs'], version: 'v2', cut: false };
    expect(await box.save()).toBe(false);
    expect([box.moved, box.savable, box.text]).toEqual([true, false, 'mine']);
    expect(await box.save()).toBe(false);
    expect(puts).toHaveLength(1);
    await box.reload();
    expect([box.moved, box.text]).toEqual([false, 'one\ntwo\ntheirs']);
  });

  it('does not take the version of lines that the draft was not begun over', async () => {
    await box.load();
    box.draft = 'mine';
    file = { headlines: ['theirs'], version: 'v2', cut: false };
    await box.load(); // the section was left and opened again
    expect([box.moved, await box.save(), puts]).toEqual([true, false, []]);
  });

  it('knows its own lines where the answer to saving them was lost', async () => {
    await box.load();
    box.draft = 'mine';
    file = { headlines: ['mine'], version: 'v2', cut: false };
    expect(await box.save()).toBe(false); // the second order comes too late
    expect([box.moved, box.changed, box.text]).toEqual([false, false, 'mine']);
  });
});
