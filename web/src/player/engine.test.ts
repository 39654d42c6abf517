import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Engine } from './engine';

/** As much of an audio element as the engine needs, and what was loaded into it. */
class Element extends EventTarget {
  loaded: string[] = [];
  currentTime = 0;
  paused = true;
  set src(url: string) {
    this.loaded.push(url);
  }
  play(): Promise<void> {
    return Promise.resolve();
  }
  pause(): void {}
  load(): void {}
  removeAttribute(): void {}
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('loads Safari’s own HLS anew for another rendition, and for nothing else that the station tells', () => {
  const audio = new Element();
  const engine = new Engine(audio as unknown as HTMLAudioElement, () => undefined, () => 0);
  engine.load('native');
  engine.choose({ kbps: 0, renditions: [] });
  engine.choose({ kbps: 0, renditions: [256, 128, 64] });
  expect(audio.loaded).toHaveLength(1);
  engine.choose({ kbps: 64, renditions: [256, 128, 64] });
  engine.choose({ kbps: 64, renditions: [256, 128, 64] });
  expect(audio.loaded.slice(1)).toEqual(['/hls/main/index.m3u8?quality=64']);
  engine.unload();
});
