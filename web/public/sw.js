// Shows what the station tells while no page is open, brings a page forward when it
// is pressed, and answers a page that cannot be loaded without a network. Of all that
// passes it keeps one small document, no sound and no answer of the station.

const version = 'athir-offline-1';
const kept = '/offline';

self.addEventListener('install', (event) => {
  // Whatever is no page goes to the network without waking the worker, where the browser knows how.
  event.addRoutes?.([{ condition: { not: { requestMode: 'navigate' } }, source: 'network' }])?.catch?.(() => undefined);
  event.waitUntil(keep().catch(() => undefined).then(() => self.skipWaiting()));
});

self.addEventListener('activate', (event) => event.waitUntil(begin()));

async function begin() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith('athir-') && name !== version).map((name) => caches.delete(name)));
  await self.registration.navigationPreload?.enable().catch(() => undefined);
  await self.clients.claim();
}

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.mode !== 'navigate' || request.method !== 'GET' || origin !== self.location.origin) return;
  if (/^\/(api|hls|stream|chat\/media|socket\.io)(\/|$)|^\/podcasts\/.+\.[a-z0-9]+$/.test(pathname)) return; // what is downloaded is no page
  event.respondWith(page(event));
});

async function page(event) {
  let answer;
  try {
    answer = (await event.preloadResponse) ?? (await fetch(event.request));
  } catch {
    return (await (await caches.open(version)).match(kept)) ?? Response.error();
  }
  event.waitUntil(refresh());
  return answer;
}

const dayMs = 86_400_000;

/** The name may have changed: the document is made anew once a day. */
async function refresh() {
  const old = await (await caches.open(version)).match(kept);
  const made = Number(old?.headers.get('x-made') ?? 0);
  if (Date.now() - made > dayMs) await keep().catch(() => undefined);
}

/** Makes the document with the station's name and colour, and keeps it. */
async function keep() {
  const answer = await fetch('/api/face', { cache: 'no-store' }).catch(() => null);
  const face = answer?.ok ? await answer.json().catch(() => null) : null;
  const cache = await caches.open(version);
  if (!face && (await cache.match(kept))) return;
  await cache.put(kept, offline(face));
}

const said = {
  ar: { dir: 'rtl', name: 'الراديو', title: 'تعذّر الوصول إلى المحطة', say: 'تأكد من اتصالك بالإنترنت. تعود الصفحة تلقائيًا عند عودة الاتصال.', again: 'إعادة المحاولة' },
  en: { dir: 'ltr', name: 'Radio', title: 'Cannot reach the station', say: 'Check your internet connection. The page comes back by itself.', again: 'Try again' },
};

function offline(face) {
  const languages = (Array.isArray(face?.languages) ? face.languages : []).filter((language) => said[language]);
  const order = languages.length > 0 ? languages : ['ar', 'en'];
  const name = (language) => escaped(face?.name?.[language] || said[language].name);
  const accent = /^#[0-9a-f]{6}$/i.test(face?.accent ?? '') ? face.accent : '#ffb43f';
  const nonce = crypto.randomUUID();
  const parts = order.map((language, i) => `<section lang="${language}" dir="${said[language].dir}">${i === 0 ? `<h1>${name(language)}</h1>` : ''}<h2>${said[language].title}</h2><p>${said[language].say}</p></section>`);
  const html = `<!doctype html><html lang="${order[0]}" dir="${said[order[0]].dir}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover"><title>${said[order[0]].title} · ${name(order[0])}</title>
<style nonce="${nonce}">:root{color-scheme:light dark;--ground:#e9efec;--ink:#0e2529;--soft:#45595b}@media(prefers-color-scheme:dark){:root{--ground:#0b1618;--ink:#efeadd;--soft:#9fb2b0}}*{box-sizing:border-box}body{margin:0;min-block-size:100dvh;display:grid;place-items:center;padding:1.5rem;background:var(--ground);color:var(--ink);font:1.0625rem/1.7 system-ui,'Segoe UI',Tahoma,sans-serif}main{display:grid;gap:1.5rem;inline-size:min(26rem,100%)}i{inline-size:4rem;block-size:.3rem;background:${accent}}h1,h2,p{margin:0}h1{font-size:1.75rem;line-height:1.4;padding-block-end:.75rem}h2{font-size:1.125rem}p{color:var(--soft)}button{justify-self:start;min-block-size:3rem;padding-inline:1.5rem;border:1px solid;border-radius:99rem;background:none;color:inherit;font:inherit;cursor:pointer}</style></head>
<body><main><i></i>${parts.join('')}<button>${order.map((language) => said[language].again).join(' · ')}</button></main>
<script nonce="${nonce}">let busy=false;async function look(){if(busy)return;busy=true;try{await fetch(location.href,{method:'HEAD',cache:'no-store'});location.reload()}catch{}busy=false}addEventListener('online',look);document.addEventListener('visibilitychange',()=>document.visibilityState==='visible'&&look());setInterval(look,10000);document.querySelector('button').onclick=look</script></body></html>`;
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  return new Response(html, { headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy, 'x-made': String(Date.now()) } });
}

function escaped(text) {
  return String(text).slice(0, 120).replace(/[&<>"']/g, (c) => `&#${c.codePointAt(0)};`);
}

self.addEventListener('push', (event) => {
  let said = {};
  try {
    said = event.data?.json() ?? {};
  } catch {
    said = { body: event.data?.text() ?? '' };
  }
  const text = (value) => (typeof value === 'string' ? value.slice(0, 300) : '');
  const title = text(said.title) || 'راديو · Radio';
  const options = {
    body: text(said.body),
    tag: text(said.tag) || 'athir',
    lang: text(said.lang) || 'ar',
    dir: said.dir === 'ltr' || said.dir === 'rtl' ? said.dir : 'auto',
    ...(Number.isFinite(said.at) ? { timestamp: said.at } : {}),
    icon: '/face/icon-192.png',
    badge: '/face/icon-192.png',
    data: { url: text(said.url) },
  };
  event.waitUntil(self.registration.showNotification(title, options));
});

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(show(event.notification.data?.url));
});

/** An open page of the same address comes forward, else a new one opens: none that is listened to is sent elsewhere. */
async function show(wanted) {
  const url = new URL(wanted || '/', self.location.origin);
  if (url.origin !== self.location.origin) url.href = `${self.location.origin}/`;
  const shown = (address) => {
    const { pathname, search, hash } = new URL(address);
    return pathname + search + (url.hash && hash);
  };
  const pages = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const same = pages.find((page) => shown(page.url) === shown(url.href));
  if (same) return same.focus();
  return self.clients.openWindow(url.href);
}
