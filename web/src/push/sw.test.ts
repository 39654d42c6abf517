import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const script = readFileSync(new URL('../../public/sw.js', import.meta.url), 'utf8');
const origin = 'https://radio.example';

/** What a press on a notification does while these pages are open: the address that comes forward or opens. */
async function pressed(wanted: string, open: string[]): Promise<string> {
  const heard = new Map<string, (event: unknown) => void>();
  let did = '';
  const self = {
    location: new URL(origin),
    addEventListener: (name: string, then: (event: unknown) => void) => heard.set(name, then),
    clients: {
      matchAll: async () => open.map((path) => ({ url: origin + path, focus: async () => void (did = `forward ${path}`) })),
      openWindow: async (url: string) => void (did = `opens ${url.replace(origin, '')}`),
    },
  };
  new Function('self', 'caches', script)(self, {});
  await new Promise<void>((done) => heard.get('notificationclick')?.({ notification: { close: () => undefined, data: { url: wanted } }, waitUntil: (under: Promise<unknown>) => void under.then(() => done()) }));
  return did;
}

it('a pressed notification brings forward the page that shows it, and no other', async () => {
  expect(await pressed('', ['/chat', '/'])).toBe('forward /');
  expect(await pressed('', ['/#requests'])).toBe('forward /#requests');
  expect(await pressed('/social.html?post=12', ['/social.html', '/social.html?post=3'])).toBe('opens /social.html?post=12');
  expect(await pressed('/social.html?post=12', ['/', '/social.html?post=12'])).toBe('forward /social.html?post=12');
  expect(await pressed('/social.html#post=12&token=abcd', ['/social.html'])).toBe('opens /social.html#post=12&token=abcd');
  expect(await pressed('https://elsewhere.example/x', [])).toBe('opens /');
});
