import { expect, it } from 'vitest';
import { latinOf } from './keyboard';

it.each([
  ['a', 'KeyA', 'a'], ['A', 'KeyA', 'a'], ['ش', 'KeyA', 'a'], ['ф', 'KeyA', 'a'],
  ['a', 'KeyQ', 'a'], // a keyboard that has its letters elsewhere
  ['/', 'Slash', '/'], ['ظ', 'Slash', '/'], ['.', 'Slash', ''], ['/', 'Digit7', '/'],
  ['-', 'Slash', ''], ['é', 'Slash', ''], ['؟', 'Slash', ''], ['Enter', 'Enter', ''],
])('%s (%s) is %s', (key, code, letter) => expect(latinOf({ key, code })).toBe(letter));
