import { execFileSync } from 'node:child_process';
import type { Page } from '@playwright/test';
import { expectSound, open, playButton, test } from '../tests/fixtures';
import { logLines, morning } from '../tests/mock/control';
import type { Mock } from '../tests/mock/mock';
import { assetsOf } from '../tests/mock/production';

// Shoots every page and part into web/shots to look at: npm run shots, or one part: npm run shots -- -g why
const sizes = { wide: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } };

interface Part {
  path: string;
  /** Brings the page to what is to be seen. */
  set: (page: Page, mock: Mock) => Promise<void>;
  whole?: boolean;
}

const row = (page: Page, i: number) => page.locator('section[aria-labelledby=rotation] ol > li').nth(i);

const parts: Record<string, Part> = {
  player: {
    path: '/',
    whole: true,
    set: async (page, mock) => {
      talk(mock);
      await playButton(page).click();
      await expectSound(page, 1);
      await page.mouse.move(0, 0);
    },
  },
  bell: {
    path: '/',
    set: async (page) => {
      await page.locator('.by button').click();
      await page.locator('dialog[open]').waitFor();
    },
  },
  door: { path: '/chat', set: async (page) => page.locator('#name').waitFor() },
  chat: {
    path: '/chat',
    set: async (page, mock) => {
      await chatting(page, mock);
      await page.locator('article').nth(2).hover();
    },
  },
  voice: {
    path: '/chat',
    set: async (page, mock) => {
      await chatting(page, mock);
      await page.locator('.record').focus();
      await page.keyboard.press('Enter');
      await page.waitForTimeout(2500);
    },
  },
  picker: {
    path: '/chat',
    set: async (page, mock) => {
      await chatting(page, mock);
      await page.locator('article .add').last().click();
      await page.locator('dialog[open]').waitFor();
    },
  },
  away: {
    path: '/chat',
    set: async (page, mock) => {
      await chatting(page, mock);
      mock.vanish();
      await page.locator('.state:not(:empty)').waitFor();
      await page.locator('textarea').fill('هل يصل هذا؟');
      await page.keyboard.press('Enter');
      await page.locator('.pending').waitFor();
    },
  },
  behind: {
    path: '/',
    whole: true,
    set: async (page, mock) => {
      talk(mock);
      mock.audience.tellState('comments', { slow: 0, closed: true, links: false });
      await playButton(page).click();
      await expectSound(page, 1);
      mock.audience.leave();
      await page.locator('.away:not(:empty)').waitFor();
      await page.locator('.closed:not(:empty)').waitFor();
    },
  },
  behindchat: {
    path: '/chat',
    set: async (page, mock) => {
      await chatting(page, mock);
      mock.audience.leave();
      await page.locator('.composer #away').waitFor();
      await page.locator('textarea').fill('هل يصل هذا؟');
      await page.keyboard.press('Enter');
      await page.locator('.pending').waitFor();
    },
  },
  studio: { path: '/studio', whole: true, set: async (page) => row(page, 37).waitFor() },
  why: {
    path: '/studio',
    set: async (page) => {
      await row(page, 41).locator('.ask').click();
      await page.locator('.passed').waitFor();
      await row(page, 39).scrollIntoViewIfNeeded();
    },
  },
  find: {
    path: '/studio',
    set: async (page) => {
      await page.locator('.orders button').nth(1).click();
      await page.getByRole('combobox').fill('ليل');
      await page.getByRole('option').nth(3).waitFor();
    },
  },
  key: {
    path: '/studio',
    set: async (page) => {
      await page.locator('.orders button').first().click();
      await page.locator('#station-key').fill('not it');
      await page.keyboard.press('Enter');
      await page.locator('.wrong:not(:empty)').waitFor();
    },
  },
  order: {
    path: '/studio',
    set: async (page, mock) => {
      mock.control.key = '';
      mock.control.refusal = { status: 409, body: { detail: 'a live broadcast is on the air' } };
      await page.locator('.orders button').first().click();
      await page.locator('.toasts li').waitFor();
      mock.heardAfterMs = Infinity;
      await page.locator('.orders button').first().click();
      await page.waitForTimeout(600);
    },
  },
  programme: {
    path: '/studio#/programme',
    whole: true,
    set: async (page) => {
      await page.locator('#clocks').waitFor();
    },
  },
  clock: {
    path: '/studio#/programme',
    set: async (page) => {
      await page.locator('#clocks').waitFor();
      await page.locator('article .positions select').nth(3).focus();
      await page.locator('#clocks').evaluate((heading) => heading.scrollIntoView());
    },
  },
  dayparts: {
    path: '/studio#/programme',
    set: async (page) => {
      await page.locator('section[aria-labelledby=dayparts] .acts button').first().click();
      await page.locator('#dayparts').waitFor();
      await page.locator('#dayparts').evaluate((heading) => heading.scrollIntoView());
    },
  },
  refused: {
    path: '/studio#/programme',
    set: async (page, mock) => {
      const field = page.locator('[data-field="ROTATION.MUSIC_FRESH_MS"] input');
      await field.fill('9000');
      mock.control.refusal = {
        status: 422,
        body: { detail: 'validation failed', errors: [{ location: 'body.ROTATION.MUSIC_FRESH_MS', message: 'must be 0 to 72 hours, in milliseconds' }] },
      };
      await page.locator('.bar .key').click();
      await page.locator('.bar ul').waitFor();
      await page.locator('.bar ul button').click();
    },
  },
  production: {
    path: '/studio#/production',
    whole: true,
    set: async (page, mock) => {
      busy(mock);
      await page.locator('.made li').first().waitFor();
    },
  },
  plan: {
    path: '/studio#/production',
    set: async (page) => {
      await page.locator('section[aria-labelledby=freshness] .key').click();
      await page.locator('dialog[open] h3').first().waitFor();
    },
  },
  firstday: {
    path: '/studio#/production',
    whole: true,
    set: async (page, mock) => {
      mock.control.key = 'asked for';
      mock.production.used = false;
      mock.production.bulletin.error = 'speak: every voice failed: espeak-ng: exit 1';
      await page.reload();
      await page.locator('section[aria-labelledby=bulletin] dl').waitFor();
      await page.locator('section[aria-labelledby=jobs] .key').waitFor();
    },
  },
  wanted: {
    path: '/studio#/production',
    set: async (page, { control }) => {
      control.config.SINGERS = { arabic_hits: ['أم كلثوم', 'فيروز', 'عبد الحليم حافظ', 'Dalida', 'محمد منير'], english: ['The Delta'] };
      control.config.QUERIES = { arabic_hits: ['أغاني هادئة', 'https://video.example/playlist?list=PLx7'] };
      await page.reload();
      const singers = page.locator('[data-list=singers]');
      await singers.locator('li button').nth(3).click();
      await singers.locator('li input').nth(1).fill(' ');
      await singers.locator('form input').fill('وردة');
      await page.locator('section[aria-labelledby=wanted] .key').click();
      await singers.locator('li .wrong').waitFor();
      await singers.locator('form input').fill('شادية');
      await page.locator('#wanted').evaluate((heading) => heading.scrollIntoView());
    },
  },
  nowanted: {
    path: '/studio#/production',
    set: async (page) => {
      await page.locator('[data-list=singers]').waitFor();
      await page.locator('#wanted').evaluate((heading) => heading.scrollIntoView());
    },
  },
  hooks: {
    path: '/studio#/listeners',
    set: async (page) => {
      await page.locator('section[aria-labelledby=hooks] fieldset label').first().waitFor();
      await page.locator('#hooks').evaluate((heading) => heading.scrollIntoView());
    },
  },
  live: {
    path: '/studio#/live',
    whole: true,
    set: async (page, mock) => {
      mock.live.take('LIVE5f0c91aa', 'replace', Date.now() - 754_000);
      mock.live.wrapUpAt = Date.now() + 52_000;
      await page.locator('[data-publisher]').first().waitFor();
      await page.locator('[data-air=on]').waitFor();
    },
  },
  golink: {
    path: '/studio#/live',
    set: async (page) => {
      await page.locator('[data-publisher] button').nth(1).click();
      await page.locator('dialog[open] .key').click();
      await page.locator('#live-link').waitFor();
      await page.locator('summary').click();
    },
  },
  listeners: {
    path: '/studio#/listeners',
    whole: true,
    set: async (page, mock) => {
      flood(mock);
      await page.locator('#moderation').waitFor();
      await page.locator('section[aria-labelledby=airings] .tools button').first().click();
      await page.locator('section[aria-labelledby=airings] tbody tr').first().waitFor();
    },
  },
  airings: {
    path: '/studio#/listeners',
    set: async (page) => {
      await page.locator('section[aria-labelledby=airings] .tools button').first().click();
      await page.locator('section[aria-labelledby=airings] tbody tr').first().waitFor();
      await page.locator('#airings').evaluate((heading) => heading.scrollIntoView());
    },
  },
  purge: {
    path: '/studio#/listeners',
    set: async (page, mock) => {
      flood(mock);
      await page.locator('.found .acts button').last().click();
      await page.locator('dialog[open] li').first().waitFor();
    },
  },
  alarm: {
    path: '/studio',
    set: async (page, mock) => {
      mock.operator.raise('silence', 'restart_engine', Date.now() - 7000);
      await page.locator('.banner.on').waitFor();
    },
  },
  alert: {
    path: '/',
    set: async (page, mock) => {
      await page.locator('[data-link=live]').waitFor({ state: 'attached' });
      mock.operator.raise('silence');
      await page.locator('.alert:not(:empty)').waitFor();
    },
  },
  staffdoor: { path: '/chat#staff', set: async (page) => page.locator('#name').waitFor() },
  staff: {
    path: '/chat#staff',
    set: async (page, mock) => {
      mock.control.key = 'x';
      await page.locator('#staff-key').fill('x');
      await page.keyboard.press('Enter');
      await page.locator('textarea').waitFor();
      mock.audience.say({ user: 'Omar', text: 'Port Said here. The signal is crystal clear tonight.' });
      mock.audience.say({ user: 'سبّاق', text: 'اشترِ الآن!' });
      mock.operator.raise('gone');
      await page.locator('.act').last().click();
      await page.locator('dialog[open]').waitFor();
    },
  },
  review: {
    path: '/studio#/review',
    whole: true,
    set: async (page, mock) => {
      await reviewed(page, mock);
      await page.locator('[data-filter=all]').waitFor();
      await page.locator('article[data-hand] canvas').waitFor();
      await page.locator('[data-sound=ready]').waitFor();
    },
  },
  reported: {
    path: '/studio#/review',
    whole: true,
    set: async (page, mock) => {
      await reviewed(page, mock);
      await page.locator('[data-filter=reported]').click();
      await page.locator('article[data-hand] canvas').waitFor();
      await page.getByRole('button', { name: /What they sent before|ما أرسله من قبل/ }).click();
      await page.locator('.before li bdi').first().waitFor();
      await page.keyboard.press('x');
    },
  },
  rejecting: {
    path: '/studio#/review',
    set: async (page, mock) => {
      await reviewed(page, mock);
      await page.locator('article[data-hand] canvas').waitFor();
      await page.keyboard.press('r');
      await page.locator('dialog[open] li').first().waitFor();
    },
  },
  undoing: {
    path: '/studio#/review',
    set: async (page, mock) => {
      await reviewed(page, mock);
      mock.review.refusals.set(3, 'post 3: its file is gone: process it again');
      await page.locator('article[data-hand] canvas').waitFor();
      await page.keyboard.press('a');
      await page.keyboard.press('Shift+J');
      await page.keyboard.press('Shift+J');
      await page.keyboard.press('a');
      await page.locator('.outcome').waitFor();
    },
  },
  reviewkeys: {
    path: '/studio#/review',
    set: async (page, mock) => {
      await reviewed(page, mock);
      await page.locator('article[data-hand]').waitFor();
      await page.keyboard.press('?');
      await page.locator('dialog[open] dl').waitFor();
    },
  },
  taken: {
    path: '/studio#/review',
    set: async (page, mock) => {
      await reviewed(page, mock, 'athir.admin-key');
      await page.locator('article[data-hand] canvas').waitFor();
      mock.review.decideElsewhere(1, 'reject', 'moderator 192.0.2.9');
      await page.locator('.lost.on').waitFor();
    },
  },
  noposts: {
    path: '/studio#/review',
    set: async (page, mock) => {
      await moderating(page, mock, 'athir.admin-key');
      await page.locator('.nothing').waitFor();
    },
  },
  log: {
    path: '/studio#/log',
    set: async (page) => {
      await page.locator('.lines li').first().waitFor();
    },
  },
};

/** One who writes too much, and another. */
function flood({ audience }: Mock): void {
  for (let i = 1; i <= 7; i++) audience.say({ user: 'سبّاق', text: `اشترِ الآن ${i}`, at: Date.now() - 300_000 + i });
  audience.say({ user: 'Nour', text: 'Good evening from Port Said!' });
}

/** Listeners who have written and voted. */
function talk({ audience }: Mock): void {
  audience.comment('نور', 'الأغنية دي بتفكرني بصيف إسكندرية ❤️');
  audience.comment('Omar', 'Good evening from Port Said! Could you play Slow River again?');
  audience.comment('أثير', 'مساء النور يا عمر، بعد قليل.', { staff: true });
  audience.comment('هالة منصور', 'مين سامع معانا دلوقتي؟');
  Object.assign(audience.vibes, { chill: 12, romantic: 8, tarab: 31, party: 5, energy: 9, focus: 3 });
  Object.assign(audience.reactions, { '❤️': 12840, '🔥': 941, '👏': 322, '😂': 87, '🥹': 51, '🎶': 1203, '🌹': 64 });
}

/** A picture of the size, as JPEG. */
function picture(): Buffer {
  return execFileSync('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', 'gradients=s=1200x800:c0=0x0f2d33:c1=0xffb84d:c2=0x2b8187:n=3:seed=7', '-frames:v', '1', '-f', 'mjpeg', '-']);
}

/** A room in the middle of a conversation. */
async function chatting(page: Page, { audience }: Mock): Promise<void> {
  const at = Date.now() - 3_600_000;
  audience.media.set('/chat/media/a.jpg', { body: picture(), type: 'image/jpeg' });
  audience.media.set('/chat/media/v.webm', { body: execFileSync('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', 'aevalsrc=0.6*sin(2*PI*180*t)*abs(sin(2*PI*0.7*t))*abs(sin(2*PI*2.3*t)):d=9', '-c:a', 'libopus', '-f', 'webm', '-']), type: 'audio/webm' });
  audience.say({ user: 'سلمى', text: 'مساء الخير على الجميع', at: at - 86_400_000 });
  audience.say({ user: 'سلمى', text: 'مين سامع من إسكندرية؟ البحر هادي جدًا النهارده والجو جميل.', at, reactions: { '🌊': 4, '❤️': 2 } });
  audience.say({ user: 'Omar', text: 'Port Said here. The signal is crystal clear tonight.', at: at + 60_000 });
  audience.say({ user: 'Omar', text: 'Here is the view:', at: at + 80_000 });
  audience.say({ user: 'Omar', text: '', type: 'image', url: '/chat/media/a.jpg', width: 1200, height: 800, at: at + 90_000, reactions: { '😍': 7 } });
  audience.say({ user: 'أثير', text: 'صورة جميلة يا عمر. بعد الفاصل: قمر على الكورنيش.', staff: true, at: at + 400_000 });
  audience.say({ user: 'هالة منصور', text: '', type: 'voice', url: '/chat/media/v.webm', durationMs: 9000, at: at + 500_000 });
  await page.locator('#name').fill('نور');
  await page.keyboard.press('Enter');
  await page.locator('textarea').fill('يا سلام! أنا سامع من المنصورة 🎶');
  await page.keyboard.press('Enter');
  await page.locator('article.mine').waitFor();
  await page.locator('article img').evaluate((image: HTMLImageElement) => image.decode());
  await page.waitForTimeout(600);
}

/** A station at work: one job runs, one waits, others have ended each way. */
function busy({ production }: Mock): void {
  const now = Date.now();
  const ended = (minutes: number) => ({ queuedAt: now - minutes * 60_000, startedAt: now - minutes * 60_000, endedAt: now - minutes * 60_000 + 42_000 });
  production.held = true;
  production.add('content refresh', { state: 'interrupted', ...ended(700), error: 'the station was stopped' });
  production.add('content scrub', { state: 'failed', ...ended(95), error: 'look at music/english: permission denied' });
  production.add('imaging', { state: 'done', ...ended(60), result: { made: assetsOf('imaging', 9), failed: [{ kind: 'id', error: 'speak: no voice answered' }], archived: 11, kept: 2, problem: '' } });
  production.add('stingers', { state: 'cancelled', ...ended(50), error: 'cancelled by the operator' });
  production.add('content refresh', { startedAt: now - 83_000, progress: { step: 'songs', detail: 'music/arabic_hits/ليالي الحلمية.mp3', done: 7, total: 20 } });
  production.add('content plan', { state: 'queued', startedAt: 0 });
}

/** Opens the page with a key kept from before: the operator's, or a moderator's. */
async function moderating(page: Page, { control, review }: Mock, name: string): Promise<void> {
  control.key = 'operate';
  await page.evaluate(([kept, key]) => sessionStorage.setItem(kept, key), [name, name === 'athir.admin-key' ? review.adminKey : control.key] as const);
  await page.reload();
}

/** Posts of listeners of every kind. */
async function reviewed(page: Page, mock: Mock, name = 'athir.station-key'): Promise<void> {
  const { review } = mock;
  review.fill(9);
  const sender = { id: 's1', posts: 7, approved: 4, rejected: 1, trusted: true, blocked: false };
  const reason = { code: 'too_long', en: 'Longer than its type allows', ar: 'أطول مما يسمح به نوعها' };
  review.add({ status: 'rejected', title: 'سهرة كاملة', reason, submitter: sender, history: [{ at: Date.now() - 90_000, who: 'station', action: 'refuse' }] });
  review.add({ status: 'failed', title: 'Unfinished', stage: 'mastering', tries: 3 });
  review.add({
    title: 'ليالي النيل', artist: 'فرقة المحطة', type: 'song', category: 'arabic_hits', createdAt: Date.now() - 86_400_000, duration: 187_400, submitter: sender,
    reason: { code: 'reported', en: 'Listeners reported it', ar: 'أبلغ عنها مستمعون' }, notes: ['video_sound_only', 'low_rate'],
    reports: [{ at: Date.now() - 600_000, why: 'rights', text: 'هذه أغنية ألبوم منشور' }, { at: Date.now() - 60_000, why: 'quality' }],
    duplicates: [{ post: 2, title: 'Slow River', artist: 'The Delta', difference: 0.034, sameName: false, status: 'pending' }, { file: 'music/a.mp3', title: 'ليالي النيل', artist: 'فرقة أخرى', difference: 0.41, sameName: true }],
  });
  await moderating(page, mock, name);
}

/** A station whose operator has set it up, without a key. */
function dress(mock: Mock): void {
  const { control } = mock;
  control.key = '';
  control.saved = false;
  control.config.MOOD = 'tarab';
  control.config.ROTATION.MUSIC_FRESH_MS = 14_400_000;
  control.config.CLOCKS = morning();
  control.log = logLines();
}

for (const [name, part] of Object.entries(parts)) {
  for (const [size, viewport] of Object.entries(sizes)) {
    for (const language of ['ar', 'en'] as const) {
      for (const colorScheme of ['dark', 'light'] as const) {
        test(`${name} ${size} ${language} ${colorScheme}`, async ({ browser, baseURL, mock }) => {
          const phone = size === 'phone';
          const context = await browser.newContext({ viewport, colorScheme, baseURL: baseURL as string, hasTouch: phone, isMobile: phone, deviceScaleFactor: phone ? 2 : 1 });
          const page = await context.newPage();
          if (part.path.includes('#/')) dress(mock);
          await open(page, part.path, language);
          await part.set(page, mock);
          await page.waitForTimeout(500); // fonts swap in
          await page.screenshot({ path: `shots/${name}-${language}-${size}-${colorScheme}.png`, fullPage: Boolean(part.whole && phone) });
          await context.close();
        });
      }
    }
  }
}
