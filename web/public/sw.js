// Shows what the station tells while no page is open, and brings a page forward
// when it is pressed. It stands between no page and the network: it keeps nothing.

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

self.addEventListener('push', (event) => {
  let said = {};
  try {
    said = event.data?.json() ?? {};
  } catch {
    said = { body: event.data?.text() ?? '' };
  }
  const text = (value) => (typeof value === 'string' ? value.slice(0, 300) : '');
  const title = text(said.title) || 'أثير · Athir';
  const options = {
    body: text(said.body),
    tag: text(said.tag) || 'athir',
    lang: text(said.lang) || 'ar',
    dir: said.dir === 'ltr' || said.dir === 'rtl' ? said.dir : 'auto',
    ...(Number.isFinite(said.at) ? { timestamp: said.at } : {}),
    icon: '/icon-192.png',
    badge: '/icon-192.png',
    data: { url: text(said.url) },
  };
  event.waitUntil(self.registration.showNotification(title, options));
});

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(show(event.notification.data?.url));
});

/** An open page of the address comes forward, else any of ours goes there, else a new one opens. */
async function show(wanted) {
  const url = new URL(wanted || '/', self.location.origin);
  if (url.origin !== self.location.origin) url.href = `${self.location.origin}/`;
  const pages = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const same = pages.find((page) => new URL(page.url).pathname === url.pathname);
  if (same) return same.focus();
  return self.clients.openWindow(url.href);
}
