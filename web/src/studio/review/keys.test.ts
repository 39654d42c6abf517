import { describe, expect, it } from 'vitest';
import { commandOf, digitOf, type Press } from './keys';

const press = (key: string, code = '', more: Partial<Press> = {}): Press => ({ key, code, shiftKey: false, ctrlKey: false, altKey: false, metaKey: false, ...more });

describe('keys', () => {
  it.each([
    ['j', 'KeyJ', 'next'], ['J', 'KeyJ', 'next'], ['ت', 'KeyJ', 'next'], ['ش', 'KeyA', 'approve'], ['ق', 'KeyR', 'reject'],
    [' ', 'Space', 'play'], ['*', 'Digit8', 'all'], ['؟', 'Slash', 'keys'], ['?', 'Slash', 'keys'], ['ArrowLeft', 'ArrowLeft', 'back'], ['Escape', 'Escape', 'clear'],
    ['a', 'KeyQ', 'approve'], // a keyboard that has its letters elsewhere
    ['é', 'Digit2', null], ['q', 'KeyQ', null], ['Enter', 'Enter', null],
  ])('%s (%s) is %s', (key, code, command) => expect(commandOf(press(key, code))).toBe(command));

  it('extends with shift, and does nothing else with it', () => {
    expect(commandOf(press('J', 'KeyJ', { shiftKey: true }))).toBe('extend-next');
    expect(commandOf(press('K', 'KeyK', { shiftKey: true }))).toBe('extend-previous');
    expect(commandOf(press(' ', 'Space', { shiftKey: true }))).toBe('play-start');
    expect(commandOf(press('A', 'KeyA', { shiftKey: true }))).toBeNull();
  });

  it('leaves the browser its own', () => {
    for (const modifier of ['ctrlKey', 'altKey', 'metaKey'] as const) expect(commandOf(press('r', 'KeyR', { [modifier]: true }))).toBeNull();
  });

  it.each([['1', 'Digit1', 1], ['٧', 'Digit7', 7], ['é', 'Digit2', 2], ['9', 'Numpad9', 9], ['0', 'Digit0', 0], ['a', 'KeyA', 0], ['Enter', 'Enter', 0]])('%s (%s) is the number %i', (key, code, n) => {
    expect(digitOf(press(key, code))).toBe(n);
  });
});
