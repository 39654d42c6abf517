export const pictures = ['image/jpeg', 'image/png', 'image/webp'];
const mostBytes = 8 * 1024 * 1024;
const mostPixels = 40_000_000;
/** Of the shorter side: apps refuse what is smaller. */
const leastSide = 1400;

export type CoverFault = 'type' | 'large' | 'broken' | 'small' | 'huge';

/** What keeps a file from being sent; empty: nothing that its name and size tell. */
export function fileFault({ type, size }: { type: string; size: number }): CoverFault | '' {
  if (!pictures.includes(type)) return 'type';
  return size > mostBytes ? 'large' : '';
}

/** The same for what is in it. */
export function pixelFault(width: number, height: number): CoverFault | '' {
  if (width * height > mostPixels) return 'huge';
  return Math.min(width, height) < leastSide ? 'small' : '';
}
