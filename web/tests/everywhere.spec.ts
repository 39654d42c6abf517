import type { Page } from '@playwright/test';
import { expect, open, realStation, test } from './fixtures';
import { expectWhole, layoutFaults } from './look';
import { lostPage } from './mock/lost';
import type { Mock } from './mock/mock';

// Every page and section: axe finds nothing, and all of it fits, in both languages and themes, from a
// phone's width to a large screen's. A new page or section is a line in one of the two lists.
// ATHIR_SHOTS=/some/folder keeps a picture of each.

interface Place {
  path: string | ((mock: Mock) => string);
  /** Is there once the page has what it shows. */
  settled: string;
  /** Before the page is opened. */
  with?: (mock: Mock, page: Page) => void | Promise<void>;
  /** Once it is settled. */
  then?: (page: Page, mock: Mock) => Promise<void>;
}

const minute = 60_000;

/** Listeners' pages. */
const pages: Record<string, Place> = {
  player: { path: '/', settled: '#coming-up', with: waiting },
  requests: { path: '/', settled: '#coming-up', then: async (page) => { await page.locator('[data-request-song], button:has-text("اطلب أغنية"), button:has-text("Request a song")').first().click(); await expect(page.locator('dialog[open] li[data-file]').first()).toBeVisible(); } },
  door: { path: '/chat', settled: '#name' },
  chat: { path: '/chat', settled: '#name', then: async (page) => { await page.locator('#name').fill('منى'); await page.keyboard.press('Enter'); await page.locator('textarea').fill('مساء الخير من بورسعيد'); await page.keyboard.press('Enter'); await expect(page.getByText('مساء الخير من بورسعيد')).toBeVisible(); } },
  social: { path: '/social.html', settled: '[data-post="1"]' },
  'social-send': { path: '/social.html#send', settled: 'main form, main [data-upload], main input' },
  'social-mine': { path: '/social.html#mine', settled: '[data-view=mine] h2' },
  'social-chart': { path: '/social.html#chart', settled: '[data-view=chart] li, [data-view=chart] .none' },
  'social-choose': { path: '/social.html#choose', settled: '[data-view=choose] h2', with: ({ social }) => void (social.approveVotes = 10) },
  'social-post': { path: '/social.html?post=1', settled: '[data-post="1"]' },
  history: { path: '/history', settled: 'li[data-row]' },
  'history-search': { path: '/history?q=fairuz', settled: 'li[data-row], [data-missing]' },
  track: { path: (mock) => `/track/${mock.past.list[4]!.id}`, settled: 'article' },
  'track-missing': { path: '/track/aaaaaaaaaaaaaaaa', settled: '[data-missing]' },
  podcasts: { path: '/podcasts', settled: '[data-show]' },
  show: { path: '/podcasts/thursday-night', settled: 'li[data-episode]' },
  episode: { path: (mock) => mock.podcasts.episodes.get('thursday-night')![0]!.page, settled: '.chapters li', then: async (page) => { await page.locator('[data-play].loud').click(); await expect(page.locator('[data-bar]')).toBeVisible(); } },
  embed: { path: '/embed', settled: 'button' },
  'go-live': { path: '/golive.html', settled: '#key, input' },
  offline: { path: '/', settled: '#coming-up', then: leave },
};

/** The studio's sections, and their parts. */
const sections: Record<string, Place> = {
  air: { path: '#/air', settled: 'section[aria-labelledby=library] .pager, section[aria-labelledby=library] p.quiet[role=status]' },
  programme: { path: '#/programme', settled: '#knobs' },
  library: { path: '#/library', settled: '[role=row]' },
  playlists: { path: '#/library/playlists', settled: '[data-list]', with: ({ lists }) => void lists.add({ name: 'سهرة الجمعة', plays: 'share', open: true }, lists.paths(6)) },
  quarantine: { path: '#/library/quarantine', settled: 'main section' },
  archive: { path: '#/library/archive', settled: 'main section' },
  changes: { path: '#/library/history', settled: 'main section' },
  import: { path: '#/library/import', settled: 'main section' },
  podcasts: { path: '#/podcasts', settled: '[data-show]', with: ({ podcasting }) => podcasting.set() },
  'podcast-episodes': { path: '#/podcasts/layali', settled: '[data-episode]', with: ({ podcasting }) => podcasting.set() },
  'podcast-settings': { path: '#/podcasts/layali/settings', settled: '#show-title', with: ({ podcasting }) => podcasting.set() },
  'podcast-share': { path: '#/podcasts/layali/share', settled: '#share-sites', with: ({ podcasting }) => podcasting.set() },
  production: { path: '#/production', settled: 'main section h2' },
  live: { path: '#/live', settled: '#live-requests' },
  listeners: { path: '#/listeners', settled: '#airings' },
  tracks: { path: '#/listeners/tracks', settled: 'tbody tr' },
  crowd: { path: '#/listeners/crowd', settled: '#figures-crowd' },
  royalties: { path: '#/listeners/royalties', settled: '#figures-royalties' },
  requests: { path: '#/requests', settled: '#asked', with: waiting },
  review: { path: '#/review', settled: 'article[data-hand]', with: ({ review }) => void review.fill(4) },
  station: { path: '#/station', settled: '#face-names', with: ({ facing }) => facing.set() },
  log: { path: '#/log', settled: 'main' },
  people: { path: '#/people', settled: '[data-user]' },
  account: { path: '#/account', settled: 'main section' },
};

/** Requests in each state. */
function waiting({ requests }: Mock): void {
  requests.add(0, 'منى', { status: 'planned', expectedAt: Date.now() + 12 * minute, note: 'لأختي في بورسعيد' });
  requests.add(3, '', { at: Date.now() - 3 * minute });
  requests.add(4, 'Omar', { status: 'planned', expectedAt: Date.now() + 40 * minute });
}

/** An address at which there is nothing. */
async function lost(page: Page): Promise<void> {
  if (!realStation) await page.route('**/nowhere', (route) => route.fulfill({ status: 404, contentType: 'text/html; charset=utf-8', body: lostPage() }));
}

/** The network is gone as the next page is opened. */
async function leave(page: Page, mock: Mock): Promise<void> {
  await page.evaluate(() => navigator.serviceWorker.ready);
  await expect.poll(() => page.evaluate(async () => (await caches.match('/offline')) !== undefined && navigator.serviceWorker.controller !== null)).toBe(true);
  mock.vanish();
  await page.goto('/history');
  await expect(page.locator('main h1')).toBeVisible();
  await expect(page.locator('main > button')).toBeVisible();
}

async function visit(page: Page, mock: Mock, place: Place, language: 'ar' | 'en', before = ''): Promise<void> {
  mock.scene.entries = 20; // a row is like the others, and axe reads them all
  await place.with?.(mock, page);
  await open(page, before + (typeof place.path === 'string' ? place.path : place.path(mock)), language);
  await expect(page.locator(place.settled).first()).toBeVisible();
  await place.then?.(page, mock);
}

test('what is looked for is found where it is', async ({ page }) => {
  const on = async (html: string, thumb = true): Promise<string> => {
    await page.setContent(`<!doctype html><html lang="en"><body>${html}</body></html>`);
    return (await layoutFaults(page, thumb)).map((fault) => fault.slice(0, fault.indexOf(':'))).join();
  };
  const big = 'display:block;min-width:6rem;min-height:3rem;';
  expect(await on(`<button style="${big}">play</button>`)).toBe('');
  expect(await on('<p style="width:3000px">wide</p>')).toBe('scrolled sideways');
  expect(await on(`<button style="${big}width:6rem;overflow:hidden;white-space:nowrap;text-overflow:ellipsis">a name that is too long for it</button>`)).toBe('cut off');
  expect(await on('<p style="width:6rem;overflow:hidden;white-space:nowrap">a text that is too long for it</p>')).toBe('cut off');
  expect(await on('<p class="clip" style="width:6rem;overflow:hidden;white-space:nowrap;text-overflow:ellipsis"><bdi>a title that is too long for it</bdi></p>')).toBe('');
  expect(await on('<input style="width:6rem;height:3rem" aria-label="x" placeholder="what is to be written here">')).toBe('cut off');
  expect(await on(`<button style="${big}">under</button><button style="${big}position:relative;margin-top:-3rem">over</button>`)).toBe('covered');
  expect(await on('<button style="width:20px;height:20px;min-height:0;padding:0;border:0">x</button>')).toBe('small');
  expect(await on('<button style="width:20px;height:20px;min-height:0;padding:0;border:0">x</button>', false)).toBe('');
  expect(await on('<label style="display:block;height:3rem"><input type="checkbox"> a box in its label</label>')).toBe('');
  expect(await on('<p>some words and <a href="/">a link</a> within them</p>')).toBe('');
});

// The page that a real station makes of its own words.
for (const colorScheme of ['light', 'dark'] as const) {
  test(`every width of an address at which there is nothing: ${colorScheme}`, { tag: '@station' }, async ({ page }) => {
    await lost(page);
    await page.goto('/nowhere');
    await expect(page.locator('main.missing')).toBeVisible();
    await expectWhole(page, colorScheme, { thumb: true, shot: 'lost' });
  });
}

for (const [language, colorScheme] of [['ar', 'light'], ['en', 'light'], ['ar', 'dark'], ['en', 'dark']] as const) {
  for (const [name, place] of Object.entries(pages)) {
    test(`every width of a listeners’ page: ${name} ${language} ${colorScheme}`, async ({ page, mock }) => {
      await visit(page, mock, place, language);
      await expectWhole(page, colorScheme, { thumb: true, shot: `${name}-${language}` });
    });
  }

  for (const [name, place] of Object.entries(sections)) {
    test(`every width of a section: ${name} ${language} ${colorScheme}`, async ({ page, mock }) => {
      const { person, password } = mock.people.add('mona', 'owner', { name: 'منى الشاذلي' });
      expect((await page.request.post('/api/session', { data: { login: person.login, password } })).status()).toBe(200);
      await visit(page, mock, place, language, '/studio');
      await expectWhole(page, colorScheme, { shot: `studio-${name}-${language}` });
    });
  }
}
