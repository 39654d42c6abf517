import { enter, expect, open, realStation, test, write } from './fixtures';

// A real station of one's own whose control plane is killed while two listeners write:
// ATHIR_URL=… ATHIR_KILL=1 npm run e2e. Its supervisor starts it again.

test('what is written while the control plane is killed counts once, all of it', { tag: '@kill' }, async ({ page, guest, request }) => {
  test.setTimeout(300_000);
  expect(realStation).toBeTruthy();
  const look = async (path: string) => (await request.get(path, { headers: { 'x-station-key': process.env.ATHIR_KEY ?? '' } })).json();
  await enter(page, 'نور', 'ar');
  await open(guest, '/', 'en');
  await guest.locator('#coming-up').waitFor();
  const mark = Math.random().toString(36).slice(2, 10);
  await write(page, `0 ${mark}`);
  await expect(page.locator('article').filter({ hasText: mark })).toHaveCount(1);
  const before = ((await look('/api/reactions'))['🔥'] ?? 0) as number;

  const { processes } = await look('/api/status');
  process.kill(processes.find(({ name }: { name: string }) => name === 'control').pid, 'SIGKILL');
  for (const n of [1, 2, 3]) await write(page, `${n} ${mark}`);
  await guest.getByLabel('Your name').fill('Omar');
  await guest.getByLabel('Your comment').fill(mark);
  await guest.keyboard.press('Enter');
  for (let i = 0; i < 15; i++) await guest.locator('[data-emoji="🔥"]').click();

  for (const writer of [page, guest]) await expect(writer.locator('.pending')).toHaveCount(0);
  await expect(page.locator('article').filter({ hasText: mark })).toHaveText([/0 /, /1 /, /2 /, /3 /]);
  await expect.poll(async () => (await look('/api/reactions'))['🔥']).toBe(before + 15);
  const { messages } = await look('/api/chat/rooms/main/messages?limit=200');
  expect(messages.map(({ text }: { text: string }) => text).filter((text: string) => text.includes(mark))).toEqual([0, 1, 2, 3].map((n) => `${n} ${mark}`));
  const { comments } = await look('/api/comments?limit=200');
  expect(comments.filter(({ text }: { text: string }) => text === mark)).toHaveLength(1);
});
