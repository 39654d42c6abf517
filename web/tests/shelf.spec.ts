import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import type { Detail } from '../src/studio/library/answers';
import { expect, expectNews, test } from './fixtures';
import { arrival, as, ask, drawer, drop } from './staffed';

// The library of a real station of one's own, in the studio alone:
// ATHIR_URL=… ATHIR_KEY=… ATHIR_SHELF=… ATHIR_MEDIA=… npm run e2e -- shelf
// ATHIR_SHELF is a folder with the files that are sent, ATHIR_MEDIA the station's media folder.
// What of it is heard, the test behind it knows.

const { ATHIR_SHELF: files = '', ATHIR_MEDIA: media = '' } = process.env;
const song = (n: string) => `music/english/tone ${n} أغنية.mp3`;
const [cued, replaced, edited, archived, broken] = ['100', '42', '44', '43', '80'].map(song) as [string, string, string, string, string];

const said = async (page: Page, path: string): Promise<Detail> => (await ask<Detail>(page, `/api/station/library/track?${new URLSearchParams({ path })}`)).answer;
const at = (path: string) => `/studio#/library/track/${encodeURIComponent(path)}`;
const rows = (page: Page) => page.locator('[role=row][data-path]');

/** Opens a track as somebody who may change it. */
async function look(page: Page, path: string): Promise<Locator> {
  await as(page, 'programme', at(path));
  const panel = drawer(page);
  await expect(panel.locator('.whole')).toBeVisible(); // its wave
  return panel;
}

test.describe.configure({ mode: 'serial' });
test.use({ viewport: { width: 1440, height: 900 } });

test('@shelf a file is dropped, its category guessed and mended, and it is on the air’s decks', async ({ page }) => {
  await as(page, 'programme', '/studio#/air');
  const from = Date.now();
  await drop(page, join(files, 'new.mp3'));
  const row = arrival(page, 'new.mp3');
  await expect(row).toHaveAttribute('data-state', 'asks');
  const asked = Date.now();
  await expect(row).toContainText('Guessed: It lasts 0:08, less than a minute.');
  await expect(row.getByLabel('Category')).toHaveValue('shorts');
  await row.getByLabel('Category').selectOption('english');
  await expect(row).not.toContainText('Guessed');
  const pressed = Date.now();
  await row.getByRole('button', { name: /^Add/ }).click();
  await expect(row).toHaveAttribute('data-state', 'taken');
  await expect(row).toContainText('ready to air since');
  const { answer } = await ask<{ files: { name: string; airsAt: number; path: string }[] }>(page, '/api/station/library/intake');
  const { path, airsAt } = answer.files.find(({ name }) => name === 'new.mp3')!;
  const s = (to: number, since: number) => ((to - since) / 1000).toFixed(1);
  console.log(`AIRS ${s(airsAt, from)} s after the drop: asks after ${s(asked, from)} s, is answered ${s(pressed, asked)} s later, can air ${s(airsAt, pressed)} s after that`);
  await row.getByRole('link', { name: /Open the track/ }).click();
  await expect(drawer(page).getByRole('heading', { name: 'tone 120 جديدة' })).toBeVisible();
  await expect.poll(async () => (await said(page, path)).sound?.airs).toBe('copy');
  await page.reload();
  await expect(drawer(page)).toContainText('airs from its levelled copy');
  await expect(drawer(page).locator('[data-state]')).toHaveCount(0); // nothing stands against it
});

test('@shelf cues are set by the keys, and the copy that airs is cut to them', async ({ page }) => {
  const panel = await look(page, cued);
  for (const [which, keys, value] of [['in', ['PageUp', ...Array(5).fill('ArrowRight')], '5.5'], ['out', ['PageDown'], '']] as const) {
    await panel.locator(`[data-cue=${which}]`).focus();
    for (const key of keys) await page.keyboard.press(key);
    if (value) await expect(panel.locator(`[data-cue=${which}]`)).toHaveAttribute('aria-valuenow', value);
  }
  const end = async () => Number(await panel.locator('[data-cue=out]').getAttribute('aria-valuenow'));
  while ((await end()) > 10.5) await page.keyboard.press('ArrowLeft');
  await panel.getByRole('button', { name: 'Save' }).click();
  await expectNews(page, 'One track was changed.');
  await expect.poll(async () => {
    const { track, sound, note } = await said(page, cued);
    return [note?.cueInMs, note?.cueOutMs, track.cut, sound?.airs, sound && Math.abs(sound.durationMs - 5000) < 300];
  }).toEqual([5500, 10_500, true, 'copy', true]);
});

test('@shelf the file of a track is replaced, and what was said of the track stays', async ({ page }) => {
  const panel = await look(page, replaced);
  await panel.getByLabel('Title', { exact: true }).fill('نسخة أوضح');
  await panel.getByRole('button', { name: 'Save' }).click();
  await expectNews(page, 'One track was changed.');
  await panel.locator('[data-choose=replace]').setInputFiles(join(files, 'better.mp3'));
  await expect(arrival(page, 'better.mp3')).toHaveAttribute('data-state', 'taken');
  await page.reload();
  await expect(drawer(page).getByRole('heading', { name: 'نسخة أوضح' })).toBeVisible();
  await expect.poll(async () => {
    const { note, file, sound } = await said(page, replaced);
    return [note?.title, note?.limits?.until !== undefined, file.title, sound && Math.abs(sound.durationMs - 8000) < 300]; // of the new file
  }).toEqual(['نسخة أوضح', true, 'tone 130 أوضح', true]);
  await page.goto('/studio#/library/archive');
  await expect(page.locator(`[data-file="${replaced}"]`)).toContainText('replaced by an upload');
});

test('@shelf a track is found, edited and mended again with the keyboard alone', async ({ page }) => {
  /** Tabs to something, as one who sees where the focus is. */
  async function tabTo(to: Locator): Promise<void> {
    for (let n = 0; n < 200; n++) {
      if ((await to.count()) > 0 && (await to.evaluate((one) => one === document.activeElement))) return;
      await page.keyboard.press('Tab');
    }
    throw new Error('the Tab key does not lead there');
  }
  await as(page, 'programme', '/studio#/library');
  await expect(rows(page).first()).toBeVisible();
  await page.keyboard.press('/');
  await page.keyboard.type('tone 44');
  await expect(rows(page)).toHaveCount(1);
  await tabTo(page.getByRole('grid'));
  await page.keyboard.press('Enter');
  const panel = drawer(page);
  const title = panel.getByLabel('Title', { exact: true });
  const before = await title.inputValue();
  await tabTo(title);
  await page.keyboard.press('Control+a');
  await page.keyboard.type('Typed by hand');
  await tabTo(panel.getByRole('button', { name: 'Save', exact: true }));
  await page.keyboard.press('Enter');
  await expect.poll(async () => (await said(page, edited)).track.title).toBe('Typed by hand');
  await tabTo(panel.locator('.foot').getByRole('button', { name: /^Undo/ }));
  await page.keyboard.press('Enter');
  await expectNews(page, 'Undone for one track.');
  await expect(title).toHaveValue(before);
  const { track: now, note, deeds } = await said(page, edited);
  expect([now.title, note ?? null, deeds?.map(({ kind }) => kind)]).toEqual([before, null, ['undo', 'edit']]);
});

test('@shelf a track is archived and brought back', async ({ page }) => {
  const panel = await look(page, archived);
  await panel.getByRole('button', { name: 'Archive', exact: true }).click();
  await page.getByRole('dialog', { name: /^Archive/ }).getByRole('button', { name: 'Archive', exact: true }).click();
  await expect(panel).toHaveCount(0);
  const file = page.locator(`[data-file="${archived}"]`);
  await expect(async () => { // it may have been about to air
    await page.goto('/studio#/library');
    await page.goto('/studio#/library/archive');
    await expect(file).toBeVisible({ timeout: 3000 });
  }).toPass();
  expect((await ask(page, `/api/station/library/track?${new URLSearchParams({ path: archived })}`)).status).toBe(404);
  await file.getByRole('button').click();
  await expectNews(page, 'One file is restored.');
  await expect(file).toHaveCount(0);
  await expect.poll(async () => (await said(page, archived)).track?.state).toBe('airs');
});

test('@shelf a broken file says why it cannot air, and airs once it is mended', async ({ page }) => {
  await as(page, 'programme', '/studio#/library/quarantine');
  const file = page.locator(`[data-file="${broken}"]`);
  const why = await file.locator('.wrong').textContent();
  expect(why).not.toBe('');
  await file.getByRole('button').click();
  await expectNews(page, 'One file still cannot air.');
  await expect(file.locator('.wrong')).toHaveText(why ?? '');
  copyFileSync(join(files, 'whole.mp3'), join(media, broken));
  await file.getByRole('button').click();
  await expectNews(page, 'One file can air now.');
  await expect(file).toHaveCount(0);
  await expect.poll(async () => (await said(page, broken)).track?.state).toBe('airs');
});

test('@shelf a presenter sees the library and can change nothing in it', async ({ guest: page }) => {
  await as(page, 'presenter', '/studio#/library');
  await expect(rows(page).first()).toBeVisible();
  await expect(page.getByRole('note').filter({ hasText: 'change nothing in it' })).toContainText('Presenter');
  await expect(page.getByRole('checkbox')).toHaveCount(0);
  await expect(page.getByRole('button', { name: /^Upload/ })).toHaveCount(0);
  await drop(page, join(files, 'new.mp3'));
  await expectNews(page, 'Your role does not let you upload files.');
  await page.goto(at(edited));
  const panel = drawer(page);
  await expect(panel.getByLabel('Title', { exact: true })).toHaveAttribute('readonly', '');
  await expect(panel.locator('[data-cue=in]')).toHaveAttribute('aria-disabled', 'true');
  await expect(panel.getByRole('button', { name: /Archive|Undo|Save|Replace|Choose|another file/ })).toHaveCount(0);
  await expect(panel.locator('input[type=file]')).toHaveCount(0);
  for (const part of ['quarantine', 'archive', 'history']) {
    await page.goto(`/studio#/library/${part}`);
    await expect(page.locator('main .panel h2')).toBeVisible();
    if (part !== 'quarantine') await expect(page.locator('main .things li').first()).toBeVisible();
    await expect(page.locator('main .panel').getByRole('button')).toHaveCount(0);
  }
  const before = await said(page, edited);
  const lib = '/api/station/library';
  const orders: [string, string, unknown][] = [
    ['PATCH', lib, { paths: [edited], set: { title: 'no' } }],
    ['POST', `${lib}/archive`, { paths: [edited] }],
    ['POST', `${lib}/restore`, { paths: [replaced] }],
    ['POST', `${lib}/retry`, { paths: [edited] }],
    ['POST', `${lib}/deeds/1/undo`, {}],
    ['PUT', `${lib}/views`, { views: [] }],
    ['DELETE', `${lib}/cover?${new URLSearchParams({ path: edited })}`, undefined],
    ['POST', `${lib}/intake/take`, { all: true }],
    ['POST', `${lib}/uploads/`, undefined],
  ];
  for (const [method, path, body] of orders) expect([method, path, (await ask(page, path, { method, body })).status]).toEqual([method, path, 403]);
  expect((await said(page, edited)).note ?? null).toEqual(before.note ?? null);
});
