import type { Page } from '@playwright/test';
import { expect, expectNews, open, test } from './fixtures';

// People on a real station, with passkeys of the browser's own authenticator:
// ATHIR_URL=http://localhost:5000 ATHIR_KEY=… ATHIR_PEOPLE=1 npm run e2e -- comein
// The station must have no users yet.

const { ATHIR_KEY: key = '' } = process.env;
const password = 'النهر كان منخفضا في أغسطس';
const footer = (page: Page) => page.getByRole('contentinfo');
const door = (page: Page) => page.getByRole('dialog', { name: /Log in|One more step/ });

/** Opens the link that the owner was given, and sets the password of whom it is for. */
async function accept(page: Page, link: string): Promise<void> {
  await page.goto('/chat'); // another page, so that the link is opened and not turned to
  await open(page, link, 'en');
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Set the password and log in' }).click();
  await expect(page.getByRole('heading', { name: 'You are logged in' })).toBeVisible();
}

test('@people the first owner is added, comes in, makes a passkey and adds a presenter, whose orders are in the log', async ({ page, guest, faults }) => {
  await open(page, '/studio#/people', 'en');
  await page.getByLabel('Station key').fill(key);
  await page.keyboard.press('Enter');
  const add = async (of: Page, name: string, login: string, role: string): Promise<string> => {
    await of.getByRole('button', { name: 'Add somebody' }).click();
    const form = of.getByRole('dialog', { name: 'Add somebody' });
    await form.getByLabel('Name', { exact: true }).fill(name);
    await form.getByLabel('Login name').fill(login);
    await form.getByRole('radio', { name: role }).check();
    await form.getByRole('button', { name: 'Make the invitation' }).click();
    const link = of.getByRole('dialog', { name: /The link for/ });
    const text = (await link.getByLabel('Invitation link').textContent()) ?? '';
    await link.getByRole('button', { name: 'Close' }).click();
    return text.trim().replace(/^.*\/studio/, '/studio');
  };
  const own = await add(page, 'منى', 'mona', 'Owner');
  await accept(page, own);

  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', { options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true } });
  await page.goto('/studio#/account');
  const panel = page.getByRole('region', { name: 'Passkeys' });
  await panel.getByRole('button', { name: 'Add a passkey' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add a passkey' });
  await dialog.getByLabel('Your password').fill(password);
  await dialog.getByRole('button', { name: 'Go on' }).click();
  await expectNews(page, 'The passkey is added.');
  await footer(page).getByRole('button', { name: 'Log out' }).click();
  await door(page).getByRole('button', { name: 'Log in with a passkey' }).click();
  await expect(footer(page)).toContainText('منى');

  await page.goto('/studio#/people');
  const link = await add(page, 'سارة', 'sara', 'Presenter');
  await accept(guest, link);
  await guest.getByRole('link', { name: 'To the studio' }).click();
  await expect(footer(guest)).toContainText('سارة');
  const answered = guest.waitForResponse('**/api/station/skip');
  await guest.getByRole('button', { name: 'Skip' }).click();
  expect((await answered).status()).toBe(200);
  await page.goto('/studio#/people/log');
  await expect(page.locator('[data-order]').filter({ hasText: 'Skipped the track' })).toContainText('سارة');

  // Locked, she is out with her next order.
  await page.goto('/studio#/people');
  const row = page.locator('[data-user]').filter({ hasText: 'سارة' });
  await row.getByRole('button', { name: 'Lock' }).click();
  await page.getByRole('dialog', { name: /^Lock/ }).getByRole('button', { name: 'Lock' }).click();
  await expectNews(page, /is locked/);
  await guest.getByRole('button', { name: 'Skip' }).click();
  await expect(door(guest)).toBeVisible();
  expect(faults.errors).toEqual([]);
});
