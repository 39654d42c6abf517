import type { Page } from '@playwright/test';
import { open, test } from '../tests/fixtures';
import type { Mock } from '../tests/mock/mock';

// Listeners' requests, in the player and in the studio: npm run shots -- requests

const sizes = { wide: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } };
const minute = 60_000;

/** A queue in which some have their time, and rules that stand against others. */
function fill({ requests }: Mock): void {
  const now = Date.now();
  requests.add(9, 'منى', { status: 'planned', expectedAt: now + 12 * minute, note: 'لأختي في بورسعيد، كل سنة وهي طيبة', at: now - 20 * minute });
  requests.add(10, 'Omar', { status: 'planned', expectedAt: now + 31 * minute, at: now - 12 * minute });
  requests.add(11, '', { at: now - 2 * minute, note: 'Please play it before nine' });
  requests.rules.set('music/arabic_hits/1.mp3', { allowed: false, code: 'aired', en: '', ar: '', at: now + 50 * minute });
  requests.rules.set('music/arabic_hits/3.mp3', { allowed: false, code: 'coming', en: '', ar: '', at: now + 8 * minute });
  requests.rules.set('music/arabic_hits/4.mp3', { allowed: false, code: 'artist_asked', en: '', ar: '', at: now + 95 * minute });
}

/** The player with the dialog open. */
async function dialogOf(page: Page, mock: Mock, language: 'ar' | 'en'): Promise<void> {
  fill(mock);
  await open(page, '/', language);
  await page.locator('button.ask').click();
  await page.locator('li[data-file]').first().waitFor();
}

async function ask(page: Page): Promise<void> {
  await page.locator('li[data-file] button').first().click();
  await page.locator('dialog input').fill('سلمى');
  await page.locator('dialog textarea').fill('لأمي في عيد ميلادها');
}

type Set = (page: Page, mock: Mock, language: 'ar' | 'en') => Promise<void>;

const parts: Record<string, Set> = {
  find: dialogOf,
  nothing: async (page, mock, language) => {
    await dialogOf(page, mock, language);
    await page.locator('dialog input').fill(language === 'ar' ? 'لا شيء كهذا' : 'nothing of the kind');
    await page.locator('dialog .none').waitFor();
  },
  closed: async (page, mock, language) => {
    mock.requests.open = false;
    await dialogOf(page, mock, language);
    await page.locator('[data-rule=closed]').waitFor();
  },
  submit: async (page, mock, language) => {
    await dialogOf(page, mock, language);
    await ask(page);
    mock.requests.refusal = { status: 503, body: {} };
    await page.locator('dialog [type=submit]').click();
    await page.locator('dialog .wrong:not(:empty)').waitFor();
  },
  granted: async (page, mock, language) => {
    await dialogOf(page, mock, language);
    await ask(page);
    await page.locator('dialog [type=submit]').click();
    await page.locator('[data-view=granted]').waitFor();
    mock.requests.become(4, 'planned', { expectedAt: Date.now() + 44 * minute });
    await page.locator('dialog .when').filter({ hasText: /44|٤٤/ }).waitFor();
  },
  list: async (page, mock, language) => {
    await dialogOf(page, mock, language);
    await ask(page);
    await page.locator('dialog [type=submit]').click();
    await page.locator('[data-view=granted]').waitFor();
    mock.requests.become(4, 'refused', { word: language === 'ar' ? 'ليست ضمن برنامج اليوم' : 'Not on today’s programme' });
    const device = await page.evaluate(() => localStorage.getItem('athir.device') ?? '');
    mock.requests.add(20, 'سلمى', { device, status: 'planned', expectedAt: Date.now() + 44 * minute });
    mock.requests.tell();
    await page.keyboard.press('Escape');
    await page.reload();
    await page.locator('#my-requests').waitFor();
    await page.locator('#coming-up').evaluate((heading) => heading.scrollIntoView());
    await page.locator('#my-requests').evaluate((heading) => innerWidth < 600 && heading.scrollIntoView());
  },
  studio: async (page, mock, language) => {
    fill(mock);
    mock.control.key = '';
    mock.requests.add(0, 'نور');
    mock.requests.become(4, 'aired');
    mock.requests.add(1, 'هالة');
    mock.requests.become(5, 'refused', { word: 'ليست ضمن برنامج اليوم' });
    await open(page, '/studio#/requests', language);
    await page.locator('#asked').waitFor();
    await page.locator('#asked').evaluate((heading) => innerWidth < 600 && heading.scrollIntoView());
  },
  refusing: async (page, mock, language) => {
    fill(mock);
    mock.control.key = '';
    await open(page, '/studio#/requests', language);
    await page.locator('li[data-request] [aria-haspopup]').first().click();
    await page.locator('dialog[open]').waitFor();
  },
  desk: async (page, mock, language) => {
    fill(mock);
    mock.control.key = '';
    await open(page, '/studio#/live', language);
    await page.locator('#live-requests').waitFor();
    await page.locator('#live-requests').evaluate((heading) => heading.scrollIntoView());
  },
};

for (const [part, set] of Object.entries(parts)) {
  for (const [size, viewport] of Object.entries(sizes)) {
    for (const [language, colorScheme] of [['ar', 'light'], ['ar', 'dark'], ['en', 'light'], ['en', 'dark']] as const) {
      test(`requests ${part} ${size} ${language} ${colorScheme}`, async ({ browser, baseURL, mock }) => {
        const phone = size === 'phone';
        const context = await browser.newContext({ viewport, colorScheme, baseURL: baseURL as string, hasTouch: phone, isMobile: phone, deviceScaleFactor: phone ? 2 : 1 });
        const page = await context.newPage();
        await set(page, mock, language);
        await page.waitForTimeout(500); // fonts swap in
        await page.screenshot({ path: `shots/requests-${part}-${language}-${size}-${colorScheme}.png` });
        await context.close();
      });
    }
  }
}
