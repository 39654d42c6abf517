import type { Page } from '@playwright/test';
import { expect, expectAccessible, expectFits, expectNews, open, test as base } from './fixtures';
import type { Mock } from './mock/mock';
import type { Role } from '../src/studio/rights';

// Who works at the station: logging in, invitations, people, accounts, and the log of orders.

const test = base;
/** Passkeys want a name in the address, and take localhost for one. */
const named = base.extend({ baseURL: async ({ mock }, use) => use(mock.url.replace('127.0.0.1', 'localhost')) });

const door = (page: Page) => page.getByRole('dialog', { name: /Log in|One more step/ });
const tabs = (page: Page) => page.getByRole('navigation', { name: 'Sections of the studio' }).getByRole('link');
const footer = (page: Page) => page.getByRole('contentinfo');
const person = (page: Page, id: string) => page.locator(`[data-user=${id}]`);

/** Types a login into the door, and sends it. */
async function give(page: Page, login: string, password: string): Promise<void> {
  await door(page).getByLabel('Login name').fill(login);
  await door(page).getByLabel('Password', { exact: true }).fill(password);
  await door(page).getByLabel('Password', { exact: true }).press('Enter');
}

/** Opens the studio as somebody who is logged in. */
async function as(page: Page, mock: Mock, role: Role, path = '/studio', language: 'ar' | 'en' = 'en'): Promise<void> {
  const kept = mock.people.users.find(({ person: { role: has } }) => has === role) ?? mock.people.add(role, role);
  const answer = await page.request.post('/api/session', { data: { login: kept.person.login, password: kept.password, ...(kept.person.totp ? { code: mock.people.code } : {}) } });
  expect(answer.status()).toBe(200);
  await open(page, path, language);
  await expect(footer(page)).toContainText(kept.person.name);
}

/** A station with people in every state. */
function staff(mock: Mock): void {
  const { people } = mock;
  const mona = people.add('mona', 'owner', { name: 'منى الشاذلي', totp: true });
  people.loginOf(mona, 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1');
  people.loginOf(mona, 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0', 90_000_000);
  people.keyOf(mona, 'لوحة الأزرار', 'presenter', { until: Date.now() + 40 * 86_400_000 });
  mona.passkeys.push({ id: 'AAEC', name: 'Chrome · macOS', createdAt: Date.now() - 9e8, usedDay: 20_000 });
  people.add('omar', 'programme', { name: 'Omar Naguib' });
  people.add('huda', 'moderator', { name: 'هدى', locked: true });
  people.add('sara', 'presenter', { name: 'سارة' });
  const guest = people.add('adam', 'viewer', { name: 'Adam', password: false, seenAt: 0 });
  people.invite(guest);
  people.log({ user: 'u1', name: 'منى الشاذلي', way: 'session', order: 'PUT /api/people/{id}', target: 'هدى', detail: '{"locked":true}' });
  people.log({ user: 'u2', name: 'Omar Naguib', way: 'key', order: 'PUT /api/station/config', detail: '{"AD_EVERY":12}', status: 422 });
  people.log({ order: 'POST /api/station/of/tomorrow', status: 500 });
  people.log({ way: 'station key', order: 'POST /api/people', target: 'mona', status: 0, address: '' });
  people.log({ user: 'u4', name: 'سارة', way: 'session', order: 'POST /api/station/skip', target: 'ليل القاهرة' });
}

/** Logs out, and waits for the page that comes then: a browser may hang that is closed while a page is on its way. */
async function logOut(page: Page): Promise<void> {
  const again = page.waitForEvent('load');
  await footer(page).getByRole('button', { name: 'Log out' }).click();
  await again;
}

test('a login opens the door: wrong is said, right lets the order go on, and no page sees a key', async ({ page, mock }) => {
  mock.people.add('sara', 'presenter', { name: 'سارة' });
  await open(page, '/studio', 'en');
  await expect(footer(page).getByRole('button', { name: 'Log in' })).toBeVisible();
  await page.getByRole('button', { name: 'Skip' }).click();
  await door(page).getByRole('button', { name: 'Log in', exact: true }).click();
  await expect(page.getByRole('alert')).toHaveText('Type your login name and your password.');
  await give(page, 'sara', 'not it');
  await expect(page.getByRole('alert')).toHaveText('The login name or the password is wrong.');
  await give(page, 'sara', 'sara-password-1');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expectNews(page, 'On the air: ZAP');
  await expect(footer(page)).toContainText('سارة');
  await expect(footer(page)).toContainText('Presenter');
  expect(await page.evaluate(() => [sessionStorage.length, localStorage.getItem('athir.station-key')])).toEqual([0, null]);
  await page.reload();
  await expect(footer(page)).toContainText('Presenter');
  await logOut(page);
  await expect(footer(page).getByRole('button', { name: 'Log in' })).toBeVisible();
  expect(mock.people.logins).toEqual([]);
});

test('a second factor is asked for: a wrong code, the app’s, and a recovery code that works once', async ({ page, mock }) => {
  const sara = mock.people.add('sara', 'presenter', { totp: true });
  await open(page, '/studio', 'en');
  await footer(page).getByRole('button', { name: 'Log in' }).click();
  await give(page, 'sara', 'sara-password-1');
  const code = door(page).getByLabel('Verification code');
  await expect(code).toBeFocused();
  await expect(code).toHaveAttribute('autocomplete', 'one-time-code');
  await expect(code).toHaveAttribute('inputmode', 'numeric');
  await code.fill('000000');
  await code.press('Enter');
  await expect(page.getByRole('alert')).toHaveText('This code is wrong, or its time is over.');
  await code.fill('123 456');
  await code.press('Enter');
  await expect(footer(page)).toContainText('sara');
  await logOut(page);

  await footer(page).getByRole('button', { name: 'Log in' }).click();
  await give(page, 'sara', 'sara-password-1');
  await door(page).getByRole('button', { name: 'Use a recovery code' }).click();
  const [recovery = ''] = sara.recovery;
  await door(page).getByLabel('Recovery code').fill(recovery);
  await door(page).getByLabel('Recovery code').press('Enter');
  await expect(footer(page)).toContainText('sara');
  expect(mock.people.entered).toEqual(['code', 'recovery']);
  expect(sara.recovery).toHaveLength(9);
});

test('too many wrong logins: the door says how long it stays shut; a station that is away is said', async ({ page, mock }) => {
  mock.people.patience = 1;
  mock.people.add('sara', 'presenter');
  await page.clock.install();
  await open(page, '/studio', 'en');
  await footer(page).getByRole('button', { name: 'Log in' }).click();
  await give(page, 'sara', 'one');
  await expect(page.getByRole('alert')).toHaveText('The login name or the password is wrong.');
  await give(page, 'sara', 'two');
  await expect(page.getByRole('alert')).toContainText(/Too many wrong attempts.*min/);
  const enter = door(page).getByRole('button', { name: 'Log in', exact: true });
  await expect(enter).toBeDisabled();
  mock.people.forgive();
  await page.clock.fastForward(601_000);
  await expect(enter).toBeEnabled();
  mock.apiDown = true;
  await give(page, 'sara', 'sara-password-1');
  await expect(page.getByRole('alert')).toContainText('The station is not answering.');
  mock.apiDown = false;
  await enter.click();
  await expect(footer(page)).toContainText('Presenter');
});

test('the station key opens the door beside the login, and leads to the people', async ({ page, mock }) => {
  mock.people.add('sara', 'presenter');
  await open(page, '/studio', 'en');
  await page.getByRole('button', { name: 'Rebuild' }).click();
  await door(page).getByRole('button', { name: 'Use the station key instead' }).click();
  const byKey = page.getByRole('dialog', { name: 'The station’s key' });
  await byKey.getByRole('button', { name: 'Log in with a name and password' }).click();
  await door(page).getByRole('button', { name: 'Use the station key instead' }).click();
  await byKey.getByLabel('Station key').fill(mock.control.key);
  await byKey.getByLabel('Station key').press('Enter');
  await expectNews(page, 'The rotation was rebuilt.');
  await expect(footer(page).getByRole('button', { name: 'Forget the key' })).toBeVisible();
  await tabs(page).filter({ hasText: 'People' }).click();
  await expect(person(page, 'u1')).toContainText('Presenter');
});

named('a passkey is added and lets in without a password', async ({ page, mock }) => {
  const sara = mock.people.add('sara', 'presenter');
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', { options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true } });
  await as(page, mock, 'presenter', '/studio#/account');
  const panel = page.getByRole('region', { name: 'Passkeys' });
  await panel.getByRole('button', { name: 'Add a passkey' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add a passkey' });
  await expect(dialog.getByLabel('Name to know it by')).toHaveValue('Chrome · Linux');
  await dialog.getByLabel('Your password').fill('wrong one');
  await dialog.getByRole('button', { name: 'Go on' }).click();
  await expect(dialog.getByRole('alert')).toHaveText('This is not your password.');
  await dialog.getByLabel('Your password').fill('sara-password-1');
  await dialog.getByRole('button', { name: 'Go on' }).click();
  await expectNews(page, 'The passkey is added.');
  await expect(panel.getByRole('listitem')).toContainText('Chrome · Linux');

  await footer(page).getByRole('button', { name: 'Log out' }).click();
  await footer(page).getByRole('button', { name: 'Log in' }).click();
  await door(page).getByRole('button', { name: 'Log in with a passkey' }).click();
  await expect(footer(page)).toContainText('sara');
  expect(mock.people.entered.at(-1)).toBe('passkey');

  await page.goto('/studio#/account');
  await panel.getByRole('button', { name: /Remove the passkey/ }).click();
  await page.getByRole('dialog', { name: /Remove the passkey/ }).getByRole('button', { name: 'Remove' }).click();
  await expectNews(page, 'The passkey is removed.');
  expect(sara.passkeys).toEqual([]);
});

test('an invitation leads from its link to the studio, and its token leaves the address', async ({ page, mock }) => {
  mock.people.add('mona', 'owner');
  const guest = mock.people.add('adam', 'moderator', { name: 'Adam', password: false, seenAt: 0 });
  const { token } = mock.people.invite(guest);
  await open(page, `/studio#/invited/${token}`, 'en');
  await expect(page.getByText('This invitation is for Adam.')).toBeVisible();
  await expect(page.getByText('Moderator')).toBeVisible();
  expect(page.url()).toMatch(/#\/invited$/);
  const password = page.getByLabel('Password', { exact: true });
  await password.fill('too short');
  await password.press('Enter');
  await expect(page.getByRole('alert')).toHaveText('A password has at least 12 characters.');
  await password.fill('aaaaaaaaaaaaaa');
  await password.press('Enter');
  await expect(page.getByRole('alert')).toContainText('This password is too easy to guess.');
  await page.getByLabel('Show the password').check();
  await password.fill('نهر طويل وقارب صغير');
  await page.getByRole('button', { name: 'Set the password and log in' }).press('Enter');
  await expect(page.getByRole('heading', { name: 'You are logged in' })).toBeFocused(); // the form is gone
  await expect(page.getByRole('region', { name: 'Second factor' })).toBeVisible();
  await page.getByRole('link', { name: 'To the studio' }).click();
  await expect(footer(page)).toContainText('Adam');
  await expect(page.getByRole('button', { name: 'Skip' })).toHaveCount(0);

  await page.goto('/chat');
  await page.goto(`/studio#/invited/${token}`); // it was used
  await expect(page.getByRole('heading', { name: 'This link does not hold any more' })).toBeVisible();
  await expect(page.getByText('Ask an owner of the station for a new link.')).toBeVisible();
});

test('a link does not stand for a second factor: the password is set, and the login asks for the code', async ({ page, mock }) => {
  const mona = mock.people.add('mona', 'owner', { totp: true });
  await open(page, `/studio#/invited/${mock.people.invite(mona).token}`, 'en');
  await page.getByLabel('Password', { exact: true }).fill('a river and a small boat');
  await page.getByRole('button', { name: 'Set the password and log in' }).click();
  await expect(page.getByRole('heading', { name: 'Your password is set' })).toBeVisible();
  await page.getByRole('main').getByRole('button', { name: 'Log in' }).click();
  await give(page, 'mona', 'a river and a small boat');
  await door(page).getByLabel('Verification code').fill(mock.people.code);
  await door(page).getByLabel('Verification code').press('Enter');
  await expect(footer(page)).toContainText('Owner');
  await expect(page).toHaveURL(/#\/air$/);
});

test('an owner adds, changes, locks and removes somebody; the last owner stays', async ({ page, mock, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  mock.people.add('mona', 'owner', { name: 'Mona' });
  await as(page, mock, 'owner', '/studio#/people');
  await page.getByRole('button', { name: 'Add somebody' }).click();
  const form = page.getByRole('dialog', { name: 'Add somebody' });
  await form.getByLabel('Name', { exact: true }).fill('سارة');
  await form.getByLabel('Login name').fill('mona');
  await form.getByRole('radio', { name: 'Moderator' }).check();
  await form.getByRole('button', { name: 'Make the invitation' }).click();
  await expect(form.getByRole('alert')).toHaveText('This login name is taken.');
  await form.getByLabel('Login name').fill('sara');
  await form.getByRole('button', { name: 'Make the invitation' }).click();
  const link = page.getByRole('dialog', { name: /The link for/ });
  await expect(link.getByLabel('Invitation link')).toContainText(`${mock.url}/studio#/invited/t`);
  await link.getByRole('button', { name: 'Copy' }).click();
  await expect(link.getByRole('status')).toHaveText('Copied.');
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(mock.people.users[1]?.token);
  await link.getByRole('button', { name: 'Close' }).click();
  const sara = person(page, mock.people.users[1]!.person.id);
  await expect(sara).toContainText('invited, not here yet');

  await sara.getByRole('button', { name: 'Change' }).click();
  await page.getByRole('dialog', { name: /Change/ }).getByRole('radio', { name: 'Presenter' }).check();
  await page.getByRole('dialog', { name: /Change/ }).getByRole('button', { name: 'Save' }).click();
  await expect(sara).toContainText('Presenter');
  await sara.getByRole('button', { name: 'Lock' }).click();
  await page.getByRole('dialog', { name: /^Lock/ }).getByRole('button', { name: 'Lock' }).click();
  await expectNews(page, /is locked/);
  await sara.getByRole('button', { name: 'Unlock' }).click();
  await expectNews(page, /may log in again/);
  await sara.getByRole('button', { name: 'Remove', exact: true }).click();
  const sure = page.getByRole('dialog', { name: /^Remove/ });
  await expect(sure).toContainText('This cannot be undone');
  await sure.getByRole('button', { name: 'Remove' }).click();
  await expect(sara).toHaveCount(0);

  await person(page, 'u1').getByRole('button', { name: 'Remove', exact: true }).click();
  await sure.getByRole('button', { name: 'Remove' }).click();
  await expectNews(page, 'The station needs an owner.');
  await person(page, 'u1').getByRole('button', { name: 'Change' }).click();
  await page.getByRole('dialog', { name: /Change/ }).getByRole('radio', { name: 'Viewer' }).check();
  await page.getByRole('dialog', { name: /Change/ }).getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('dialog', { name: /Change/ }).getByRole('alert')).toHaveText('The station needs an owner. Make somebody else an owner first.');
});

test('an owner ends logins and keys of others, and takes a lost phone’s factor away', async ({ page, mock }) => {
  staff(mock);
  mock.people.add('lost', 'viewer', { totp: true });
  await as(page, mock, 'owner', '/studio#/people');
  await person(page, 'u1').getByRole('button', { name: 'Logins and keys' }).click();
  const sheet = page.getByRole('dialog', { name: /Logins and keys of/ });
  await sheet.getByRole('button', { name: 'Log out there: Safari on iPhone' }).click();
  await expectNews(page, 'The login is ended.');
  await sheet.getByRole('button', { name: /Remove the key/ }).click();
  await expectNews(page, 'The key is removed.');
  await expect(sheet.getByRole('button', { name: /Remove the key/ })).toHaveCount(0);
  await sheet.getByRole('button', { name: 'Close' }).click();
  const lost = page.locator('[data-user]').filter({ hasText: 'lost' });
  await lost.getByRole('button', { name: 'Remove second factor and passkeys' }).click();
  await page.getByRole('dialog', { name: /Remove the second factor/ }).getByRole('button', { name: 'Remove second factor and passkeys' }).click();
  await expect(lost).toContainText('no second factor');
});

test('a station without a key says that users restrict nobody, and what people are for', async ({ page, mock }) => {
  mock.control.key = '';
  await open(page, '/studio#/people', 'en');
  await expect(page.getByRole('note')).toContainText('until station_key stands in athir.yaml');
  await expect(page.getByText('There is nobody yet.')).toBeVisible();
  await page.getByRole('button', { name: 'Add somebody' }).click();
  await expect(page.getByRole('radio', { name: 'Owner' })).toBeChecked(); // the first is one
});

const looked = ['Air', 'Programme', 'Library', 'Production', 'Live', 'Podcasts', 'Listeners', 'Requests'];
const sections: Record<Role, string[]> = {
  owner: [...looked, 'Posts', 'Station', 'Log', 'People'], programme: [...looked, 'Posts', 'Station', 'Log'], moderator: [...looked, 'Posts', 'Station'], presenter: [...looked, 'Station'], viewer: [...looked, 'Station'],
};
const barred: Record<Role, string[]> = {
  owner: [], programme: [], moderator: ['air', 'programme', 'library', 'production', 'live', 'podcasts', 'station'], presenter: ['programme', 'library', 'production', 'podcasts', 'listeners', 'station'], viewer: ['air', 'programme', 'library', 'production', 'live', 'podcasts', 'listeners', 'requests', 'station'],
};
for (const role of Object.keys(sections) as Role[]) {
  test(`the ${role} sees their sections, and where they only look that is said`, async ({ page, mock }) => {
    await as(page, mock, role);
    await expect(tabs(page)).toHaveText(sections[role].map((name) => new RegExp(`^${name}`)));
    for (const view of ['air', 'programme', 'library', 'production', 'live', 'podcasts', 'listeners', 'requests', 'station']) {
      await page.goto(`/studio#/${view}`);
      await expect(page.locator('header nav [aria-current=page]')).toHaveAttribute('href', `#/${view}`);
      await expect(page.getByRole('note').filter({ hasText: 'change nothing in it' })).toHaveCount(barred[role].includes(view) ? 1 : 0);
    }
    await expect(page.getByRole('button', { name: 'Skip' })).toHaveCount(['owner', 'programme', 'presenter'].includes(role) ? 1 : 0);
    await page.goto('/studio#/listeners');
    await expect(page.getByRole('heading', { name: 'Dead-air guard' })).toBeVisible();
    await expect(page.locator('section[aria-labelledby=moderation]')).toHaveCount(['owner', 'programme', 'moderator'].includes(role) ? 1 : 0);
    await page.goto('/studio#/people');
    await expect(page.getByRole('heading', { name: 'People' })).toHaveCount(role === 'owner' ? 1 : 0);
  });
}

test('an order without the right to it is refused in the page’s language', async ({ page, mock }) => {
  const sara = mock.people.add('sara', 'presenter');
  await as(page, mock, 'presenter', '/studio', 'ar');
  await expect(page.getByRole('button', { name: 'إعادة البناء' })).toBeVisible();
  sara.person.role = 'viewer'; // an owner took it while the page was open
  await page.getByRole('button', { name: 'إعادة البناء' }).click();
  await expectNews(page, 'دورك لا يتيح التحكم في البث.');
});

test('a login that ends amid an order is asked for anew, and the order goes on', async ({ page, mock }) => {
  mock.people.add('sara', 'presenter');
  await as(page, mock, 'presenter');
  mock.people.endAll();
  await page.getByRole('button', { name: 'Rebuild' }).click();
  await expect(door(page)).toContainText('Your login has ended.');
  expect(mock.control.taken).toEqual([]);
  await give(page, 'sara', 'sara-password-1');
  await expectNews(page, 'The rotation was rebuilt.');
  mock.people.endAll();
  await page.getByRole('button', { name: 'Rebuild' }).click();
  await door(page).getByRole('button', { name: 'Close' }).click();
  await expectNews(page, 'Nothing was done: log in first.');
  expect(mock.control.taken.map(({ order }) => order)).toEqual(['POST rotation/rebuild']);
});

test('a login is known although the first answer was lost on its way', async ({ page, mock }) => {
  const kept = mock.people.add('presenter', 'presenter');
  await page.request.post('/api/session', { data: { login: kept.person.login, password: kept.password } });
  let lost = 0;
  await page.route('**/api/session', (route) => (++lost > 2 ? route.fallback() : route.abort()));
  await open(page, '/studio', 'en');
  await expect(footer(page)).toContainText(kept.person.name);
  await expect(page.locator('[data-place] .grip').first()).toBeVisible(); // and so is what they may do
});

test('a studio that nobody may look at asks at once', async ({ page, mock }) => {
  mock.people.look = false;
  mock.people.add('sara', 'viewer');
  await open(page, '/studio', 'en');
  await expect(door(page)).toBeVisible();
  await expect(tabs(page)).toHaveCount(0);
  await door(page).getByRole('button', { name: 'Close' }).click();
  await expect(page.getByText('This studio opens to those who log in.')).toBeVisible();
  await page.getByRole('main').getByRole('button', { name: 'Log in' }).click();
  await give(page, 'sara', 'sara-password-1');
  await expect(tabs(page)).toHaveCount(9);
});

test('one’s own account: password, second factor with its codes, keys and logins', async ({ page, mock }) => {
  const sara = mock.people.add('sara', 'presenter');
  mock.people.loginOf(sara, 'Mozilla/5.0 (Android 15; Mobile; rv:133.0) Gecko/133.0 Firefox/133.0');
  mock.people.loginOf(sara, 'curl/8.5.0');
  await as(page, mock, 'presenter');
  await footer(page).getByRole('link', { name: 'Your account' }).click();

  const logins = page.getByRole('region', { name: 'Where you are logged in' });
  await expect(logins.getByRole('listitem').first()).toContainText('this browser');
  await logins.getByRole('button', { name: 'Log out there: curl' }).click();
  await expect(logins.getByRole('listitem')).toHaveCount(2);
  await logins.getByRole('button', { name: 'Log out everywhere else' }).click();
  await expect(logins.getByRole('listitem')).toHaveCount(1);

  await page.getByRole('button', { name: 'Change the password' }).click();
  const change = page.getByRole('dialog', { name: 'Change the password' });
  await change.getByLabel('Present password').fill('wrong');
  await change.getByLabel('New password').fill('a river and a small boat');
  await change.getByRole('button', { name: 'Change' }).click();
  await expect(change.getByRole('alert')).toHaveText('This is not your password.');
  await change.getByLabel('Present password').fill('sara-password-1');
  await change.getByRole('button', { name: 'Change' }).click();
  await expectNews(page, 'The password is changed.');
  expect(sara.password).toBe('a river and a small boat');

  const factor = page.getByRole('region', { name: 'Second factor' });
  await factor.getByRole('button', { name: 'Turn on' }).click();
  const dialog = page.getByRole('dialog', { name: 'Turn on the second factor' });
  await dialog.getByLabel('Your password').fill(sara.password);
  await dialog.getByRole('button', { name: 'Go on' }).click();
  await expect(dialog.getByRole('img', { name: 'QR code for the authenticator app' })).toBeVisible();
  expect(await dialog.locator('svg path').getAttribute('d')).toMatch(/^M4 4h7v1h-7z/); // four modules of quiet zone
  await expect(dialog.getByText('JBSW Y3DP')).toBeVisible();
  await dialog.getByLabel('The code that the app shows now').fill('111111');
  await dialog.getByRole('button', { name: 'Turn on' }).click();
  await expect(dialog.getByRole('alert')).toContainText('This code is wrong.');
  await dialog.getByLabel('The code that the app shows now').fill('123456');
  await dialog.getByRole('button', { name: 'Turn on' }).click();
  const codes = page.getByRole('dialog', { name: 'Keep these recovery codes' });
  await expect(codes.locator('code')).toContainText(sara.recovery.join('\n'));
  const [file] = await Promise.all([page.waitForEvent('download'), codes.getByRole('button', { name: 'Save as a file' }).click()]);
  expect(file.suggestedFilename()).toBe('athir-recovery-codes.txt');
  await codes.getByRole('button', { name: 'I have kept them' }).click();
  await expect(factor).toContainText('10 recovery codes are left.');
  await factor.getByRole('button', { name: 'Turn off' }).click();
  await page.getByRole('dialog', { name: 'Turn off the second factor?' }).getByLabel('Your password').fill(sara.password);
  await page.getByRole('dialog', { name: 'Turn off the second factor?' }).getByRole('button', { name: 'Turn off' }).click();
  await expect(factor).toContainText('It is off.');

  const keys = page.getByRole('region', { name: 'Keys of programs' });
  await keys.getByRole('button', { name: 'Make a key' }).click();
  const form = page.getByRole('dialog', { name: 'A key for a program' });
  await form.getByLabel('What it is for').fill('deck');
  await expect(form.getByLabel('It may act as').getByRole('option')).toHaveText(['Presenter', 'Viewer']); // never more than oneself
  await form.getByLabel('Your password').fill(sara.password);
  await form.getByRole('button', { name: 'Make the key' }).click();
  const made = page.getByRole('dialog', { name: 'The key “deck”' });
  await expect(made.locator('code')).toContainText('athir_kkk');
  await made.getByRole('button', { name: 'Close' }).click();
  await keys.getByRole('button', { name: 'Remove the key deck' }).click();
  await page.getByRole('dialog', { name: /Remove the key/ }).getByRole('button', { name: 'Remove' }).click();
  await expect(keys).toContainText('No program has a key of yours.');
});

test('the log of orders says who ordered what, how it went, and goes back page by page', async ({ page, mock }) => {
  staff(mock);
  const rows = page.locator('[data-order]');
  await as(page, mock, 'owner', '/studio#/people/log');
  const row = (text: string) => rows.filter({ hasText: text });
  await expect(row('Skipped the track')).toContainText('سارة');
  await expect(row('Skipped the track')).toContainText('logged in');
  await expect(row('Changed the programme')).toContainText('by a key');
  await expect(row('Changed the programme')).toContainText('refused');
  await expect(row('POST /api/station/of/tomorrow')).toContainText('failed');
  await expect(row('POST /api/station/of/tomorrow')).toContainText('Station key');
  await expect(row('Added somebody')).toContainText('Station key');
  await expect(row('Added somebody')).toContainText('outcome not known');
  await row('Changed the programme').getByText('Details').click();
  await expect(row('Changed the programme').locator('dl')).toContainText('AD_EVERY');
  await expect(row('Changed the programme').locator('dl')).toContainText('203.0.113.7');
  await page.locator('header select').selectOption({ label: 'Omar Naguib' });
  await expect(rows).toHaveCount(1);
  await page.locator('header select').selectOption({ label: 'Adam' });
  await expect(page.getByText('No order of theirs yet.')).toBeVisible();
  for (let i = 0; i < 60; i++) mock.people.log({});
  await page.locator('header select').selectOption({ label: 'Everybody' });
  await expect(rows).toHaveCount(50);
  await page.getByRole('button', { name: 'Older' }).click();
  await expect(row('POST /api/station/of/tomorrow')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Older' })).toHaveCount(0);
});

test('who is logged in writes in the chat as the station with a ticket, a new one at each connect', async ({ page, mock }) => {
  mock.people.add('huda', 'moderator', { name: 'Huda' });
  const answer = await page.request.post('/api/session', { data: { login: 'huda', password: 'huda-password-1' } });
  expect(answer.ok()).toBe(true);
  await open(page, '/chat#staff', 'en');
  await expect(page.getByText('You are logged in as Huda')).toBeVisible();
  await expect(page.locator('#staff-key')).toHaveCount(0);
  await page.locator('form button[type=submit]').click();
  await page.locator('textarea').fill('good evening from the desk');
  await page.keyboard.press('Enter');
  const message = page.locator('article').filter({ hasText: 'from the desk' });
  await expect(message.locator('.staff')).toHaveText('Station');
  expect(mock.audience.shown.at(-1)).toMatch(/^ticket-/);
  const [first, count] = [mock.audience.shown.at(-1), mock.audience.shown.length];
  mock.audience.close();
  await expect.poll(() => mock.audience.shown.length).toBeGreaterThan(count);
  expect(mock.audience.shown.at(-1)).toMatch(/^ticket-/);
  expect(mock.audience.shown.at(-1)).not.toBe(first);
  await expect(page.locator('textarea')).toBeEnabled();
  await message.locator('.act').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete for everyone' }).click();
  await expect(message).toHaveCount(0);
  expect(mock.operator.taken.map(({ order }) => order)).toEqual(['DELETE chat/messages/m1']);
  mock.people.endAll();
  mock.audience.close();
  await expect(page.getByRole('alert').filter({ hasText: 'Your login has ended.' })).toBeVisible();
});

test('by the keyboard alone one logs in and adds somebody', async ({ page, mock }) => {
  mock.people.add('mona', 'owner');
  await open(page, '/studio#/people', 'en');
  await expect(door(page).getByLabel('Login name')).toBeFocused();
  await page.keyboard.type('mona');
  await page.keyboard.press('Tab');
  await page.keyboard.type('mona-password-1');
  await page.keyboard.press('Enter');
  const add = page.getByRole('button', { name: 'Add somebody' });
  await expect(add).toBeVisible();
  await add.focus();
  await page.keyboard.press('Enter');
  const form = page.getByRole('dialog', { name: 'Add somebody' });
  await expect(form.getByLabel('Name', { exact: true })).toBeFocused();
  await page.keyboard.type('Sara');
  await page.keyboard.press('Tab');
  await page.keyboard.type('sara');
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowDown'); // from presenter to viewer
  await expect(form.getByRole('radio', { name: 'Viewer' })).toBeChecked();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog', { name: /The link for/ })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.locator('[data-user]')).toHaveCount(2);
});

for (const language of ['ar', 'en'] as const) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(`axe finds nothing among people, and all fits: ${language} ${colorScheme}`, async ({ page, mock }) => {
      await page.emulateMedia({ colorScheme });
      staff(mock);
      const look = async () => {
        for (const width of [390, 768, 1920]) await expectFits(page, { width, height: 900 });
        await page.setViewportSize({ width: 390, height: 844 });
        await expectAccessible(page);
      };
      await open(page, '/studio#/people', language);
      await expect(page.locator('#login')).toBeFocused();
      await look();
      await page.locator('#login').fill('mona');
      await page.locator('#password').fill('mona-password-1');
      await page.keyboard.press('Enter');
      await expect(page.locator('#code')).toBeFocused();
      await look();
      await page.locator('#code').fill('123456');
      await page.keyboard.press('Enter');
      await expect(page.locator('[data-user]')).toHaveCount(5);
      await look();
      await page.locator('main section > button.key').click();
      await expect(page.locator('dialog[open]')).toBeVisible();
      await look();
      await page.keyboard.press('Escape');
      await person(page, 'u1').getByRole('button', { name: /Logins and keys|الجلسات والمفاتيح/ }).click();
      await expect(page.locator('dialog[open] li')).toHaveCount(5);
      await look();
      await page.keyboard.press('Escape');
      await page.goto('/studio#/people/log');
      await expect(page.locator('[data-order]').first()).toBeVisible();
      await page.locator('summary').first().click();
      await look();
      await page.goto('/studio#/account');
      await expect(page.locator('#own-keys')).toBeVisible();
      await look();
      await page.locator('[aria-labelledby=own-factor] button').first().click();
      await page.locator('dialog[open] input').fill('mona-password-1');
      await page.keyboard.press('Enter');
      await expect(page.locator('dialog[open] svg[role=img]')).toBeVisible();
      await look();
      await page.keyboard.press('Escape');
      await page.goto('/chat');
      await page.goto(`/studio#/invited/${mock.people.invite(mock.people.users[4]!).token}`);
      await expect(page.locator('main form .key')).toBeVisible();
      await look();
      await page.goto('/chat');
      await page.goto('/studio#/invited/none');
      await expect(page.locator('main h2')).toBeVisible();
      await look();
    });
  }
}
