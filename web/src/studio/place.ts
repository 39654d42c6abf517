/** Puts the focus on a part that takes none by itself, where what had it is gone. */
export function land(part: HTMLElement | null | undefined): void {
  if (!part || (document.activeElement && document.activeElement !== document.body)) return;
  part.tabIndex = -1;
  part.addEventListener('blur', () => part.removeAttribute('tabindex'), { once: true });
  part.focus({ preventScroll: true });
}
