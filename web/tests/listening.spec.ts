import type { Page } from '@playwright/test';
import { expect, expectSound, open, playButton, test } from './fixtures';
import { idAt } from './mock/data';
import { nile } from './mock/face';

// What listeners get beside the sound: words, sharing, other devices, and a timer that ends it.

const tool = (page: Page, id: string) => page.locator(`.tool[popovertarget=${id}]`);
const loudness = (page: Page) => page.evaluate(() => document.querySelector('audio')?.volume ?? NaN);

test('an ad looks like one: its label, no heart, no artist, and no page to share', async ({ page, mock }) => {
  await page.addInitScript(() => Object.assign(navigator, { share: (what: object) => (Object.assign(globalThis, { shared: what }), Promise.resolve()) }));
  mock.scene = { index: 9, startedAt: Date.now() - 5000, empty: false };
  await open(page, '/', 'ar');
  await expect(page.locator('.page[data-kind=ad] .mark')).toHaveText('إعلان');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('فاصل إعلاني');
  await expect(page.locator('.artist')).toBeEmpty();
  await expect(page.locator('.tools .tool').first()).toBeVisible();
  await expect(page.locator('.heart')).toHaveCount(0);
  await page.getByRole('button', { name: 'مشاركة' }).click();
  expect(await page.evaluate(() => (globalThis as { shared?: { url: string } }).shared?.url)).toBe(`${mock.url}/`);
});

test('"press to listen" and "the sound has stopped" are never told together', async ({ page, mock }) => {
  await open(page, '/', 'ar');
  await expect(page.locator('.notice')).toHaveText('اضغط للاستماع');
  mock.operator.raise('silence');
  await expect(page.locator('.alert')).toHaveText('انقطع الصوت. نعيده الآن.');
  await expect(page.locator('.notice')).toBeEmpty();
  mock.operator.clear();
  await expect(page.locator('.alert')).toBeEmpty();
  await expect(page.locator('.notice')).toHaveText('اضغط للاستماع');
});

test('the timer counts down, fades the sound out and ends it, and leaves the volume as it was', async ({ page }) => {
  await page.clock.install();
  await open(page, '/', 'en');
  await playButton(page).click();
  await expectSound(page);
  const before = await loudness(page);
  await tool(page, 'sleep').click();
  await page.getByRole('button', { name: '15 minutes' }).click();
  await expect(tool(page, 'sleep')).toContainText(/1[45]:\d\d/);
  await expect(tool(page, 'sleep')).toHaveAccessibleName('Sleep timer · Stops in 15 minutes');
  await page.clock.fastForward(15 * 60_000 - 8000);
  await expect.poll(() => loudness(page)).toBeLessThan(before);
  await page.clock.fastForward(9000);
  await expect(playButton(page)).toHaveAttribute('data-state', 'paused');
  expect(await loudness(page)).toBe(before);
  await expect(tool(page, 'sleep')).toHaveAccessibleName('Sleep timer');
});

test('the timer can be ended, has lengths of one’s own, and waits for the end of what is heard', async ({ page, mock }) => {
  mock.scene = { ...mock.scene, startedAt: Date.now() - 254_000 + 20_000 }; // twenty seconds from its end
  await open(page, '/', 'ar');
  await tool(page, 'sleep').click();
  await page.getByRole('spinbutton').fill('90');
  await page.getByRole('button', { name: 'ابدأ' }).click();
  await expect(tool(page, 'sleep')).toContainText(/١:٢٩:|١:٣٠:/);
  await tool(page, 'sleep').click();
  await page.getByRole('button', { name: 'إلغاء المؤقت' }).click();
  await expect(tool(page, 'sleep')).toContainText('النوم');
  await playButton(page).click();
  await expectSound(page);
  await tool(page, 'sleep').click();
  await page.getByRole('button', { name: 'عند نهاية هذه الأغنية' }).click();
  await expect(playButton(page)).toHaveAttribute('data-state', 'paused');
});

test('the words follow the song, and scroll in their panel alone', async ({ page, mock }) => {
  const synced = Array.from({ length: 80 }, (_, i) => ({ atMs: i * 3000, text: `السطر ${i} <b>` }));
  mock.lyrics.set(idAt(3), { lyrics: '', synced });
  await open(page, '/', 'ar');
  await tool(page, 'lyrics').click();
  const now = page.locator('.lines .now');
  await expect(now).toHaveText(/السطر 2\d <b>/);
  await expect.poll(() => page.locator('.lines').evaluate((box) => box.scrollTop)).toBeGreaterThan(100);
  const [panel, line] = [await page.locator('.lines').boundingBox(), await now.boundingBox()];
  expect(line!.y).toBeGreaterThan(panel!.y);
  expect(line!.y + line!.height).toBeLessThan(panel!.y + panel!.height);
  expect(await page.evaluate(() => scrollY)).toBe(0);
  const first = await now.textContent();
  await expect(now).not.toHaveText(first ?? '');
  await page.keyboard.press('Escape');
  await expect(page.locator('.lines')).toHaveCount(0);
});

test('a track without words offers none, and words without moments are simply read', async ({ page, mock }) => {
  mock.scene = { index: 5, startedAt: Date.now() - 5000, empty: false };
  await open(page, '/', 'en');
  await expect(tool(page, 'sleep')).toBeVisible();
  await expect(tool(page, 'lyrics')).toHaveCount(0);
  mock.lyrics.set(idAt(7), { lyrics: 'one\ntwo', synced: [] });
  mock.scene = { index: 7, startedAt: Date.now() - 5000, empty: false };
  await page.reload();
  await tool(page, 'lyrics').click();
  await expect(page.locator('.lines p')).toHaveText(['one', 'two']);
});

test('words that were open as the song ended are not asked for again until they are opened', async ({ page, mock }) => {
  const asked = (index: number) => mock.count(`/api/tracks/${idAt(index)}/lyrics`);
  const turn = async (index: number) => {
    mock.scene = { index, startedAt: Date.now() - 60_000, empty: false };
    mock.audience.tellStatus();
  };
  for (const index of [3, 7]) mock.lyrics.set(idAt(index), { lyrics: 'one\ntwo', synced: [] });
  await open(page, '/', 'en');
  await tool(page, 'lyrics').click();
  await expect(page.locator('.lines p')).toHaveText(['one', 'two']);
  await turn(5);
  await expect(tool(page, 'lyrics')).toHaveCount(0);
  await turn(7);
  await expect(tool(page, 'lyrics')).toBeVisible();
  await expect(page.locator('.lines')).toHaveCount(0);
  expect(asked(7)).toBe(0);
  await tool(page, 'lyrics').click();
  await expect(page.locator('.lines')).toBeVisible();
  expect(asked(7)).toBe(1);
});

test('sharing gives the track’s page to the device, and copies it where the device has no sheet', async ({ page, context, mock }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.addInitScript(() => Object.defineProperty(navigator, 'share', { value: undefined }));
  await open(page, '/', 'en');
  await page.getByRole('button', { name: 'Share' }).click();
  await expect(page.getByText('The link is copied')).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`${mock.url}/track/${idAt(3)}`);
});

test('another device gets the plain stream, and the sound comes back from it', async ({ page, mock }) => {
  // No machine of the tests has a device to send to: the browser's half is played.
  await page.addInitScript(() => {
    const remotes = new WeakMap<object, EventTarget>();
    class Remote extends EventTarget {
      state = 'disconnected';
      watchAvailability = (tell: (available: boolean) => void) => (queueMicrotask(() => tell(true)), Promise.resolve(1));
      prompt = async () => {
        this.state = 'connected';
        this.dispatchEvent(new Event('connect'));
      };
    }
    Object.defineProperty(HTMLMediaElement.prototype, 'remote', {
      get(this: object) {
        if (!remotes.has(this)) remotes.set(this, new Remote());
        return remotes.get(this);
      },
    });
  });
  await open(page, '/', 'en');
  const cast = page.getByRole('button', { name: 'Play on another device' });
  await expect(tool(page, 'sleep')).toBeVisible();
  await expect(cast).toHaveCount(0); // nothing is asked for before there is sound
  expect(mock.count('/quiet.mp3')).toBe(0);
  await playButton(page).click();
  await expectSound(page);
  const before = mock.count('/stream');
  await cast.click();
  await expect(page.getByText('Playing on another device')).toBeVisible();
  await expect(playButton(page)).toHaveAttribute('data-state', 'paused');
  await expect.poll(() => mock.count('/stream')).toBeGreaterThan(before);
  await page.getByRole('button', { name: 'Stop there and go on here' }).click();
  await expectSound(page);
  await cast.click();
  await expect(playButton(page)).toHaveAttribute('data-state', 'paused');
  await playButton(page).click(); // who presses play here wants it here
  await expectSound(page);
  await expect(page.getByText('Playing on another device')).toHaveCount(0);
  await expect(playButton(page)).toHaveAttribute('data-transport', 'hls');
});

test('the station is offered as an app once the browser can install it, and not after a no', async ({ page, mock }) => {
  mock.face = nile;
  const offer = () => page.evaluate(() => dispatchEvent(Object.assign(new Event('beforeinstallprompt', { cancelable: true }), { prompt: () => (Object.assign(globalThis, { asked: true }), Promise.resolve()) })));
  await open(page, '/', 'ar');
  const install = page.getByRole('region', { name: 'تطبيق المحطة' });
  await expect(page.locator('.about')).toBeVisible();
  await expect(install).toHaveCount(0);
  expect(await offer()).toBe(false); // the browser's own bar stays away
  await install.getByRole('button', { name: 'تثبيت' }).click();
  expect(await page.evaluate(() => (globalThis as { asked?: boolean }).asked)).toBe(true);
  await offer();
  await install.getByRole('button', { name: 'لا، شكرًا' }).click();
  await page.reload();
  await expect(page.locator('.about')).toBeVisible();
  await offer();
  await expect(install).toHaveCount(0);
});
