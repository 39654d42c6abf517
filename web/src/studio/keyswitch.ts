/** Whether keys without a modifier act, as was chosen before under a name; they do until somebody says otherwise. */
export function keysOn(name: string): boolean {
  try {
    return localStorage.getItem(name) !== 'off';
  } catch {
    return true;
  }
}

export function turnKeys(name: string, on: boolean): void {
  try {
    localStorage.setItem(name, on ? 'on' : 'off');
  } catch {
    // private windows may keep nothing
  }
}
