/** Latin letters and marks under the keys of any keyboard. */

type Press = Pick<KeyboardEvent, 'key' | 'code'>;

/**
 * The Latin letter of a key in lower case, or /: the one that it writes, else the one
 * that is in its place on a keyboard of another script. Empty for any other key.
 */
export function latinOf({ key, code }: Press): string {
  if (/^[a-z/]$/i.test(key)) return key.toLowerCase();
  const letter = /^Key([A-Z])$/.exec(code)?.[1];
  if (letter) return letter.toLowerCase();
  // Many Latin keyboards have - or é there, and / elsewhere.
  return code === 'Slash' && /^\p{L}$/u.test(key) && !/^\p{Script=Latin}$/u.test(key) ? '/' : '';
}
