import type { Page } from '@playwright/test';
import { expectSound, open, playButton, test } from '../tests/fixtures';
import { logLines, morning } from '../tests/mock/control';
import type { Mock } from '../tests/mock/mock';
import { assetsOf } from '../tests/mock/production';

// Shoots every page and part into web/shots to look at: npm run shots, or one part: npm run shots -- -g why
const sizes = { wide: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } };

interface Part {
  path: string;
  /** Brings the page to what is to be seen. */
  set: (page: Page, mock: Mock) => Promise<void>;
  whole?: boolean;
}

const row = (page: Page, i: number) => page.locator('section[aria-labelledby=rotation] ol > li').nth(i);

const parts: Record<string, Part> = {
  player: {
    path: '/',
    set: async (page) => {
      await playButton(page).click();
      await expectSound(page, 1);
      await page.mouse.move(0, 0);
    },
  },
  studio: { path: '/studio', whole: true, set: async (page) => row(page, 37).waitFor() },
  why: {
    path: '/studio',
    set: async (page) => {
      await row(page, 41).locator('.ask').click();
      await page.locator('.passed').waitFor();
      await row(page, 39).scrollIntoViewIfNeeded();
    },
  },
  find: {
    path: '/studio',
    set: async (page) => {
      await page.locator('.orders button').nth(1).click();
      await page.getByRole('combobox').fill('ليل');
      await page.getByRole('option').nth(3).waitFor();
    },
  },
  key: {
    path: '/studio',
    set: async (page) => {
      await page.locator('.orders button').first().click();
      await page.locator('#station-key').fill('not it');
      await page.keyboard.press('Enter');
      await page.locator('.wrong:not(:empty)').waitFor();
    },
  },
  order: {
    path: '/studio',
    set: async (page, mock) => {
      mock.control.key = '';
      mock.control.refusal = { status: 409, body: { detail: 'a live broadcast is on the air' } };
      await page.locator('.orders button').first().click();
      await page.locator('.toasts li').waitFor();
      mock.heardAfterMs = 60_000;
      await page.locator('.orders button').first().click();
      await page.waitForTimeout(600);
    },
  },
  programme: {
    path: '/studio#/programme',
    whole: true,
    set: async (page) => {
      await page.locator('#clocks').waitFor();
    },
  },
  clock: {
    path: '/studio#/programme',
    set: async (page) => {
      await page.locator('#clocks').waitFor();
      await page.locator('article .positions select').nth(3).focus();
      await page.locator('#clocks').evaluate((heading) => heading.scrollIntoView());
    },
  },
  dayparts: {
    path: '/studio#/programme',
    set: async (page) => {
      await page.locator('section[aria-labelledby=dayparts] .acts button').first().click();
      await page.locator('#dayparts').waitFor();
      await page.locator('#dayparts').evaluate((heading) => heading.scrollIntoView());
    },
  },
  refused: {
    path: '/studio#/programme',
    set: async (page, mock) => {
      const field = page.locator('[data-field="ROTATION.MUSIC_FRESH_MS"] input');
      await field.fill('9000');
      mock.control.refusal = {
        status: 422,
        body: { detail: 'validation failed', errors: [{ location: 'body.ROTATION.MUSIC_FRESH_MS', message: 'must be 0 to 72 hours, in milliseconds' }] },
      };
      await page.locator('.bar .key').click();
      await page.locator('.bar ul').waitFor();
      await page.locator('.bar ul button').click();
    },
  },
  production: {
    path: '/studio#/production',
    whole: true,
    set: async (page, mock) => {
      busy(mock);
      await page.locator('.made li').first().waitFor();
    },
  },
  plan: {
    path: '/studio#/production',
    set: async (page) => {
      await page.locator('section[aria-labelledby=freshness] .key').click();
      await page.locator('dialog[open] h3').first().waitFor();
    },
  },
  firstday: {
    path: '/studio#/production',
    whole: true,
    set: async (page, mock) => {
      mock.control.key = 'asked for';
      mock.production.used = false;
      mock.production.bulletin.error = 'speak: every voice failed: espeak-ng: exit 1';
      await page.reload();
      await page.locator('section[aria-labelledby=bulletin] dl').waitFor();
      await page.locator('section[aria-labelledby=jobs] .key').waitFor();
    },
  },
  log: {
    path: '/studio#/log',
    set: async (page) => {
      await page.locator('.lines li').first().waitFor();
    },
  },
};

/** A station at work: one job runs, one waits, others have ended each way. */
function busy({ production }: Mock): void {
  const now = Date.now();
  const ended = (minutes: number) => ({ queuedAt: now - minutes * 60_000, startedAt: now - minutes * 60_000, endedAt: now - minutes * 60_000 + 42_000 });
  production.held = true;
  production.add('content refresh', { state: 'interrupted', ...ended(700), error: 'the station was stopped' });
  production.add('content scrub', { state: 'failed', ...ended(95), error: 'look at music/english: permission denied' });
  production.add('imaging', { state: 'done', ...ended(60), result: { made: assetsOf('imaging', 9), failed: [{ kind: 'id', error: 'speak: no voice answered' }], archived: 11, kept: 2, problem: '' } });
  production.add('stingers', { state: 'cancelled', ...ended(50), error: 'cancelled by the operator' });
  production.add('content refresh', { startedAt: now - 83_000, progress: { step: 'songs', detail: 'music/arabic_hits/ليالي الحلمية.mp3', done: 7, total: 20 } });
  production.add('content plan', { state: 'queued', startedAt: 0 });
}

/** A station whose operator has set it up, without a key. */
function dress(mock: Mock): void {
  const { control } = mock;
  control.key = '';
  control.saved = false;
  control.config.MOOD = 'tarab';
  control.config.ROTATION.MUSIC_FRESH_MS = 14_400_000;
  control.config.CLOCKS = morning();
  control.log = logLines();
}

for (const [name, part] of Object.entries(parts)) {
  for (const [size, viewport] of Object.entries(sizes)) {
    for (const language of ['ar', 'en'] as const) {
      for (const colorScheme of ['dark', 'light'] as const) {
        test(`${name} ${size} ${language} ${colorScheme}`, async ({ browser, baseURL, mock }) => {
          const phone = size === 'phone';
          const context = await browser.newContext({ viewport, colorScheme, baseURL: baseURL as string, hasTouch: phone, isMobile: phone, deviceScaleFactor: phone ? 2 : 1 });
          const page = await context.newPage();
          if (part.path.includes('#')) dress(mock);
          await open(page, part.path, language);
          await part.set(page, mock);
          await page.waitForTimeout(500); // fonts swap in
          await page.screenshot({ path: `shots/${name}-${language}-${size}-${colorScheme}.png`, fullPage: Boolean(part.whole && phone) });
          await context.close();
        });
      }
    }
  }
}
