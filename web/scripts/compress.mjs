// Finishes the built pages: the licences of what is bundled, .gz and .br beside every
// text file, and a line on what a first load costs.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const dist = new URL('../../internal/web/pages/dist/', import.meta.url).pathname;
const bundled = Object.keys(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).dependencies);
// What socket.io-client and tus-js-client themselves are made of, in a browser.
const inside = ['engine.io-client', 'engine.io-parser', 'socket.io-parser', '@socket.io/component-emitter', 'js-base64', 'url-parse', 'querystringify', 'requires-port'];
const licenses = [...bundled, ...inside].map((name) => {
  const dir = new URL(`../node_modules/${name}/`, import.meta.url);
  const text = readdirSync(dir).find((file) => /^LICEN[CS]E/i.test(file));
  return `${name}\n\n${readFileSync(new URL(text, dir), 'utf8').trim()}\n`;
});
licenses.push(`Vazirmatn, digits alone\n\n${readFileSync(new URL('../src/look/digits.LICENSE.txt', import.meta.url), 'utf8').trim()}\n`);
writeFileSync(join(dist, 'licenses.txt'), licenses.join(`\n${'-'.repeat(72)}\n\n`));

const files = readdirSync(dist, { recursive: true, withFileTypes: true })
  .filter((e) => e.isFile() && /\.(html|js|css|svg|txt|webmanifest)$/.test(e.name))
  .map((e) => join(e.parentPath, e.name));

// In a layer, so that an operator's custom.css is stronger whatever its selectors are.
for (const file of files.filter((name) => name.endsWith('.css'))) writeFileSync(file, `@layer athir{${readFileSync(file, 'utf8')}}`);

const sizes = new Map();
for (const file of files) {
  const body = readFileSync(file);
  const gzip = gzipSync(body, { level: 9 });
  writeFileSync(`${file}.gz`, gzip);
  writeFileSync(
    `${file}.br`,
    brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: body.length } }),
  );
  sizes.set(`/${relative(dist, file)}`, gzip.length);
}

for (const page of ['index.html', 'chat.html', 'studio.html', 'golive.html', 'social.html', 'history.html', 'podcasts.html', 'embed.html']) {
  const html = readFileSync(join(dist, page), 'utf8');
  const named = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+\.(?:js|css))"/g)].map((m) => m[1]);
  const sum = (ending) => named.filter((f) => f.endsWith(ending)).reduce((n, f) => n + sizes.get(f), 0);
  // It is in other sites' pages: what it costs them is bounded.
  if (page === 'embed.html' && sum('.js') + sum('.css') > 15_000) throw new Error(`${page}: its script and style take ${sum('.js') + sum('.css')} bytes, of 15,000`);
  console.log(`${page}: first load ${(sum('.js') / 1000).toFixed(1)} kB JS, ${(sum('.css') / 1000).toFixed(1)} kB CSS (gzip)`);
}
