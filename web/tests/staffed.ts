import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Page } from '@playwright/test';
import type { Role } from '../src/studio/rights';
import { expect, open } from './fixtures';

// What tests share that work in the studio of a real station as somebody, with files.

const key = process.env.ATHIR_KEY ?? '';
const password = 'the river was low in August';

/** Adds somebody with the station key, and opens the studio as them. */
export async function as(page: Page, role: Role, path: string): Promise<void> {
  const login = `${role}-${Math.random().toString(36).slice(2, 8)}`;
  const made = await page.request.post('/api/people', { headers: { 'x-station-key': key }, data: { login, role, name: login } });
  expect(made.status()).toBe(201);
  const { token } = await made.json();
  const accepted = await page.request.post('/api/session/invitation/accept', { headers: { 'sec-fetch-site': 'same-origin' }, data: { token, password } });
  expect(accepted.status()).toBe(200);
  await open(page, path, 'en');
  await expect(page.getByRole('contentinfo')).toContainText(login);
}

/** Drops a file of the disk somewhere on the page. */
export async function drop(page: Page, path: string): Promise<void> {
  const data = await page.evaluateHandle(([name, base64]) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name, { type: 'audio/mpeg' }));
    return transfer;
  }, [basename(path), readFileSync(path).toString('base64')] as [string, string]);
  await page.dispatchEvent('body', 'dragover', { dataTransfer: data });
  await page.dispatchEvent('body', 'drop', { dataTransfer: data });
}

/** What the station answers to the page itself, with its cookie. */
export async function ask<T>(page: Page, path: string, order: { method?: string; body?: unknown } = {}): Promise<{ status: number; answer: T }> {
  return page.evaluate(async ([path, { method = 'GET', body }]) => {
    const got = await fetch(path, { method, ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }) });
    return { status: got.status, answer: (await got.json().catch(() => null)) as T };
  }, [path, order] as const);
}

export const arrival = (page: Page, name: string) => page.locator(`[data-arrival="${name}"]`);
export const drawer = (page: Page) => page.locator('.beside, dialog[open]').filter({ has: page.locator('.lane') });
