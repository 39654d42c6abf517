import { latinOf } from '../keyboard';

/** What a key asks for. Keys are those of the letters on them, or of their place on a keyboard of another script. */
export type Command =
  | 'next' | 'previous' | 'extend-next' | 'extend-previous'
  | 'play' | 'play-start' | 'back' | 'forward' | 'compare'
  | 'approve' | 'reject' | 'hold' | 'process' | 'undo'
  | 'select' | 'all' | 'clear' | 'keys';

export type Press = Pick<KeyboardEvent, 'key' | 'code' | 'shiftKey' | 'ctrlKey' | 'altKey' | 'metaKey'>;

const letters: Record<string, Command> = { j: 'next', k: 'previous', a: 'approve', r: 'reject', h: 'hold', p: 'process', u: 'undo', x: 'select', c: 'compare' };
const named: Record<string, Command> = { ArrowLeft: 'back', ArrowRight: 'forward', Escape: 'clear', '*': 'all', '?': 'keys', '؟': 'keys' };

export function commandOf(press: Press): Command | null {
  if (press.ctrlKey || press.altKey || press.metaKey) return null;
  if (press.key === ' ') return press.shiftKey ? 'play-start' : 'play';
  const asNamed = named[press.key];
  if (asNamed) return asNamed;
  const command = letters[latinOf(press)];
  if (!command || !press.shiftKey) return command ?? null;
  return command === 'next' ? 'extend-next' : command === 'previous' ? 'extend-previous' : null;
}

/** 1 to 9, in whatever digits the keyboard writes; 0 for any other key. */
export function digitOf({ key, code, ctrlKey, altKey, metaKey }: Press): number {
  if (ctrlKey || altKey || metaKey) return 0;
  const arabic = '٠١٢٣٤٥٦٧٨٩'.indexOf(key);
  const digit = key.length === 1 && arabic >= 0 ? arabic : Number(/^(?:Digit|Numpad)([1-9])$/.exec(code)?.[1] ?? (/^[1-9]$/.test(key) ? key : 0));
  return digit;
}
