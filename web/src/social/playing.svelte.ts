import { speaker } from '../chat/speaker.svelte';
import { heardAt } from './api';
import type { Post } from './post';

/** Which post plays: one at a time, through the page's one speaker. */
class Playing {
  now = $state.raw<Post | null>(null);

  is(post: Post): boolean {
    return speaker.current === idOf(post);
  }

  toggle(post: Post, token = ''): void {
    this.now = post;
    speaker.toggle(idOf(post), heardAt(post, token), post.duration);
  }

  stop(): void {
    speaker.stop(speaker.current);
    this.now = null;
  }
}

const idOf = (post: Post): string => `post ${post.id}`;

export const playing = new Playing();
