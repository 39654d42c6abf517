import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '@playwright/test';
import { enter, expect, expectNews, open, test, write } from './fixtures';

// The operator's hand on a real station, given its key: ATHIR_URL=… ATHIR_KEY=… npm run e2e
const key = process.env.ATHIR_KEY ?? '';

async function atDesk(page: Page): Promise<void> {
  await open(page, '/studio#/listeners', 'en');
  await page.getByRole('main').getByRole('button', { name: 'Open' }).click();
  await page.getByLabel('Station key').fill(key);
  await page.keyboard.press('Enter');
  await expect(page.locator('#moderation')).toBeVisible();
}

test('the operator deletes, mutes, slows and forbids words, and the listener is told what to do', { tag: '@key' }, async ({ page, guest }) => {
  const mark = Math.random().toString(36).slice(2, 10);
  await enter(guest, `Omar ${mark}`, 'en');
  await write(guest, `buy pills ${mark}`);
  const said = guest.locator('article').filter({ hasText: `pills ${mark}` });
  await expect(said).toHaveCount(1);
  await atDesk(page);

  const found = page.locator('.found li').filter({ hasText: mark }).first();
  await found.getByRole('button', { name: /^Delete the message of Omar/ }).click();
  await expect(said).toHaveCount(0);
  await expect(found).toHaveAttribute('data-state', 'deleted'); // its words are gone, its author is not

  await found.getByRole('button', { name: /^Mute or ban Omar/ }).click();
  await page.getByLabel('Reason, which they will see').fill('spam');
  await page.getByRole('dialog').getByRole('button', { name: 'Mute', exact: true }).click();
  await expectNews(page, 'Muted.');
  await write(guest, `again ${mark}`);
  await expect(guest.locator('.pending')).toContainText('read but not write');
  await page.getByRole('button', { name: 'Lift' }).first().click();
  await expectNews(page, 'Lifted.');
  await guest.getByRole('button', { name: 'Send again' }).click();
  await expect(guest.locator('article').filter({ hasText: `again ${mark}` })).toHaveCount(1);

  const before = await page.locator('#words').inputValue();
  await page.locator('#words').fill(`${before}\nkhara${mark}`);
  await page.getByRole('button', { name: 'Save' }).click();
  await expectNews(page, 'Word list saved.');
  await write(guest, `what a khara${mark}`);
  await expect(guest.locator('.pending')).toContainText('a word that is not used here');
  await guest.getByRole('button', { name: 'Discard' }).click();
  await page.locator('#words').fill(before);
  await page.getByRole('button', { name: 'Save' }).click();

  const room = page.locator('[data-kept=main]');
  await room.getByRole('checkbox', { name: 'Closed' }).click(); // a look that was under way may take the tick away once more
  await expect(guest.locator('.state')).toContainText('The room is closed');
  await room.getByRole('checkbox', { name: 'Closed' }).click(); // or tick it
  await expect(guest.locator('textarea')).toBeVisible();
  await expect(page.locator('section[aria-labelledby=moderation]')).toContainText('word list');
});

test('a webhook is made, tried and removed; the listeners and the guard are seen', { tag: '@key' }, async ({ page }) => {
  const taken: string[] = [];
  const taker = createServer((request, response) => {
    taken.push(String(request.headers['webhook-signature'] ?? ''));
    response.end();
  });
  await new Promise<void>((done) => taker.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(taker.address() as AddressInfo).port}/hook`;
  try {
    await atDesk(page);
    const hooks = page.locator('section[aria-labelledby=hooks]');
    await hooks.getByLabel('Address (https)').fill(url);
    await hooks.getByRole('checkbox', { name: /^bulletin\.made/ }).check(); // nothing but the test message comes
    await hooks.getByRole('button', { name: 'Add' }).click();
    await expect(hooks.locator('.secret')).toContainText('whsec_');
    const mine = hooks.locator('[data-hook]').filter({ hasText: url });
    await mine.getByRole('button', { name: 'Test' }).click();
    await expect(mine.locator('[data-delivery]').first()).toBeVisible();
    await expect(mine.locator('[data-delivery]').first()).toHaveAttribute('data-delivery', 'delivered');
    expect(taken[0]).toMatch(/^v1,/);
    await mine.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await expect(mine).toHaveCount(0);
  } finally {
    taker.close();
  }
  await expect(page.locator('[data-guard]')).toHaveAttribute('data-guard', /watching|starting|off/);
  await expect(page.locator('section[aria-labelledby=listeners-chart] .chart')).toBeVisible();
  await expect(page.locator('section[aria-labelledby=airings] tbody tr').first()).toBeVisible();
});

test('the operator writes as the station, and deletes and mutes from the message itself', { tag: '@key' }, async ({ page, guest }) => {
  const mark = Math.random().toString(36).slice(2, 10);
  await enter(guest, `Omar ${mark}`, 'en');
  await write(guest, `hello ${mark}`);
  await page.clock.install();
  await open(page, '/chat#staff', 'en');
  await page.getByLabel('Name that listeners see').fill('أثير');
  await page.getByLabel('Station key').fill(key);
  await page.keyboard.press('Enter');
  await write(page, `from the desk ${mark}`);
  await expect(guest.locator('article').filter({ hasText: `from the desk ${mark}` }).locator('.staff')).toHaveText('Station');
  const said = page.locator('article').filter({ hasText: `hello ${mark}` });
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 15_000); // the offer to undo stays; less than is left of a heartbeat
  await said.locator('.act').click();
  await page.getByRole('dialog').getByRole('button', { name: 'ten minutes' }).click();
  const news = page.getByRole('log', { name: 'What happened' });
  await expectNews(page, 'is muted: ten minutes.');
  await write(guest, `again ${mark}`);
  await expect(guest.locator('.pending')).toContainText('read but not write');
  await news.getByRole('button', { name: 'Undo' }).click();
  await expectNews(page, 'may write again.');
  await guest.getByRole('button', { name: 'Send again' }).click();
  await expect(page.locator('article').filter({ hasText: `again ${mark}` })).toHaveCount(1);
  await said.locator('.act').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete for everyone' }).click();
  await expect(guest.locator('article').filter({ hasText: `hello ${mark}` })).toHaveCount(0);
});
