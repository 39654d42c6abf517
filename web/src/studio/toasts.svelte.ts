export type Tone = 'good' | 'note' | 'bad';

export interface Toast {
  id: number;
  tone: Tone;
  text: string;
  /** The station's own words, in whatever language it says them. */
  detail: string;
  action?: { label: string; run: () => void };
}

const staysMs = { good: 6000, note: 9000, bad: 0 } as const; // bad news waits to be read

/** Short news of what an order did, the latest last. */
export class Toasts {
  list = $state.raw<readonly Toast[]>([]);
  #next = 1;

  /** Returns what drop takes. */
  say(tone: Tone, text: string, more: { detail?: string; action?: Toast['action']; staysMs?: number } = {}): number {
    const toast: Toast = { id: this.#next++, tone, text, detail: more.detail ?? '', ...(more.action ? { action: more.action } : {}) };
    this.list = [...this.list.filter((other) => other.text !== text || other.detail !== toast.detail), toast].slice(-4);
    if (staysMs[tone]) setTimeout(() => this.drop(toast.id), more.staysMs ?? staysMs[tone] + (more.action ? 6000 : 0));
    return toast.id;
  }

  /** Takes back what an earlier toast offered: undo means the last change only. */
  closeOffers(): void {
    this.list = this.list.filter((toast) => !toast.action);
  }

  drop(id: number): void {
    this.list = this.list.filter((toast) => toast.id !== id);
  }
}
