/** Pictures that the station takes for covers. */
export const pictures = ['image/jpeg', 'image/png', 'image/webp'];
const mostBytes = 8 * 1024 * 1024;

/** Why a picture cannot be sent; empty where it can. */
export function faultOf(file: { type: string; size: number }): '' | 'type' | 'large' {
  if (!pictures.includes(file.type)) return 'type';
  return file.size > mostBytes ? 'large' : '';
}
