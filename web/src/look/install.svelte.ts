const kept = 'athir.install';

/** Chromium's event before it offers to install; it waits until the page asks for it. */
interface Offer extends Event {
  prompt(): Promise<unknown>;
}

/** Whether the station can be kept on the home screen, and whether the listener has said no to it. */
class Install {
  offer = $state.raw<Offer | null>(null);
  refused = $state(read());

  /** Safari on iOS, where only a hand can do it, in a page that is not installed. */
  get byHand(): boolean {
    return (navigator as { standalone?: boolean }).standalone === false;
  }

  constructor() {
    addEventListener('beforeinstallprompt', (event) => {
      event.preventDefault();
      this.offer = event as Offer;
    });
    addEventListener('appinstalled', () => (this.offer = null));
  }

  async ask(): Promise<void> {
    const offer = this.offer;
    this.offer = null; // it can be used once
    await offer?.prompt().catch(() => undefined);
  }

  refuse(): void {
    this.refused = true;
    try {
      localStorage.setItem(kept, 'no');
    } catch {
      // private windows may keep nothing
    }
  }
}

export const install = new Install();

function read(): boolean {
  try {
    return localStorage.getItem(kept) === 'no';
  } catch {
    return false;
  }
}
