import { defineConfig } from '@playwright/test';

const real = Boolean(process.env.ATHIR_URL);
const withKey = process.env.ATHIR_KEY ? ['making.spec.ts', 'moderating.spec.ts'] : [];
const killed = process.env.ATHIR_KILL ? ['killed.spec.ts'] : [];

export const chromium = {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'],
};

export default defineConfig({
  testDir: 'tests',
  // Against a real station only what holds for every station is run, and with its key what is made there.
  testMatch: real ? ['station.spec.ts', 'listeners.spec.ts', ...withKey, ...killed] : '*.spec.ts',
  testIgnore: real ? [] : ['killed.spec.ts', 'moderating.spec.ts'], // a real station alone has these
  workers: 1,
  timeout: 90_000,
  expect: { timeout: 15_000 },
  reporter: [['list']],
  use: { browserName: 'chromium', launchOptions: chromium, locale: 'ar-EG', trace: 'retain-on-failure' },
});
