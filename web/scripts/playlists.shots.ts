import { expect, open, test } from '../tests/fixtures';

// Pictures of the playlists: npm run shots -- playlists

const sizes = { phone: { width: 390, height: 844 }, tablet: { width: 768, height: 1024 }, wide: { width: 1920, height: 1080 } };

for (const [size, viewport] of Object.entries(sizes)) {
  for (const [language, colorScheme] of [['ar', 'light'], ['en', 'dark']] as const) {
    test(`playlists: ${size} ${language} ${colorScheme}`, async ({ page, mock }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport);
      const shoot = (name: string, fullPage = false) => page.screenshot({ path: `shots/playlists-${name}-${size}-${language}.png`, fullPage });
      const kept = mock.people.add('omar', 'programme', { name: 'Omar Naguib' });
      await page.request.post('/api/session', { data: { login: 'omar', password: kept.password } });
      await open(page, '/studio#/library/playlists', language);
      await expect(page.locator('.empty h3')).toBeVisible();
      await shoot('empty');
      const { lists } = mock;
      const jazz = lists.add({ name: 'سهرة الجمعة', note: 'الجاز والطرب الهادئ', plays: 'only', when: [{ days: ['fri'], start: '20:00', end: '01:00' }, { days: ['tue', 'wed'], daypart: 'morning', start: '00:00', end: '00:00', until: '2026-12-31' }], open: true }, [...lists.paths(5), 'gone/Old_Friend.mp3', ...lists.paths(60).slice(5)]);
      lists.add({ name: 'Station identifications', plays: 'songs', everySongs: 4 }, lists.paths(12));
      lists.add({ name: 'New this month', kind: 'smart', query: { genre: ['folk'] }, plays: 'share', share: 30, order: 'shuffle' });
      const remote = lists.add({ name: 'Partner charts', kind: 'remote', address: 'https://radio.example/top40.m3u', everyMinutes: 60, plays: 'hourly', minute: 15, fetchedAt: Date.now() - 1_900_000, problem: { en: 'the address answered 404 Not Found', ar: 'ردّ الرابط بأنه غير موجود (404).' }, unmatched: lists.unmatched }, lists.paths(9));
      lists.add({ name: 'ذكرى', plays: 'once', on: false, when: [{ start: '10:00', end: '11:00', from: '2026-12-01', until: '2026-12-01' }] }, lists.paths(3));
      lists.kept.get(jazz.id)!.list.nextAt = Date.now() + 26 * 3_600_000;
      await page.reload();
      await expect(page.locator('[data-list]')).toHaveCount(5);
      await shoot('list');
      await page.locator('header .key').first().click();
      await expect(page.locator('dialog[open] .way')).toHaveCount(4);
      await shoot('new');
      await page.keyboard.press('Escape');
      await page.locator(`[data-list="${jazz.id}"] a`).click();
      await expect(page.locator('[data-item]').first()).toBeVisible();
      await shoot('hand');
      await shoot('hand-whole', true);
      await page.getByRole('grid').scrollIntoViewIfNeeded();
      await shoot('songs');
      await page.locator('[data-item] .tick').nth(1).click();
      await page.locator('[data-item] .tick').nth(2).click();
      await page.locator('.way input').first().focus();
      await page.locator('.way').nth(1).locator('input').check();
      await page.locator('[data-window]').first().scrollIntoViewIfNeeded();
      await shoot('when');
      await page.locator('.tools .key').scrollIntoViewIfNeeded();
      await page.locator('.tools .key').click();
      await expect(page.locator('dialog[open] [data-path]').first()).toBeVisible();
      await page.locator('dialog[open] [data-path]').nth(1).click();
      await shoot('add');
      await page.locator('dialog[open] header .bare').click();
      await page.locator('.foot .pill').click();
      await page.goto('/studio#/library/playlists/3');
      await expect(page.locator('[data-path]').first()).toBeVisible();
      await shoot('smart');
      await page.goto(`/studio#/library/playlists/${remote.id}`);
      await expect(page.locator('[data-item]').first()).toBeVisible();
      await shoot('remote');
      await page.goto('/studio#/library');
      await page.locator('[role=row][data-path] .tick').nth(1).click();
      await page.locator('[data-foot] .acts .pill').last().click();
      await expect(page.locator('dialog[open] li button').first()).toBeVisible();
      await shoot('add-to');
      await page.locator('dialog[open] .acts .pill').click();
      mock.control.config.CLOCKS = [{ name: 'Evening', start: '18:00', end: '22:00', hour: [{ category: 'news', at: '00:00' }, { category: 'music', count: 3 }, { category: 'playlist', list: 'سهرة الجمعة', count: 2 }, { category: 'playlist', list: 'Gone' }, { category: 'break' }] }];
      await page.goto('/studio#/programme');
      await page.locator('[data-position="2"]').scrollIntoViewIfNeeded();
      await shoot('clock');
    });
  }
}
