import type { Door } from '../door.svelte';
import { Problem } from '../../station/control';
import type { SocialStatus } from './answers';

const everyMs = 20_000;

/** How many posts wait for a moderator. It is asked once a key has opened something, and only while the page is looked at. */
export class Waiting {
  count = $state(0);
  readonly #door: Door;

  constructor(door: Door) {
    this.#door = door;
  }

  /** Follows the station; call it while a component starts. */
  follow(): void {
    $effect(() => {
      if ((!this.#door.open && !this.#door.moderator) || !this.#door.may('moderate')) return;
      const look = () => void (document.visibilityState === 'visible' && this.#look().then((served) => served || clearInterval(often)));
      const often = setInterval(look, everyMs);
      look();
      return () => clearInterval(often);
    });
  }

  /** False where the station has no listeners' posts. */
  async #look(): Promise<boolean> {
    try {
      const { queue } = await this.#door.moderateQuietly<SocialStatus>('GET', '/api/social/status');
      this.count = queue?.pending ?? 0;
      return true;
    } catch (problem) {
      return !(problem instanceof Problem && problem.status === 404);
    }
  }
}
