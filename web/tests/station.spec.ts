import { audioClock, decodedBytes, expect, expectAccessible, expectFits, expectSound, faces, open, playButton, test } from './fixtures';

// What holds for every station. Against a real one: ATHIR_URL=http://127.0.0.1:5000 npm run e2e
// Each test also fails on console errors, policy violations and requests to other origins (fixtures.ts).

test('the player plays: the audio clock advances and the sound is not silence', { tag: '@station' }, async ({ page }) => {
  await open(page, '/', 'ar');
  await playButton(page).click();
  await expectSound(page, 3);
  const before = await decodedBytes(page);
  expect(before).toBeGreaterThan(0);
  await expect.poll(() => decodedBytes(page)).toBeGreaterThan(before);
  const loudest = await page.evaluate(async () => {
    const context = new AudioContext();
    const meter = context.createAnalyser();
    context.createMediaElementSource(document.querySelector('audio') as HTMLAudioElement).connect(meter);
    meter.connect(context.destination);
    const wave = new Float32Array(meter.fftSize);
    let peak = 0;
    for (let i = 0; i < 600 && peak < 0.001; i++) {
      await new Promise((done) => setTimeout(done, 100));
      meter.getFloatTimeDomainData(wave);
      peak = Math.max(peak, ...wave.map(Math.abs));
    }
    return peak;
  });
  expect(loudest).toBeGreaterThan(0.001);
});

test('pause stops the sound at once and play returns to it', async ({ page }) => {
  await open(page, '/', 'en');
  await playButton(page).click();
  await expectSound(page);
  await page.getByRole('button', { name: 'Pause' }).click();
  await expect(playButton(page)).toHaveAttribute('data-state', 'paused');
  expect(await page.evaluate(() => document.querySelector('audio')?.paused)).toBe(true);
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await expectSound(page);
});

test('what is on is named on the page, in its title and for the lock screen', { tag: '@station' }, async ({ page, request }) => {
  await open(page, '/', 'en');
  await expect.poll(async () => (await (await request.get('/api/status')).json()).onAir).toBe(true);
  await expect(page.locator('.lamp')).toHaveClass(/lit/);
  await playButton(page).click();
  await expectSound(page);
  const title = page.getByRole('heading', { level: 1 });
  await expect(title).not.toBeEmpty();
  const shown = () =>
    page.evaluate(() => ({
      heading: document.querySelector('h1')?.textContent ?? '',
      tab: document.title.replace(/[\u2066-\u2069]/g, ''),
      session: navigator.mediaSession.metadata?.title,
      artwork: navigator.mediaSession.metadata?.artwork.length,
      state: navigator.mediaSession.playbackState,
    }));
  await expect.poll(async () => (await shown()).artwork).toBe(1);
  const { heading, tab, session, state } = await shown();
  expect(session).toBe(heading);
  expect(tab).toContain(heading);
  expect(state).toBe('playing');
});

test('the language switch turns the page around and is kept', async ({ page }) => {
  await open(page, '/', 'ar');
  const html = page.locator('html');
  await expect(html).toHaveAttribute('dir', 'rtl');
  await expect(page.getByRole('button', { name: 'تشغيل' })).toBeVisible();
  const edge = async () => (await playButton(page).boundingBox())?.x ?? 0;
  const right = await edge();
  await page.getByRole('button', { name: 'التبديل إلى الإنجليزية' }).click();
  await expect(html).toHaveAttribute('dir', 'ltr');
  await expect(html).toHaveAttribute('lang', 'en');
  await expect(page.getByRole('button', { name: 'Play', exact: true })).toBeVisible();
  expect(await edge()).not.toBe(right);
  await page.reload();
  await expect(html).toHaveAttribute('lang', 'en');
  await page.goto('/studio');
  await expect(html).toHaveAttribute('dir', 'ltr');
});

test('the keyboard plays, pauses, mutes and changes the volume', async ({ page }) => {
  await open(page, '/', 'en');
  await expect(playButton(page)).toBeVisible();
  await page.keyboard.press('Space');
  await expectSound(page);
  const volume = () => page.evaluate(() => document.querySelector('audio')?.volume ?? -1);
  const full = await volume();
  await page.keyboard.press('ArrowDown');
  await expect.poll(volume).toBeLessThan(full);
  await page.keyboard.press('ArrowUp');
  await expect.poll(volume).toBe(full);
  await page.keyboard.press('m');
  expect(await page.evaluate(() => document.querySelector('audio')?.muted)).toBe(true);
  await expect(page.getByRole('button', { name: 'Mute' })).toHaveAttribute('aria-pressed', 'true');
  await page.keyboard.press('Space');
  await expect(playButton(page)).toHaveAttribute('data-state', 'paused');
});

test('every control is reached by Tab, in reading order', async ({ page }) => {
  await open(page, '/', 'ar');
  await expect(playButton(page)).toBeVisible();
  const reached: string[] = [];
  await expect(page.locator('.bell')).toBeVisible();
  while (reached.at(-1) !== 'INPUT' && reached.length < 12) {
    await page.keyboard.press('Tab');
    const name = await page.evaluate(() => document.activeElement?.className.split(' ')[0] || document.activeElement?.tagName || '');
    reached.push(name.replace(/^svelte-.*/, 'INPUT'));
  }
  // The heart of who is on stands beside their name, where somebody is named.
  expect(reached.filter((name) => name !== 'heart')).toEqual(['bell', 'pill', 'language', 'play', 'mute', 'INPUT']);
});

test('the studio shows the air, the rotation, the library and the chain', { tag: '@station' }, async ({ page, request }) => {
  await open(page, '/studio', 'en');
  for (const name of ['On the air now', 'Rotation', 'Library', 'Broadcast chain', 'Quarantined files']) {
    await expect(page.getByRole('heading', { name: new RegExp(name) })).toBeVisible();
  }
  const rows = page.locator('section[aria-labelledby=rotation] ol li:not(.place)');
  const apart = async () => (await rows.count()) - ((await (await request.get('/api/schedule')).json()).rotation?.length ?? 0);
  await expect.poll(apart).toBe(0); // a new rotation may have come between the two looks
  const { processes } = await (await request.get('/api/status')).json();
  for (const { name } of processes) await expect(page.locator('section[aria-labelledby=chain]').getByText(name, { exact: true })).toBeVisible();
});

for (const path of ['/', '/studio']) {
  for (const [language, colorScheme] of faces) {
    test(`axe finds nothing, and the page fits a small phone: ${path} ${language} ${colorScheme}`, async ({ page, mock }) => {
      mock.scene.entries = 50; // every kind of row is among them
      await page.emulateMedia({ colorScheme });
      await open(page, path, language);
      const settled = path === '/' ? '#coming-up' : 'section[aria-labelledby=library] .pager, section[aria-labelledby=library] p.quiet[role=status]';
      await expect(page.locator(settled)).toBeVisible();
      await expectAccessible(page);
      await expectFits(page, { width: 360, height: 640 });
      if (path === '/') await expect(playButton(page)).toBeInViewport({ ratio: 1 });
    });
  }
}

test('nothing moves for those who asked for stillness', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await open(page, '/', 'ar');
  await playButton(page).click();
  await expect.poll(() => audioClock(page)).toBeGreaterThan(0.5);
  expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
});
