import type { Page } from '@playwright/test';
import { enter, expect, expectAccessible, expectFits, open, playButton, test } from './fixtures';
import { nile } from './mock/face';

// The station's own face on the pages of its listeners, and what a hand and the network do to them.

const paths = ['/', '/chat', '/social.html'] as const;

for (const width of [360, 390]) {
  test(`the name is seen on a phone of ${width} px, beside every control`, async ({ page, mock }) => {
    mock.face = { ...nile, name: { ar: 'إذاعة صوت النيل من القاهرة', en: 'The Voice of the Nile, Cairo' } };
    for (const path of paths) {
      for (const language of ['ar', 'en'] as const) {
        await page.addInitScript((chosen) => localStorage.setItem('athir.language', chosen), language);
        await page.goto(path);
        await expectFits(page, { width, height: 780 });
        const name = page.locator('.masthead .name');
        await expect(name).toHaveText(mock.face.name[language]);
        if (path === '/') await expect(page.locator('.bell')).toBeVisible();
        const boxes = await page.locator('.masthead :is(.name, .logo, h1, nav > *, .language)').evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).map(({ left, right, top, bottom }) => ({ left, right, top, bottom })));
        for (const { left, right } of boxes) {
          expect(left).toBeGreaterThanOrEqual(0);
          expect(right).toBeLessThanOrEqual(width);
        }
        const over = boxes.flatMap((a, i) => boxes.slice(i + 1).map((b) => [Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)] as const));
        expect(over.filter(([x, y]) => x > 0.5 && y > 0.5), `${path} ${language}`).toEqual([]);
        expect((await name.boundingBox())?.width).toBeGreaterThan(60);
      }
    }
  });
}

test('a page wears the station’s face: name, logo, colour, words, links and how to reach it, and one line of ours', async ({ page, mock }) => {
  mock.face = nile;
  mock.customCSS = '.masthead { border-block-end: 3px solid rgb(1, 2, 3); } .play { border-radius: 7px; }';
  await open(page, '/', 'en');
  const about = page.getByRole('region', { name: 'About the station' });
  await expect(about).toContainText('The music of Cairo, day and night');
  await expect(page.locator('.masthead .logo')).toHaveAttribute('src', '/face/logo.png?v=3');
  await expect(page).toHaveTitle(/Nile Radio$/);
  await expect(about.getByRole('link', { name: 'Instagram' })).toHaveAttribute('rel', /noopener/);
  await expect(about.getByRole('link')).toHaveCount(6); // the one of javascript: is none
  await expect(about.getByRole('link', { name: /E-mail/ })).toHaveAttribute('href', 'mailto:studio@nile.example');
  await expect(about.getByRole('link', { name: /WhatsApp/ })).toHaveAttribute('href', 'https://wa.me/201001234567');
  await expect(about).toContainText('Runs on Athir');
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--signal'))).toBe('#2f8fa3');
  // An operator's rules are stronger than ours without tricks.
  expect(await page.locator('.masthead').evaluate((one) => getComputedStyle(one).borderBottomColor)).toBe('rgb(1, 2, 3)');
  expect(await playButton(page).evaluate((one) => getComputedStyle(one).borderRadius)).toBe('7px');
  mock.face = { ...nile, credit: false };
  for (const path of paths) {
    await page.goto(path);
    await expect(page.locator('.masthead')).toContainText('Nile Radio');
    if (path !== '/chat') await expect(page.locator('.about')).toBeVisible();
    await expect(page).toHaveTitle(/Nile Radio$/);
    expect(`${await page.locator('body').innerText()} ${await page.title()}`).not.toMatch(/Athir|أثير/);
  }
});

test('only the face’s languages can be chosen, and its first is a new visitor’s; who works there has both', async ({ page, mock }) => {
  mock.face = { ...nile, languages: ['en', 'ar'] };
  await page.goto('/'); // from Egypt, in Arabic
  await expect(page.locator('html')).toHaveAttribute('lang', 'en');
  await page.locator('.language').click();
  await expect(page.locator('html')).toHaveAttribute('lang', 'ar');
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('lang', 'ar');
  mock.face = { ...nile, languages: ['en'] };
  for (const path of paths) {
    await page.goto(path);
    await expect(page.locator('html')).toHaveAttribute('lang', 'en');
    await expect(page.locator('.masthead')).toBeVisible();
    await expect(page.locator('.language')).toHaveCount(0);
  }
  await page.goto('/studio');
  await expect(page.locator('html')).toHaveAttribute('lang', 'ar');
});

test('without a network a page of the station’s own is shown, and gives way by itself', async ({ page, context, mock }) => {
  mock.face = { ...nile, name: { ar: 'إذاعة <b>النيل', en: 'Nile' } };
  await open(page, '/', 'ar');
  await page.evaluate(() => navigator.serviceWorker.ready);
  await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
  const kept = await page.evaluate(async () => {
    const names = await caches.keys();
    const cache = await caches.open(names[0] ?? '');
    const addresses = (await cache.keys()).map(({ url }) => new URL(url).pathname);
    return { names, addresses, bytes: (await (await cache.match('/offline'))?.blob())?.size ?? 0 };
  });
  expect(kept).toMatchObject({ names: ['athir-offline-1'], addresses: ['/offline'] });
  expect(kept.bytes).toBeGreaterThan(1000);
  expect(kept.bytes).toBeLessThan(100_000);
  await context.setOffline(true);
  const back = mock.vanish(); // a worker of its own may still reach this machine
  await page.goto('/chat');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('إذاعة <b>النيل');
  await expect(page.getByText('تعذّر الوصول إلى المحطة')).toBeVisible();
  await expect(page.getByText('Cannot reach the station')).toBeVisible();
  expect(await page.evaluate(() => fetch('/api/status').then(() => 'answered', () => 'failed'))).toBe('failed'); // nothing of it is kept
  back();
  await context.setOffline(false);
  await expect(page.locator('#name')).toBeVisible();
});

/** Small ones among what is pressed, but links in a sentence, which WCAG 2.5.8 excepts. */
const small = (page: Page) =>
  page.locator('body').evaluate((body) =>
    [...body.querySelectorAll('a[href], button, input, select, summary, textarea, [role=button]')]
      .filter((one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
      .map((one) => {
        // A label is pressed in place of the tick or the circle in it.
        const target = one instanceof HTMLInputElement && ['radio', 'checkbox', 'file'].includes(one.type) ? (one.closest('label') ?? one) : one;
        const { width, height } = target.getBoundingClientRect();
        return { what: `${one.tagName} ${one.className} ${one.getAttribute('aria-label') ?? one.textContent?.trim().slice(0, 30)}`, width, height, inline: one.tagName === 'A' && getComputedStyle(one).display === 'inline' && (one.parentElement?.textContent?.trim().length ?? 0) > (one.textContent?.trim().length ?? 0) };
      })
      .filter(({ width, height, inline }) => !inline && width > 1 && (width < 43.5 || height < 43.5)),
  );

test('every target of listeners’ pages is at least 44 px', async ({ page, mock }) => {
  mock.face = nile;
  await page.setViewportSize({ width: 390, height: 844 });
  await open(page, '/', 'ar');
  await expect(page.locator('.about')).toBeVisible();
  await expect(page.locator('.votes').first()).toBeVisible();
  expect(await small(page), '/').toEqual([]);
  for (const sheet of ['quality', 'sleep', 'lyrics']) {
    await page.locator(`.tool[popovertarget=${sheet}]`).click();
    await expect(page.locator(`#${sheet}`)).toBeVisible();
    expect(await small(page), sheet).toEqual([]);
    await page.keyboard.press('Escape');
  }
  mock.audience.say({ user: 'Omar', text: 'salam' });
  await enter(page, 'نور', 'ar');
  await expect(page.locator('article').first()).toBeVisible();
  expect(await small(page), '/chat').toEqual([]);
  await page.goto('/social.html');
  await expect(page.locator('[data-post]').first()).toBeVisible();
  await expect(page.locator('.about')).toBeVisible();
  expect(await small(page), '/social.html').toEqual([]);
  for (const path of ['/history', '/history?q=fairuz', `/track/${mock.past.list[0]!.id}`]) {
    await page.goto(path);
    await expect(page.locator('li[data-row], article').first()).toBeVisible();
    expect(await small(page), path).toEqual([]);
  }
});

for (const width of [390, 768, 1280, 1920]) {
  test(`axe finds nothing at ${width} px in either language and theme`, async ({ page, mock }) => {
    mock.face = { ...nile, accent: '' };
    for (const path of paths) {
      for (const [language, colorScheme] of [['ar', 'light'], ['en', 'dark'], ['ar', 'dark'], ['en', 'light']] as const) {
        await page.emulateMedia({ colorScheme });
        await page.addInitScript((chosen) => localStorage.setItem('athir.language', chosen), language);
        await page.setViewportSize({ width, height: 900 });
        await page.goto(path);
        await expect(page.locator(path === '/chat' ? '#name' : '.about')).toBeVisible();
        await expectAccessible(page);
      }
    }
  });
}
