import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect, expectNews, open, test } from './fixtures';
import { Hand } from './hand';
import { drawer } from './staffed';

// An operator's first hour, from a fresh station to one of their own, by the keyboard alone but for
// the drag of the songs: ATHIR_URL=… ATHIR_KEY=… ATHIR_HOUR=folder npm run e2e -- firsthour
// The folder has songs in songs/ and logo.png. The station must be new.

const { ATHIR_KEY: key = '', ATHIR_HOUR: folder = '' } = process.env;

const section = (page: Page, name: string) => page.getByRole('navigation', { name: 'Sections of the studio' }).getByRole('link', { name });
const part = (page: Page, name: string) => page.getByRole('navigation', { name: 'Parts of the library' }).getByRole('link', { name });
const dialog = (page: Page, name: string | RegExp) => page.getByRole('dialog', { name });

test.use({ locale: 'en-GB', viewport: { width: 1440, height: 900 }, permissions: ['clipboard-read', 'clipboard-write'] });

/** What the bulletin says, a line each. */
const headlines = ['افتتاح خط جديد لمترو الأنفاق', 'معرض الكتاب يفتح أبوابه غدا', 'طقس معتدل على السواحل'];

interface Made {
  file: string;
  problem: string;
  segments: { kind: string; text: string; problem: string }[];
}

/** Whether a bulletin says all three: one that the station makes by itself before they are written does not. */
const saysThem = (made?: Made) => made?.segments.some(({ kind, text, problem }) => kind === 'headlines' && !problem && headlines.every((line) => text.includes(line))) ?? false;

/** The beginning of an hour, also of the next day. */
const clockAt = (hour: number) => `${String(hour % 24).padStart(2, '0')}:00`;

test('@hour a fresh station becomes one of one’s own, without a shell', async ({ page, guest }) => {
  test.setTimeout(3_600_000);
  const hand = new Hand(page);
  const began = Date.now();
  const row = (name: string, steps: number, tabs: number, ms: number) => console.log(`HOUR ${name.padEnd(32)} ${String(steps).padStart(3)} steps ${String(tabs).padStart(4)} tabs ${(ms / 1000).toFixed(1).padStart(6)} s`);
  async function stage(name: string, work: () => Promise<void>): Promise<void> {
    const [from, { steps, tabs }] = [Date.now(), hand.count];
    await work();
    row(name, hand.count.steps - steps, hand.count.tabs - tabs, Date.now() - from);
  }
  /** What the station tells whoever has the key: the test only looks, all orders are the hand's. */
  const look = async <T>(path: string): Promise<T> => (await (await page.request.get(path, { headers: { 'x-station-key': key } })).json()) as T;

  await stage('the studio is opened', async () => {
    await open(page, '/studio', 'en');
    hand.count.steps++; // the address
    await hand.press(section(page, 'Library'));
    await hand.press(page.getByRole('button', { name: /^Open|^Enter the/ }).first());
    await hand.type(page.getByLabel('Station key'), key);
    await hand.key('Enter');
    await expect(section(page, 'People')).toBeVisible();
  });

  await stage('name and logo', async () => {
    await hand.press(section(page, 'Station'));
    await hand.type(page.locator('[data-path="name.ar"] input').first(), 'إذاعة الكورنيش');
    await hand.type(page.locator('[data-path="name.en"] input').first(), 'Corniche Radio');
    await hand.give(page.getByRole('button', { name: 'Logo: choose a picture' }), join(folder, 'logo.png'));
    await expect(page.locator('[data-picture=logo] img').first()).toBeVisible();
    await hand.press(page.locator('[data-foot] .key'));
    await expectNews(page, /^Saved\./m);
  });

  const songs = readdirSync(join(folder, 'songs')).map((name) => join(folder, 'songs', name));
  await stage(`${songs.length} songs by drag`, async () => {
    await hand.press(section(page, 'Library'));
    await expect(page.getByRole('heading', { name: /Library/ }).first()).toBeVisible();
    await hand.drop(songs);
    await expect(page.locator('[data-arrival]')).toHaveCount(songs.length, { timeout: 1_200_000 });
    await expect(page.locator('[data-arrival][data-state=looking]')).toHaveCount(0, { timeout: 1_200_000 });
    if (await page.locator('[data-arrival][data-state=asks]').count()) await hand.press(page.getByRole('button', { name: 'Add all as they are' }));
    await expect(page.locator('[data-arrival][data-state=taken]')).toHaveCount(songs.length, { timeout: 1_200_000 });
    await hand.press(page.locator('[data-tray] .fold')); // out of the way
  });

  await stage('its songs are on the air', async () => {
    await expect.poll(async () => (await look<{ track?: { artist: string } }>('/api/status')).track?.artist ?? '', { timeout: 600_000 }).toMatch(/^(Band|فرقة) /);
  });

  await stage('tags mended', async () => {
    await hand.type(page.getByRole('searchbox').first(), 'song 000');
    await expect(page.locator('[role=row][data-path]')).toHaveCount(1);
    await hand.reach(page.getByRole('grid'));
    await hand.key('Enter');
    const track = drawer(page);
    await hand.type(track.getByLabel('Title', { exact: true }), 'Corniche at Dawn');
    await hand.type(track.getByLabel('Artist', { exact: true }), 'The Mended Band');
    await hand.press(track.getByRole('button', { name: 'Save', exact: true }));
    await expectNews(page, 'One track was changed.');
    await hand.key('Escape');
  });

  await stage('a daypart', async () => {
    const now = new Date().getUTCHours(); // the station's own zone, so that it is seen to hold
    await hand.press(section(page, 'Programme'));
    await hand.press(page.getByRole('button', { name: 'Use no dayparts' }));
    await hand.press(page.getByRole('button', { name: 'Add a daypart' }));
    await hand.type(page.locator('[data-field="DAYPARTS[0].name"] input'), 'Breakfast');
    await hand.time(page.locator('[data-field="DAYPARTS[0].start"] input'), clockAt(now));
    await hand.time(page.locator('[data-field="DAYPARTS[0].end"] input'), clockAt(now + 4));
    await hand.press(page.getByRole('region', { name: 'Changes', exact: true }).getByRole('button', { name: 'Apply' }));
    // An hour of English songs alone goes with the built-in ones, and the studio asks.
    await hand.press(page.getByRole('dialog').getByRole('button', { name: 'Apply anyway' }));
    await expectNews(page, /^Applied/m);
  });

  await stage('a playlist', async () => {
    await hand.press(section(page, 'Library'));
    await hand.press(part(page, 'Playlists'));
    await hand.press(page.getByRole('button', { name: 'New playlist' }));
    const form = dialog(page, 'New playlist');
    await hand.type(form.getByLabel('Name'), 'Five of the fourth');
    await hand.key('Enter');
    await expect(page.getByRole('heading', { name: 'Five of the fourth', level: 2 })).toBeVisible();
    await hand.press(page.getByRole('button', { name: 'Add songs' }));
    const add = dialog(page, 'Add songs');
    await hand.type(add.getByRole('searchbox'), 'band 04');
    await expect(add.locator('[data-path]').first()).toContainText('Band 04');
    await hand.reach(add.getByRole('grid'));
    await hand.key('Space');
    await hand.key('Shift+ArrowDown', 4);
    await hand.press(add.getByRole('button', { name: 'Add 5 songs' }));
    await expect(page.locator('[data-item]')).toHaveCount(5);
  });

  await stage('it alone in the daypart', async () => {
    const only = page.getByRole('radio', { name: 'Only this playlist while it is open' });
    await hand.choose(page.locator('.way input[type=radio][name$=plays]:checked'), () => only.isChecked());
    await hand.press(page.getByRole('button', { name: 'Add a time' }));
    const time = page.locator('[data-window="0"]');
    await hand.press(time.getByRole('button', { name: 'Fri' })); // every day
    await hand.choose(time.getByLabel('Hours'), async () => (await time.getByLabel('Hours').inputValue()) === 'daypart');
    await hand.press(page.locator('[data-foot] .key'));
    await expectNews(page, 'is saved.');
  });

  await stage('a bulletin of three headlines', async () => {
    await hand.press(section(page, 'Production'));
    const bulletin = page.locator('section[aria-labelledby=bulletin]');
    await hand.type(bulletin.getByRole('textbox', { name: 'Write the headlines' }), headlines.join('\n'));
    await hand.press(bulletin.getByRole('button', { name: 'Save headlines' }));
    await expectNews(page, 'Headlines saved');
    await expect(bulletin.locator('[data-said]')).toContainText(headlines[1] as string);
    // While the station makes one by itself, the button says so and another cannot be ordered.
    const make = bulletin.getByRole('button', { name: 'Make now' });
    await expect(make).toBeVisible({ timeout: 600_000 });
    const ordered = page.waitForResponse((answer) => new URL(answer.url()).pathname === '/api/bulletin/generate');
    await hand.press(make);
    const { id } = (await (await ordered).json()) as { id: string };
    await expectNews(page, 'Bulletin: done.');
    const { result } = await look<{ result?: Made }>(`/api/jobs/${id}`);
    expect(saysThem(result), `the bulletin says the three headlines: ${JSON.stringify(result?.segments)}`).toBe(true);
    expect(result?.problem).toBe('');
  });

  let link = '';
  await stage('a user', async () => {
    await hand.press(section(page, 'People'));
    await hand.press(page.getByRole('button', { name: 'Add somebody' }));
    const form = dialog(page, 'Add somebody');
    await hand.type(form.getByLabel('Name', { exact: true }), 'سارة');
    await hand.type(form.getByLabel('Login name'), 'sara');
    const role = form.getByRole('radio', { name: /^Programme director/ });
    await hand.choose(form.locator('input[type=radio]:checked'), () => role.isChecked());
    await hand.key('Enter');
    const made = dialog(page, /The link for/);
    link = ((await made.getByLabel('Invitation link').textContent()) ?? '').trim();
    await hand.press(made.getByRole('button', { name: 'Close' }));
    await expect(page.getByRole('button', { name: 'Add somebody' })).toBeFocused();
  });

  await stage('who signs in elsewhere', async () => {
    const theirs = hand.on(guest);
    await guest.addInitScript(() => localStorage.setItem('athir.language', 'en'));
    await theirs.go(link);
    await theirs.type(guest.getByLabel('Password', { exact: true }), 'the river was low in August');
    await theirs.key('Enter');
    await theirs.press(guest.getByRole('link', { name: 'To the studio' }));
    await expect(guest.getByRole('contentinfo')).toContainText('سارة');
    await expect(section(guest, 'Programme')).toBeVisible();
    await expect(section(guest, 'People')).toHaveCount(0); // a programme director adds nobody
  });

  row('in all', hand.count.steps, hand.count.tabs, Date.now() - began);
  expect(hand.count.lost, 'after what nothing had the focus').toEqual([]);

  // What was made is what listeners get.
  await guest.goto('/');
  await expect(guest).toHaveTitle(/Corniche Radio/);
  const sign = guest.locator('.brand').first();
  await expect(sign).toContainText('Corniche Radio');
  await expect.poll(() => sign.locator('img').evaluate((one: HTMLImageElement) => one.naturalWidth)).toBeGreaterThan(0);
  const { config } = await look<{ config: { DAYPARTS: { name: string; start: string }[] } }>('/api/station/config');
  expect(config.DAYPARTS.map(({ name }) => name)).toEqual(['Breakfast']);
  const { playlists } = await look<{ playlists: { id: number; name: string; open: boolean; tracks: number }[] }>('/api/station/playlists');
  expect(playlists).toMatchObject([{ name: 'Five of the fourth', open: true, tracks: 5 }]);
  type Entry = { file: string; category: string; artist: string; listName?: string };
  const air = () => look<{ track?: Entry; history: Entry[]; rotation: { daypart: string } }>('/api/status');
  expect((await air()).rotation.daypart, 'the daypart in force').toMatch(/^custom:/);
  const plan = async () => (await look<{ rotation: Entry[] }>('/api/schedule')).rotation;
  // The bulletin of the three headlines, or one that was made anew of them as its time moved.
  const written = async () => {
    const { jobs } = await look<{ jobs: { id: string; kind: string; state: string }[] }>('/api/jobs');
    const made = await Promise.all(jobs.filter(({ kind, state }) => kind === 'bulletin' && state === 'done').map(({ id }) => look<{ result?: Made }>(`/api/jobs/${id}`)));
    return made.flatMap(({ result }) => (result && saysThem(result) ? [result.file] : []));
  };
  await expect.poll(async () => {
    const [{ track, history }, planned, files] = await Promise.all([air(), plan(), written()]);
    return [...planned, ...history, ...(track ? [track] : [])].some(({ file }) => files.includes(file));
  }, 'the bulletin of the three headlines is planned or heard').toBe(true);
  // The playlist is in the plan, and its band is heard.
  await expect.poll(async () => (await plan()).filter(({ listName }) => listName === 'Five of the fourth').length).toBeGreaterThan(0);
  await expect.poll(async () => (await air()).track?.artist, { message: 'on the air', timeout: 600_000 }).toBe('Band 04');
  await expect(guest.locator('.now .artist')).toHaveText('Band 04');
});
