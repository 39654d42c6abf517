import type { Shown } from './answers';

/** Whether a request waits for the air. */
export const isOpen = ({ status }: Pick<Shown, 'status'>): boolean => status === 'waiting' || status === 'planned';

/** The open ones as they will air: those with a time first. */
export function inOrder<T extends Shown>(requests: readonly T[]): T[] {
  const at = ({ expectedAt }: T) => expectedAt || Infinity;
  return requests.filter(isOpen).sort((a, b) => (at(a) === at(b) ? a.at - b.at : at(a) - at(b)));
}
