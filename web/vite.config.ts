import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

// A station to develop against: ATHIR_URL=http://127.0.0.1:5000 npm run dev
const station = process.env.ATHIR_URL ?? 'http://127.0.0.1:5000';
/** What phones publish to: the presenters' page speaks to it alone. */
const whip = process.env.ATHIR_WHIP ?? 'http://127.0.0.1:8089';

// Each page is built alone, so that it loads one script and nothing of the other's.
const page = process.env.PAGE ?? 'index';

export default defineConfig({
  plugins: [svelte({ compilerOptions: { discloseVersion: false } })],
  build: {
    outDir: '../internal/web/pages/dist',
    emptyOutDir: page === 'index',
    target: ['es2022', 'safari16', 'chrome105', 'firefox110'],
    assetsInlineLimit: 0, // the content security policy allows no data: scripts, styles or fonts
    // What a page's script is made of comes with it, not after it; what is loaded later names its own parts.
    modulePreload: { polyfill: false, resolveDependencies: (_, parts, { hostType }) => (hostType === 'html' ? parts : []) },
    cssCodeSplit: false,
    rolldownOptions: { input: `${page}.html` },
  },
  server: {
    proxy: {
      '/api': station,
      '/hls': station,
      '/stream': station,
      '/chat/media': station,
      '/whip': whip,
      '/socket.io': { target: station, ws: true },
    },
  },
  test: {
    include: ['src/**/*.test.ts'],
  },
} as Parameters<typeof defineConfig>[0]);
