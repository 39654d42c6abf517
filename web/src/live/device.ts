/** What this browser keeps of its listener: a random name for itself, and the name they write under. */

const kept = { device: 'athir.device', name: 'athir.name', mine: 'athir.mine' } as const;

/** A random id of 22 letters, digits, - and _. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function read(key: string): string {
  try {
    return localStorage.getItem(key) ?? '';
  } catch {
    return ''; // private windows may keep nothing
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // as above
  }
}

let device = '';

/** The same for as long as the browser keeps it; says nothing of its owner. */
export function deviceId(): string {
  device ||= read(kept.device);
  if (!/^[\w-]{8,64}$/.test(device)) write(kept.device, (device = randomId()));
  return device;
}

export const keptName = (): string => read(kept.name);
export const keepName = (name: string): void => write(kept.name, name);

/** Ids of what was written here, newest last, over visits. */
export function keptMine(): string[] {
  return read(kept.mine).split(' ').filter(Boolean);
}

export function keepMine(ids: Iterable<string>): void {
  write(kept.mine, [...ids].slice(-200).join(' '));
}
