import { defineConfig } from '@playwright/test';

const real = Boolean(process.env.ATHIR_URL);
/**
 * What a real station is asked: sound, the title in step with it, two listeners, and with its key and
 * leave to kill what its operator does, with its WHIP server what presenters do, with the moderators' key what listeners send, with its media folder what is done in its library, with songs an operator's first hour. All else is about the pages and is as true of the stand-in.
 */
const asked = ['@station', ...(process.env.ATHIR_KEY ? ['@key'] : []), ...(process.env.ATHIR_KILL ? ['@kill'] : []), ...(process.env.ATHIR_WHIP ? ['@live'] : []), ...(process.env.ATHIR_PRESSES ? ['@presses'] : []), ...(process.env.ATHIR_PEOPLE ? ['@people'] : []), ...(process.env.ATHIR_MODERATOR ? ['@posts'] : []), ...(process.env.ATHIR_MEDIA ? ['@shelf'] : []), ...(process.env.ATHIR_HOUR ? ['@hour'] : [])];
/** What the browser's false microphone hears, a WAV file; without one it beeps each second. */
const heard = process.env.ATHIR_MICROPHONE ? [`--use-file-for-fake-audio-capture=${process.env.ATHIR_MICROPHONE}`] : [];

export const chromium = {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream', ...heard],
};

export default defineConfig({
  testDir: 'tests',
  testMatch: '*.spec.ts',
  outputDir: `test-results/${real ? 'station' : 'pages'}`, // both kinds may run side by side
  ...(real ? { grep: new RegExp(asked.join('|')) } : {}),
  testIgnore: real ? [] : ['comein.spec.ts', 'firsthour.spec.ts', 'killed.spec.ts', 'moderating.spec.ts', 'onair.spec.ts', 'posting.spec.ts', 'presses.spec.ts', 'sent.spec.ts', 'shelf.spec.ts'], // a real station alone has these
  // Most of a test is waiting for sound and for clocks, and each has a stand-in of its own; a real station is one.
  workers: real ? 1 : 2,
  fullyParallel: !real,
  // Far beyond what a busy machine needs: only a fault waits so long.
  timeout: 300_000,
  expect: { timeout: real ? 120_000 : 60_000 },
  retries: real ? 0 : 2, // a real station remembers the first try
  reporter: real ? [['list']] : [['list'], ['./flaky.ts', { file: 'test-results/flaky.txt' }]],
  use: { browserName: 'chromium', launchOptions: chromium, locale: 'ar-EG', trace: 'on-first-retry', actionTimeout: 60_000, contextOptions: { reducedMotion: 'reduce' } },
});
