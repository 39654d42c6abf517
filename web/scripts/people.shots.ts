import type { Page } from '@playwright/test';
import { open, test } from '../tests/fixtures';
import type { Mock } from '../tests/mock/mock';

// Users, logins and the log of orders in the studio: npm run shots -- people

const sizes = { wide: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } };

/** A station with people in every state, and what they ordered. */
function staff({ people }: Mock): void {
  const mona = people.add('mona', 'owner', { name: 'منى الشاذلي', totp: true });
  people.loginOf(mona, 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1');
  people.loginOf(mona, 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0', 90_000_000);
  people.keyOf(mona, 'لوحة الأزرار', 'presenter', { until: Date.now() + 40 * 86_400_000 });
  mona.passkeys.push({ id: 'AAEC', name: 'Chrome · macOS', createdAt: Date.now() - 9e8, usedDay: 20_400 });
  people.add('omar', 'programme', { name: 'Omar Naguib', totp: true });
  people.add('huda', 'moderator', { name: 'هدى', locked: true });
  people.add('سارة', 'presenter', { name: 'سارة عبد الرحيم' });
  people.invite(people.add('adam', 'viewer', { name: 'Adam', password: false, seenAt: 0 }));
  const at = (minutes: number) => ({ at: Date.now() - minutes * 60_000 });
  people.log({ ...at(900), way: 'station key', order: 'POST /api/people', target: 'mona', status: 0, address: '' });
  people.log({ ...at(320), user: 'u1', name: 'منى الشاذلي', way: 'session', order: 'PUT /api/people/{id}', target: 'هدى', detail: '{"locked":true}' });
  people.log({ ...at(71), user: 'u2', name: 'Omar Naguib', way: 'key', order: 'PUT /api/station/config', detail: '{"AD_EVERY":12,"MOOD":"tarab"}', status: 422 });
  people.log({ ...at(40), order: 'POST /api/station/of/tomorrow', status: 500 });
  people.log({ ...at(12), user: 'u4', name: 'سارة عبد الرحيم', way: 'session', order: 'POST /api/station/live/start', target: 'مساء النيل' });
  people.log({ ...at(3), user: 'u4', name: 'سارة عبد الرحيم', way: 'session', order: 'POST /api/station/skip', target: 'ليل القاهرة' });
}

type Set = (page: Page, mock: Mock, language: 'ar' | 'en') => Promise<void>;

async function as(page: Page, login: string, path: string, language: 'ar' | 'en'): Promise<void> {
  await page.request.post('/api/session', { data: { login, password: `${login}-password-1`, code: '123456' } });
  await open(page, path, language);
}

async function doorOf(page: Page, mock: Mock, language: 'ar' | 'en'): Promise<void> {
  staff(mock);
  await open(page, '/studio', language);
  await page.locator('footer button').click();
  await page.locator('#login').waitFor();
}

const parts: Record<string, Set> = {
  door: doorOf,
  wrong: async (page, mock, language) => {
    await doorOf(page, mock, language);
    await page.locator('#login').fill('mona');
    await page.locator('#password').fill('no');
    await page.keyboard.press('Enter');
    await page.locator('.wrong:not(:empty)').waitFor();
  },
  code: async (page, mock, language) => {
    await doorOf(page, mock, language);
    await page.locator('#login').fill('mona');
    await page.locator('#password').fill('mona-password-1');
    await page.keyboard.press('Enter');
    await page.locator('#code').fill('123456');
  },
  people: async (page, mock, language) => {
    staff(mock);
    await as(page, 'mona', '/studio#/people', language);
    await page.locator('[data-user]').first().waitFor();
  },
  empty: async (page, mock, language) => {
    mock.control.key = '';
    await open(page, '/studio#/people', language);
    await page.locator('main section > button.key').waitFor();
  },
  add: async (page, mock, language) => {
    staff(mock);
    await as(page, 'mona', '/studio#/people', language);
    await page.locator('main section > button.key').click();
    await page.locator('dialog[open] input').first().fill('نور الدين');
    await page.locator('dialog[open] input').nth(1).fill('nour');
  },
  link: async (page, mock, language) => {
    staff(mock);
    await as(page, 'mona', '/studio#/people', language);
    await page.locator('[data-user=u5] .acts button').nth(1).click();
    await page.locator('dialog[open] code').waitFor();
  },
  detail: async (page, mock, language) => {
    staff(mock);
    await as(page, 'mona', '/studio#/people', language);
    await page.locator('[data-user=u1] .acts button').nth(2).click();
    await page.locator('dialog[open] li').first().waitFor();
  },
  remove: async (page, mock, language) => {
    staff(mock);
    await as(page, 'mona', '/studio#/people', language);
    await page.locator('[data-user=u2] .acts button').last().click();
    await page.locator('dialog[open]').waitFor();
  },
  log: async (page, mock, language) => {
    staff(mock);
    await as(page, 'mona', '/studio#/people/log', language);
    await page.locator('[data-order] summary').nth(4).click();
  },
  account: async (page, mock, language) => {
    staff(mock);
    await as(page, 'mona', '/studio#/account', language);
    await page.locator('#own-keys').waitFor();
  },
  factor: async (page, mock, language) => {
    staff(mock);
    await as(page, 'mona', '/studio#/account', language);
    await page.locator('[aria-labelledby=own-factor] button').first().click();
    await page.locator('dialog[open] input').fill('mona-password-1');
    await page.keyboard.press('Enter');
    await page.locator('dialog[open] svg[role=img]').waitFor();
  },
  codes: async (page, mock, language) => {
    await parts.factor?.(page, mock, language);
    await page.locator('dialog[open] .code').fill('123456');
    await page.keyboard.press('Enter');
    await page.locator('dialog[open] code').waitFor();
  },
  invited: async (page, mock, language) => {
    staff(mock);
    await open(page, `/studio#/invited/${mock.people.users[4]?.token}`, language);
    await page.locator('main form .key').waitFor();
  },
  welcome: async (page, mock, language) => {
    await parts.invited?.(page, mock, language);
    await page.locator('main form input[autocomplete=new-password]').fill('نهر طويل وقارب صغير');
    await page.keyboard.press('Enter');
    await page.locator('a.key').waitFor();
  },
  gone: async (page, mock, language) => {
    staff(mock);
    await open(page, '/studio#/invited/none', language);
    await page.locator('main .key').waitFor();
  },
  looks: async (page, mock, language) => {
    staff(mock);
    await as(page, 'سارة', '/studio#/programme', language);
    await page.locator('.looks').waitFor();
  },
};

for (const [part, set] of Object.entries(parts)) {
  for (const language of ['ar', 'en'] as const) {
    for (const [size, viewport] of Object.entries(sizes)) {
      for (const colorScheme of ['light', 'dark'] as const) {
        test(`people ${part} ${language} ${size} ${colorScheme}`, async ({ page, mock }) => {
          await page.setViewportSize(viewport);
          await page.emulateMedia({ colorScheme });
          await set(page, mock, language);
          await page.screenshot({ path: `shots/people-${part}-${language}-${size}-${colorScheme}.png`, fullPage: (await page.locator('dialog[open]').count()) === 0 });
        });
      }
    }
  }
}
