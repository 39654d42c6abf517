import type { Which } from './answers';

export const pictures = ['image/png', 'image/jpeg', 'image/webp'];
const mostBytes = 4 * 1024 * 1024;
/** On the longer side. */
const leastPixels = { logo: 128, icon: 192 } as const;

export type PictureFault = 'type' | 'svg' | 'large' | 'broken' | 'smallLogo' | 'smallIcon' | 'notSquare';

/** What keeps a file from being sent; empty: nothing. */
export function fileFault({ type, size }: { type: string; size: number }): PictureFault | '' {
  if (type === 'image/svg+xml') return 'svg';
  if (!pictures.includes(type)) return 'type';
  return size > mostBytes ? 'large' : '';
}

/** What is better known of a picture that can be sent; empty: nothing. */
export function sizeNote(which: Which, width: number, height: number): PictureFault | '' {
  if (which === 'icon' && width !== height) return 'notSquare';
  if (Math.max(width, height) >= leastPixels[which]) return '';
  return which === 'logo' ? 'smallLogo' : 'smallIcon';
}
