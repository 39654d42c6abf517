import { defineConfig } from '@playwright/test';

const real = Boolean(process.env.ATHIR_URL);

export const chromium = {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update'],
};

export default defineConfig({
  testDir: 'tests',
  // Against a real station only what holds for every station is run.
  testMatch: real ? 'station.spec.ts' : '*.spec.ts',
  workers: 1,
  timeout: 90_000,
  expect: { timeout: 15_000 },
  reporter: [['list']],
  use: { browserName: 'chromium', launchOptions: chromium, locale: 'ar-EG', trace: 'retain-on-failure' },
});
