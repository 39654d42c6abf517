import type { Sound } from './sdp';

/** What this phone remembers of its presenter. */
export interface Settings {
  title: string;
  name: string;
  sound: Sound;
  /** Id of the microphone; empty: the device's own choice. */
  device: string;
  push: boolean;
}

const keyAt = 'athir.golive.key';
const settingsAt = 'athir.golive';

export function keptKey(): string {
  return read(keyAt) ?? '';
}

/** Keeps the key, or with an empty one forgets it. */
export function keepKey(key: string): void {
  write(keyAt, key || null);
}

export function keptSettings(): Settings {
  const fresh: Settings = { title: '', name: '', sound: 'voice', device: '', push: false };
  try {
    const kept = JSON.parse(read(settingsAt) ?? '{}') as Partial<Settings>;
    const text = (value: unknown, most: number): string => (typeof value === 'string' ? value.slice(0, most) : '');
    return { title: text(kept.title, 120), name: text(kept.name, 60), sound: kept.sound === 'music' ? 'music' : 'voice', device: text(kept.device, 200), push: kept.push === true };
  } catch {
    return fresh;
  }
}

export function keepSettings(settings: Settings): void {
  write(settingsAt, JSON.stringify(settings));
}

function read(at: string): string | null {
  try {
    return localStorage.getItem(at);
  } catch {
    return null;
  }
}

function write(at: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(at);
    else localStorage.setItem(at, value);
  } catch {
    // private windows may keep nothing
  }
}
