import type { Page } from '@playwright/test';
import { expect, expectAccessible, expectFits, expectNews, faces, open, test } from './fixtures';
import type { Mock } from './mock/mock';

// Files that are sent to the library from anywhere in the studio.

const tray = (page: Page) => page.getByRole('region', { name: /^(Uploads|الرفع)$/ });
const sent = (page: Page, name: string) => page.locator(`[data-send="${name}"]`);
const arrival = (page: Page, name: string) => page.locator(`[data-arrival="${name}"]`);

async function begin(page: Page, mock: Mock, path = '/studio#/library', language: 'ar' | 'en' = 'en'): Promise<void> {
  const kept = mock.people.users[0] ?? mock.people.add('omar', 'programme', { name: 'Omar Naguib' });
  const answer = await page.request.post('/api/session', { data: { login: kept.person.login, password: kept.password } });
  expect(answer.status()).toBe(200);
  await open(page, path, language);
  await expect(page.getByRole('contentinfo')).toContainText('Omar Naguib');
}

interface Given {
  name: string;
  type?: string;
  bytes?: number;
}

/** Drops files somewhere on the page. */
async function drop(page: Page, files: readonly Given[]): Promise<void> {
  const data = await page.evaluateHandle((given) => {
    const transfer = new DataTransfer();
    for (const { name, type = 'audio/mpeg', bytes = 2000 } of given) transfer.items.add(new File([new Uint8Array(bytes)], name, { type }));
    return transfer;
  }, files as Given[]);
  await page.dispatchEvent('body', 'dragover', { dataTransfer: data });
  await page.dispatchEvent('body', 'drop', { dataTransfer: data });
}

test('files dropped in any section are sent, guessed, said and taken; pictures stay out', async ({ page, mock }) => {
  await begin(page, mock, '/studio#/air');
  await drop(page, [{ name: 'First_Song.mp3' }, { name: 'cover.jpg', type: 'image/jpeg' }, { name: 'أغنية.mp3' }]);
  await expectNews(page, 'One file is not an audio file and was left out.');
  const first = arrival(page, 'First_Song.mp3');
  await expect(first).toHaveAttribute('data-state', 'asks');
  await expect(first).toContainText('Guessed: its folder and its language');
  await expect(first.getByLabel('Category')).toHaveValue('english');
  await first.getByLabel('Title').fill('My First Song');
  await first.getByLabel('Title').blur();
  await expect.poll(() => mock.intake.arrivals.map(({ title }) => title)).toContain('My First Song');
  await first.getByRole('button', { name: /^Add/ }).click();
  await expect(first).toHaveAttribute('data-state', 'taken');
  const other = arrival(page, 'أغنية.mp3');
  await other.getByLabel('Category').selectOption('arabic_hits');
  await expect(other).not.toContainText('Guessed');
  await other.getByRole('button', { name: /^Add/ }).click();
  await expect(other).toHaveAttribute('data-state', 'taken');
  expect(mock.library.track('arabic_hits/أغنية.mp3')).toBeDefined();
  // It stays while the section changes, and leads to the track.
  await page.goto('/studio#/log');
  await expect(tray(page)).toBeVisible();
  await first.getByRole('link', { name: /Open the track/ }).click();
  await expect(page.getByRole('heading', { name: 'My First Song' })).toBeVisible();
  expect([...mock.intake.tus.uploads.values()].map(({ meta }) => meta.filename).sort()).toEqual(['First_Song.mp3', 'أغنية.mp3']);
});

test('three are sent at once, and pausing, going on and cancelling are for one and for all', async ({ page, mock }) => {
  mock.intake.tus.holdAt = 1000;
  await begin(page, mock);
  await drop(page, ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name: `${name}.mp3`, bytes: 300_000 })));
  const moving = page.locator('[data-send][data-state=sending]');
  await expect(moving).toHaveCount(3);
  await expect(page.locator('[data-send][data-state=line]')).toHaveCount(2);
  await sent(page, 'a.mp3').getByRole('button', { name: 'Pause a.mp3' }).click();
  await expect(sent(page, 'a.mp3')).toHaveAttribute('data-state', 'paused');
  await expect(sent(page, 'd.mp3')).toHaveAttribute('data-state', 'sending');
  await page.getByRole('button', { name: 'Pause all' }).click();
  await expect(page.locator('[data-send][data-state=paused]')).toHaveCount(5);
  await sent(page, 'e.mp3').getByRole('button', { name: 'Cancel e.mp3' }).click();
  await expect(sent(page, 'e.mp3')).toHaveCount(0);
  mock.intake.tus.holdAt = Infinity;
  await page.getByRole('button', { name: 'Go on with all' }).click();
  await expect(page.locator('[data-arrival]')).toHaveCount(4);
  await expect(page.locator('[data-send]')).toHaveCount(0);
  expect([...mock.intake.tus.uploads.values()].filter(({ got, length }) => got === length)).toHaveLength(4);
  expect(mock.intake.arrivals.every(({ size }) => size === 300_000)).toBe(true);
});

test('a cut connection goes on where it was, by itself', async ({ page, mock }) => {
  mock.intake.tus.cuts = [400_000];
  await begin(page, mock);
  await drop(page, [{ name: 'long.mp3', bytes: 900_000 }]);
  await expect(arrival(page, 'long.mp3')).toBeVisible();
  expect(mock.intake.tus.asked).toContain('HEAD');
  expect(mock.intake.tus.asked.filter((method) => method === 'POST')).toHaveLength(1);
  expect(mock.intake.tus.got.length).toBe(900_000);
});

test('a network that returns is used at once', async ({ page, mock, context }) => {
  mock.intake.tus.holdAt = 1000;
  await page.clock.install();
  await begin(page, mock);
  await drop(page, [{ name: 'far.mp3', bytes: 400_000 }]);
  await expect(sent(page, 'far.mp3')).toHaveAttribute('data-state', 'sending');
  await expect.poll(() => [...mock.intake.tus.uploads.values()][0]?.got ?? 0).toBeGreaterThan(0);
  await context.setOffline(true);
  mock.intake.tus.down = true;
  await expect.poll(async () => {
    await page.clock.fastForward(61_000); // what says nothing is taken for dead
    return sent(page, 'far.mp3').getAttribute('data-state');
  }).toBe('waiting');
  [mock.intake.tus.down, mock.intake.tus.holdAt] = [false, Infinity];
  await context.setOffline(false);
  await expect(arrival(page, 'far.mp3')).toBeVisible();
  expect(mock.intake.tus.got.length).toBe(400_000);
});

test('a reload leaves what it cannot open again, and the same file dropped once more goes on', async ({ page, mock }) => {
  page.on('dialog', (dialog) => void dialog.accept()); // the browser asks whether to leave
  mock.intake.tus.holdAt = 300_000;
  await begin(page, mock);
  await drop(page, [{ name: 'kept.mp3', bytes: 900_000 }]);
  await expect.poll(() => [...mock.intake.tus.uploads.values()][0]?.got ?? 0).toBeGreaterThanOrEqual(300_000);
  await page.reload();
  await expect(tray(page)).toContainText('One upload was interrupted');
  await tray(page).getByRole('button', { name: /Uploads/ }).click();
  await expect(tray(page).getByRole('note')).toContainText('Drop or choose the same files once more');
  await expect(sent(page, 'kept.mp3')).toHaveAttribute('data-state', 'missing');
  mock.intake.tus.holdAt = Infinity;
  await drop(page, [{ name: 'kept.mp3', bytes: 900_000 }]);
  await expect(arrival(page, 'kept.mp3')).toBeVisible();
  expect(mock.intake.tus.asked.filter((method) => method === 'POST')).toHaveLength(1);
  expect(mock.intake.tus.asked).toContain('HEAD');
  expect(mock.intake.arrivals.map(({ size }) => size)).toEqual([900_000]);
});

test('leaving while bytes are on their way is asked about', async ({ page, mock }) => {
  const asked: string[] = [];
  page.on('dialog', (dialog) => {
    asked.push(dialog.type());
    void dialog.accept();
  });
  mock.intake.tus.holdAt = 10;
  await begin(page, mock);
  await drop(page, [{ name: 'on.mp3', bytes: 100_000 }]);
  await expect(sent(page, 'on.mp3')).toHaveAttribute('data-state', 'sending');
  await tray(page).getByRole('button', { name: /Uploads/ }).click(); // a page that nobody touched is not asked about
  await page.reload();
  expect(asked).toEqual(['beforeunload']);
});

test('a duplicate stands beside the old one: both are heard, and kept, replaced or dropped', async ({ page, mock }) => {
  await begin(page, mock);
  const old = mock.library.tracks[4]!.path;
  await drop(page, [{ name: 'twin_one.mp3' }, { name: 'twin_two.mp3' }, { name: 'twin_three.mp3' }]);
  const [one, two, three] = ['twin_one.mp3', 'twin_two.mp3', 'twin_three.mp3'].map((name) => arrival(page, name));
  await expect(one!.getByRole('region', { name: 'New file' })).toContainText('3:05');
  await expect(one!.getByRole('region', { name: 'In the library' })).toContainText('The same recording by its sound');
  await one!.getByRole('button', { name: /Listen to .* of the library/ }).click();
  await expect(one!.getByRole('button', { name: /Pause .* of the library/ })).toBeVisible();
  await one!.getByRole('button', { name: /Listen to the new/ }).click();
  await expect(one!.getByRole('button', { name: /Pause the new/ })).toBeVisible();
  await expect(one!.getByRole('button', { name: /Pause .* of the library/ })).toHaveCount(0);
  await one!.getByRole('button', { name: /Keep both/ }).click();
  await expect(one!).toHaveAttribute('data-state', 'taken');
  await two!.getByRole('button', { name: /Replace the file/ }).click();
  await expect(two!).toHaveAttribute('data-state', 'taken');
  await three!.getByRole('button', { name: /Discard the new/ }).click();
  await expect(three!).toHaveCount(0);
  // They are sent side by side, and arrive in any order.
  expect(mock.intake.arrivals.map(({ path }) => path).toSorted()).toEqual(['english/twin_one.mp3', old].toSorted());
});

test('a category chosen for all is not asked about; all that ask are taken at once; a refused one says why', async ({ page, mock }) => {
  await begin(page, mock);
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  await tray(page).getByLabel('Category for all').selectOption('mashups');
  await tray(page).locator('[data-choose=files]').setInputFiles([{ name: 'mix.mp3', mimeType: 'audio/mpeg', buffer: Buffer.alloc(3000) }, { name: 'broken.mp3', mimeType: 'audio/mpeg', buffer: Buffer.alloc(3000) }]);
  await expect(arrival(page, 'mix.mp3')).toHaveAttribute('data-state', 'taken');
  expect(mock.library.track('mashups/mix.mp3')).toBeDefined();
  const broken = arrival(page, 'broken.mp3');
  await expect(broken).toContainText('There is no sound in this file.');
  await broken.getByRole('button', { name: /again/ }).click();
  await expect.poll(() => mock.intake.taken.at(-1)?.order).toMatch(/POST in\d+\/again/);
  await tray(page).getByLabel('Category for all').selectOption('');
  await drop(page, [{ name: 'x.mp3' }, { name: 'y.mp3' }]);
  await tray(page).getByRole('button', { name: 'Add all as they are' }).click();
  await expectNews(page, '2 files go into the library.');
  for (const name of ['x.mp3', 'y.mp3']) await expect(arrival(page, name)).toHaveAttribute('data-state', 'taken');
  await tray(page).getByRole('button', { name: 'Hide what was added' }).click();
  await expect(page.locator('[data-arrival]')).toHaveCount(1);
});

test('the station refuses to begin: its reason is shown, and it is tried again', async ({ page, mock }) => {
  mock.intake.tus.refuse = [413, { status: 413, detail: 'too large', reason: { code: 'size', en: 'A file has 2 GB at most.', ar: 'لا يزيد الملف على ٢ غيغابايت.' } }];
  await begin(page, mock);
  await drop(page, [{ name: 'huge.wav', type: 'audio/wav' }]);
  await expect(sent(page, 'huge.wav')).toContainText('A file has 2 GB at most.');
  await sent(page, 'huge.wav').getByRole('button', { name: 'Try huge.wav again' }).click();
  await expect(arrival(page, 'huge.wav')).toBeVisible();
});

test('a track’s file is replaced from its drawer', async ({ page, mock }) => {
  const { path } = mock.library.tracks[1]!;
  await begin(page, mock, `/studio#/library/track/${encodeURIComponent(path)}`);
  await page.locator('[data-choose=replace]').setInputFiles({ name: 'better.flac', mimeType: 'audio/flac', buffer: Buffer.alloc(5000) });
  await expect(arrival(page, 'better.flac')).toHaveAttribute('data-state', 'taken');
  expect([...mock.intake.tus.uploads.values()][0]?.meta).toMatchObject({ filename: 'better.flac', replace: path });
});

test('what was sent is taken back, and what it replaced returns', async ({ page, mock }) => {
  await begin(page, mock);
  for (const [name, replace] of [['new.mp3', ''], ['better.flac', 'english/old.mp3']] as const) mock.intake.arrive(name, { state: 'taken', path: `english/${name}`, replace, title: name });
  await drop(page, [{ name: 'last.mp3' }]);
  await arrival(page, 'new.mp3').getByRole('button', { name: 'Undo adding new.mp3' }).click();
  await expect(arrival(page, 'new.mp3')).toHaveAttribute('data-state', 'undone');
  await expectNews(page, 'Undone. The file is in the archive.');
  await arrival(page, 'better.flac').getByRole('button', { name: 'Bring back the file that better.flac replaced' }).click();
  await expectNews(page, 'The old file is back. The new one is in the archive.');
  await expect(arrival(page, 'better.flac')).toContainText('Undone, now in the archive');
  expect(mock.intake.taken.map(({ order }) => order).filter((order) => order.endsWith('/undo'))).toHaveLength(2);
});

test('what is on the air is taken back after it, and says so until then', async ({ page, mock }) => {
  mock.intake.onAir = true;
  await begin(page, mock);
  mock.intake.arrive('new.mp3', { state: 'taken', path: 'english/new.mp3', title: 'new.mp3', airsAt: 5 });
  await drop(page, [{ name: 'last.mp3' }]);
  const row = arrival(page, 'new.mp3');
  await row.getByRole('button', { name: 'Undo adding new.mp3' }).click();
  await expect(row).toHaveAttribute('data-state', 'undoing');
  await expect(row).toContainText('Is being undone');
  await expect(row).toContainText('It is on the air.');
  await expect(row).toHaveAttribute('aria-busy', 'true');
  await expect(row.getByRole('button')).toHaveCount(0);
  await expect(row.getByRole('link')).toHaveCount(0);
  mock.intake.onAir = false;
  await expect(row).toHaveAttribute('data-state', 'undone');
  await expectNews(page, 'Undone. The file is in the archive.');
});

test('what has arrived is sent again only where it changed, and not to a page that nobody sees', async ({ page, mock }) => {
  await page.clock.install();
  mock.intake.arrive('old.mp3');
  await begin(page, mock);
  await expect.poll(() => mock.intake.told).toEqual([200]);
  await page.clock.fastForward(21_000);
  await expect.poll(() => mock.intake.told).toEqual([200, 304]);
  mock.intake.arrive('new.mp3');
  await page.clock.fastForward(21_000);
  await expect.poll(() => mock.intake.told).toEqual([200, 304, 200]);
  await page.getByRole('button', { name: /^Upload/ }).first().click();
  await expect(page.locator('[data-arrival]')).toHaveCount(2);
  const see = (state: string) => page.evaluate((value) => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => value });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);
  await see('hidden');
  await page.clock.fastForward(21_000); // the look that was under way
  await expect.poll(() => mock.intake.told.length).toBe(4);
  await page.clock.fastForward(90_000);
  await see('visible');
  await expect.poll(() => mock.intake.told.length).toBe(5);
});

test('two tabs send side by side, each says its own, and a reload finds them apart', async ({ page, mock, context }) => {
  const [one, two] = [page, await context.newPage()];
  for (const each of [one, two]) each.on('dialog', (dialog) => void dialog.accept());
  mock.intake.tus.holdAt = 300_000;
  await begin(one, mock);
  await drop(one, [{ name: 'first.mp3', bytes: 900_000 }]);
  await expect(sent(one, 'first.mp3')).toHaveAttribute('data-state', 'sending');
  await begin(two, mock);
  await drop(two, [{ name: 'second.mp3', bytes: 900_000 }]);
  await expect(sent(two, 'second.mp3')).toHaveAttribute('data-state', 'sending');
  await expect(tray(two).getByRole('note')).toHaveText('Another tab of the studio is sending files as well. They are listed there.');
  await expect(sent(two, 'first.mp3')).toHaveCount(0);
  await expect(tray(one).getByRole('note')).toContainText('Another tab');
  // Each finds its own after a reload, and goes on with it.
  await one.reload();
  await tray(one).getByRole('button', { name: /Uploads/ }).click();
  await expect(sent(one, 'first.mp3')).toHaveAttribute('data-state', 'missing');
  await expect(sent(one, 'second.mp3')).toHaveCount(0);
  await expect(sent(two, 'second.mp3')).toHaveAttribute('data-state', 'sending');
  // What a closed tab left is the next one's.
  await one.close({ runBeforeUnload: false });
  const three = await context.newPage();
  three.on('dialog', (dialog) => void dialog.accept());
  await begin(three, mock);
  await tray(three).getByRole('button', { name: /Uploads/ }).click();
  await expect(sent(three, 'first.mp3')).toHaveAttribute('data-state', 'missing');
  mock.intake.tus.holdAt = Infinity;
  await drop(three, [{ name: 'first.mp3', bytes: 900_000 }]);
  await expect(arrival(three, 'first.mp3')).toBeVisible();
  await expect(arrival(two, 'second.mp3')).toBeVisible();
  await expect(tray(three).getByRole('note')).toHaveCount(0);
  expect(mock.intake.tus.asked.filter((method) => method === 'POST')).toHaveLength(2);
  expect(mock.intake.arrivals.map(({ name }) => name).sort()).toEqual(['first.mp3', 'second.mp3']);
});

test('who may not change the programme cannot drop anything, and is told', async ({ page, mock }) => {
  const kept = mock.people.add('adam', 'viewer', { name: 'Omar Naguib' });
  expect(kept.person.role).toBe('viewer');
  await begin(page, mock);
  await drop(page, [{ name: 'a.mp3' }]);
  await expectNews(page, 'Your role does not let you upload files.');
  await expect(tray(page)).toHaveCount(0);
});

for (const [language, colorScheme] of [...faces, ['ar', 'dark'], ['en', 'light']] as const) {
  test(`axe finds nothing in the uploads, and all fits: ${language} ${colorScheme}`, async ({ page, mock }) => {
    await page.emulateMedia({ colorScheme });
    mock.intake.tus.holdAt = 500;
    mock.intake.still = true;
    mock.intake.arrive('twin.mp3');
    mock.intake.arrive('أغنية جديدة.mp3', { folder: 'ألبومات/٢٠٢٦' });
    mock.intake.arrive('broken.mp3');
    mock.intake.arrive('done.mp3', { state: 'taken', path: 'english/done.mp3', airsAt: Date.now() });
    await begin(page, mock, '/studio#/library', language);
    await expect(page.locator('[data-path]').first()).toBeVisible();
    await drop(page, [{ name: 'sending.mp3', bytes: 50_000 }]);
    await expect(sent(page, 'sending.mp3')).toHaveAttribute('data-state', 'sending');
    await expect(page.locator('[data-arrival]')).toHaveCount(4);
    const look = async () => {
      for (const width of [390, 768, 1920]) {
        await expectFits(page, { width, height: 900 });
        if (width !== 768) await expectAccessible(page);
      }
    };
    await look();
    await tray(page).locator('.fold').click();
    await look();
  });
}
