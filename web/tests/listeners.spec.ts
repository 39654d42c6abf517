import type { Page } from '@playwright/test';
import { enter, expect, expectAccessible, expectFits, faces, link, open, stopClock, test, write } from './fixtures';

// Two listeners, each with a browser of their own. What holds for every station:
// against a real one ATHIR_URL=http://127.0.0.1:5000 npm run e2e

/** Words that no earlier run has left on a real station. */
const unique = (words: string) => `${words} ${Math.random().toString(36).slice(2, 8)}`;

const comments = (page: Page) => page.locator('section[aria-labelledby=comments] li');
const messages = (page: Page) => page.locator('article');

async function home(page: Page, language: 'ar' | 'en'): Promise<void> {
  await open(page, '/', language);
  await expect(link(page)).toHaveAttribute('data-link', 'live');
  await page.locator('#coming-up').waitFor();
}

test('a comment of one is read by the other at once, and stands once in both', { tag: '@station' }, async ({ page, guest }) => {
  await home(page, 'ar');
  await home(guest, 'en');
  const text = unique('يا سلام على الأغنية دي');
  await page.getByLabel('اسمك').fill('نور');
  await page.getByLabel('تعليقك').fill(text);
  await page.keyboard.press('Enter');
  for (const reader of [page, guest]) await expect(comments(reader).filter({ hasText: text })).toHaveCount(1);
  await expect(comments(guest).filter({ hasText: text }).locator('bdi')).toHaveText('نور');
  await expect(page.getByLabel('تعليقك')).toHaveValue('');
  await page.reload();
  await expect(comments(page).filter({ hasText: text })).toHaveCount(1);
  await expect(page.getByLabel('اسمك')).toHaveValue('نور');
});

test('twelve quick taps count as twelve for both, and fly for the other', { tag: '@station' }, async ({ page, guest, request }) => {
  await guest.emulateMedia({ reducedMotion: 'no-preference' });
  await guest.clock.install();
  await home(page, 'ar');
  await home(guest, 'en');
  const count = async (reader: Page) => Number(await reader.locator('[data-emoji="🔥"]').evaluate((button) => {
    const digits = '٠١٢٣٤٥٦٧٨٩';
    return (button.querySelector('.count')?.textContent ?? '').replace(/[٠-٩]/g, (d) => String(digits.indexOf(d))).replace(/\D/g, '');
  }));
  const before = ((await (await request.get('/api/reactions')).json())['🔥'] ?? 0) as number;
  for (const reader of [page, guest]) await expect.poll(() => count(reader)).toBe(before);
  await guest.clock.fastForward(1200); // what was told as it connected does not fly
  await guest.evaluate(() => {
    const seen = ((globalThis as { flown?: number }).flown = 0);
    new MutationObserver((changes) => {
      for (const change of changes) (globalThis as { flown?: number }).flown = ((globalThis as { flown?: number }).flown ?? seen) + change.addedNodes.length;
    }).observe(document.querySelector('.sky') as Node, { childList: true });
  });
  for (let i = 0; i < 12; i++) await page.locator('[data-emoji="🔥"]').click();
  expect(await count(page)).toBe(before + 12); // shown before it is counted
  await expect.poll(() => count(guest)).toBe(before + 12);
  // What follows on the same connection comes after the station's own word of the taps: they are not counted twice.
  const after = unique('after the taps');
  await guest.getByLabel('Your name').fill('Omar');
  await guest.getByLabel('Your comment').fill(after);
  await guest.keyboard.press('Enter');
  await expect(comments(page).filter({ hasText: after })).toHaveCount(1);
  await expect.poll(() => count(page)).toBe(before + 12);
  expect(await guest.evaluate(() => (globalThis as { flown?: number }).flown)).toBeGreaterThan(0);
  await guest.clock.fastForward(5000); // it is said once for all that came
  await expect(guest.locator('[data-said]')).toContainText('🔥');
});

test('a vote and a vibe of one are seen by the other, and a vote is taken back', { tag: '@station' }, async ({ page, guest, request }) => {
  await home(page, 'en');
  await home(guest, 'ar');
  // The last in sight: on a station of short tracks the first is gone before the test is.
  const votable = (reader: Page) => reader.locator('section[aria-labelledby=coming-up] li').filter({ has: reader.locator('.votes') });
  const title = (await votable(page).last().locator('strong').textContent()) as string;
  // A small library may bring a song twice within the list; a vote is for the song.
  const row = (reader: Page) => votable(reader).filter({ hasText: title }).last();
  const votes = async () => Object.values((await (await request.get('/api/upnext/votes')).json()).votes as Record<string, number>).reduce((a, b) => a + b, 0);
  await row(page).getByRole('button', { name: /^Vote for/ }).click();
  await expect(row(page).locator('[aria-pressed=true]')).toHaveCount(1);
  await expect(row(guest).locator('.sum')).toContainText('١');
  await expect.poll(() => page.evaluate(() => localStorage.getItem('athir.votes') ?? '')).not.toBe(''); // the answer to the voter
  await page.reload();
  await expect(row(page).locator('[aria-pressed=true]')).toHaveCount(1); // one's own vote is remembered
  await row(guest).getByRole('button', { name: /^صوّت لصالح/ }).click(); // of the same address, and another listener
  await expect(row(page).locator('.sum')).toContainText('2');
  await row(guest).locator('[aria-pressed=true]').click();
  await expect(row(page).locator('.sum')).toContainText('1');
  await row(page).locator('[aria-pressed=true]').click();
  await expect(row(guest).locator('.sum')).toContainText('٠');
  await expect.poll(votes).toBe(0);

  const size = (reader: Page, vibe: string) => reader.locator(`[data-vibe=${vibe}] .count`);
  const before = await size(guest, 'romantic').textContent();
  await page.locator('[data-vibe=romantic]').click();
  await expect(page.locator('[data-vibe=romantic] input')).toBeChecked();
  await expect(size(guest, 'romantic')).not.toHaveText(before as string);
});

test('two talk in the chat: text, a reaction, and each sees their own as sent', { tag: '@station' }, async ({ page, guest }) => {
  await enter(page, 'سلمى', 'ar');
  await enter(guest, 'Omar', 'en');
  const [question, answer] = [unique('مين سامع من إسكندرية؟'), unique('Me! <b>Good</b> evening')];
  await write(page, question);
  await expect(messages(guest).filter({ hasText: question })).toHaveCount(1);
  await write(guest, answer);
  await expect(messages(page).filter({ hasText: answer })).toHaveCount(1); // markup is text
  await expect(messages(page).filter({ hasText: question })).toHaveClass(/mine/);
  await expect(messages(page).filter({ hasText: answer })).not.toHaveClass(/mine/);
  expect(await messages(guest).filter({ hasText: question }).locator('.text').evaluate((text) => getComputedStyle(text).direction)).toBe('rtl');

  await messages(guest).filter({ hasText: question }).getByRole('button', { name: /^React to/ }).click();
  await guest.getByRole('dialog').getByRole('button', { name: '🌊' }).click();
  await expect(messages(page).filter({ hasText: question }).locator('.reactions')).toContainText('🌊');
  await expect(guest.locator('.pending')).toHaveCount(0);
});

test('a voice note is recorded, heard before it is sent, and played by the other', { tag: '@station' }, async ({ page, guest, context }) => {
  await context.grantPermissions(['microphone']);
  await enter(page, 'هالة', 'ar');
  await enter(guest, 'Karim', 'en');
  const before = await messages(guest).filter({ has: guest.locator('.note') }).count();
  await page.locator('.record').focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('timer')).toContainText(/٠:٠[٢-٩]|٠:[١-٥]|[١-٩]:/);
  await page.getByRole('button', { name: 'أنهِ التسجيل' }).click();
  await expect(page.locator('[data-recorder=ready] .note')).toBeVisible();
  await page.getByRole('button', { name: 'إرسال' }).click();
  const note = messages(guest).filter({ has: guest.locator('.note') }).last();
  await expect(messages(guest).filter({ has: guest.locator('.note') })).toHaveCount(before + 1);
  await expect.poll(() => note.locator('rect').evaluateAll((bars) => new Set(bars.map((bar) => bar.getAttribute('height'))).size)).toBeGreaterThan(3); // its wave is drawn
  // The note lasts a few seconds: what is shown only meanwhile is remembered.
  const seen = await note.evaluateHandle((element) => {
    const seen = { pause: false, past: false };
    const look = () => {
      seen.pause ||= element.querySelector('[aria-label^="Pause the voice note of"]') !== null;
      seen.past ||= element.querySelector('.past') !== null;
    };
    new MutationObserver(look).observe(element, { attributes: true, childList: true, subtree: true });
    return seen;
  });
  await note.getByRole('button', { name: /^Play the voice note of/ }).click();
  await expect.poll(() => seen.jsonValue()).toEqual({ pause: true, past: true });
});

test('a large picture is made smaller, sent with words, and shown to the other', { tag: '@station' }, async ({ page, guest }) => {
  await enter(page, 'ليلى', 'ar');
  await enter(guest, 'Adam', 'en');
  const png = await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(3200, 1200);
    const pen = canvas.getContext('2d')!;
    for (let i = 0; i < 400; i++) {
      pen.fillStyle = `hsl(${i * 7} 70% 50%)`;
      pen.fillRect((i * 97) % 3200, (i * 61) % 1200, 180, 120);
    }
    const bytes = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer());
    return Array.from(bytes);
  });
  await page.locator('input[type=file]').setInputFiles({ name: 'nile.png', mimeType: 'image/png', buffer: Buffer.from(png) });
  await expect(page.locator('.preview img')).toBeVisible();
  const words = unique('النيل النهارده');
  await write(page, words);
  const picture = messages(guest).filter({ hasText: words }).locator('img');
  await expect(picture).toBeVisible();
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => [image.naturalWidth, image.naturalHeight])).toEqual([1600, 600]);
  await expect(picture).toHaveAttribute('alt', words);
});

test('a picture that is sent with a double click is sent once', async ({ page }) => {
  await page.clock.install();
  await enter(page, 'ليلى', 'en');
  await page.locator('input[type=file]').setInputFiles('../docs/images/player-en.png');
  await expect(page.locator('.preview img')).toBeVisible();
  const words = unique('twice');
  await page.locator('textarea').fill(words);
  await stopClock(page); // on a starved machine half a second passes within a double click
  await page.getByRole('button', { name: 'Send', exact: true }).dblclick();
  await expect(page.locator('.preview')).toHaveCount(0);
  const after = unique('after');
  await write(page, after);
  await expect(messages(page).filter({ hasText: after })).toHaveCount(1); // a second copy would have come before it
  await expect(messages(page).filter({ hasText: words })).toHaveCount(1);
});

test('the second half of a double click on Send does not begin a recording', async ({ page, context }) => {
  await context.grantPermissions(['microphone']);
  await page.clock.install();
  await enter(page, 'ليلى', 'en');
  await page.locator('textarea').fill(unique('hasty'));
  await stopClock(page);
  await page.locator('button.send').evaluate(async (send: HTMLButtonElement) => {
    const record = new Promise<Element>((found) => {
      new MutationObserver(() => {
        const button = document.querySelector('.record');
        if (button) found(button);
      }).observe(document.body, { childList: true, subtree: true });
    });
    send.click();
    (await record).dispatchEvent(new PointerEvent('pointerdown', { button: 0, bubbles: true }));
  });
  await write(page, unique('after'));
  await page.locator('.record').hover();
  await page.clock.fastForward(600);
  await page.mouse.down(); // one that is meant does
  await expect(page.getByRole('timer')).toBeVisible();
  await page.mouse.up();
});

test('the chat fits a small phone, and at twice the size nothing is cut off', async ({ page }) => {
  await enter(page, 'منى', 'ar');
  await write(page, unique('كلمة طويلة جدًا '.repeat(8)));
  for (const [width, height] of [[360, 640], [640, 360]] as const) {
    await expectFits(page, { width, height });
    await expect(page.locator('textarea')).toBeInViewport({ ratio: 1 });
  }
});

for (const [language, colorScheme] of faces) {
  test(`axe finds nothing in the chat: ${language} ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await open(page, '/chat', language);
    await expect(page.locator('#name')).toBeVisible();
    await expectAccessible(page);
    await page.locator('#name').fill('Axe');
    await page.keyboard.press('Enter');
    await write(page, unique('مساء الخير'));
    await expect(messages(page).last()).toBeVisible();
    await expectAccessible(page);
    await messages(page).last().getByRole('button').first().click();
    await expect(page.getByRole('dialog')).toBeVisible();
    await expectAccessible(page);
  });
}
