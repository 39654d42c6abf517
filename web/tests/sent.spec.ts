import { join } from 'node:path';
import { expect, test } from './fixtures';
import { arrival, as, drop } from './staffed';

// A file is sent to the library of a real station of one's own, whose control plane is killed
// meanwhile: ATHIR_URL=… ATHIR_KEY=… ATHIR_KILL=1 ATHIR_SHELF=… npm run e2e -- sent
// ATHIR_SHELF is a folder with sent.wav, of some megabytes.

const key = process.env.ATHIR_KEY ?? '';

test('@kill a file that is sent while the control plane is killed twice is in the library once', async ({ page }) => {
  /** The process id of the control plane; 0 while there is none. */
  const control = async (): Promise<number> => {
    const answer = await page.request.get('/api/status', { headers: { 'x-station-key': key } }).catch(() => null);
    const { processes = [] } = answer?.ok() ? await answer.json() : {};
    return processes.find(({ name }: { name: string }) => name === 'control')?.pid ?? 0;
  };
  const asked: string[] = [];
  page.on('request', (request) => request.url().includes('/library/uploads/') && asked.push(request.method()));
  await as(page, 'programme', '/studio#/library');
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  await page.getByLabel('Category for all').selectOption('english');
  const line = await page.context().newCDPSession(page);
  await line.send('Network.enable');
  const slow = (uploadThroughput: number) => line.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput });
  await slow(600_000);

  await drop(page, join(process.env.ATHIR_SHELF ?? '', 'sent.wav'));
  const bar = page.locator('[data-send="sent.wav"] progress');
  await expect.poll(async () => ((await bar.count()) > 0 ? Number(await bar.getAttribute('value')) : 0)).toBeGreaterThan(20);
  const first = await control();
  process.kill(first, 'SIGKILL');
  await slow(20_000); // the rest comes when the next control plane is known
  await expect(page.locator('[data-send="sent.wav"]')).toHaveAttribute('data-state', 'waiting');
  const begun = asked.length;

  // The second one follows at once upon the answer that the station has all of it.
  let next = 0;
  const whole = new Promise<void>((resolve) => page.on('response', (response) => {
    if (response.headers()['x-intake-id'] === undefined || next === 0) return;
    process.kill(next, 'SIGKILL');
    resolve();
  }));
  await expect.poll(async () => (next = await control())).not.toBe(first);
  await expect.poll(async () => (next = await control())).not.toBe(0);
  await slow(2_000_000);
  await whole;
  await expect(arrival(page, 'sent.wav')).toHaveAttribute('data-state', 'taken');
  console.log(`SENT ${asked.join(' ')}; the first kill was after ${begun}`);
  expect(asked.filter((method) => method === 'POST')).toHaveLength(1);
  expect(asked).toContain('HEAD');
  await expect(page.locator('[data-send]')).toHaveCount(0);
});
