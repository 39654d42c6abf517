import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { known } from './explain';

/** Every text of the station's packages that refuse listeners. */
function texts(): string {
  const root = new URL('../../../internal/', import.meta.url);
  const folders = ['audience/chat/', 'audience/feedback/', 'web/edge/', 'web/api/'];
  return folders
    .flatMap((folder) => readdirSync(new URL(folder, root)).filter((name) => name.endsWith('.go') && !name.endsWith('_test.go')).map((name) => new URL(folder + name, root)))
    .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/"([^"\n]*)"/g)].map(([, text]) => (text as string).replaceAll('%d', '7')))
    .join('\n');
}

it('a refusal that has words of its own is one that the station still makes', () => {
  const all = texts();
  for (const [name, pattern] of Object.entries(known)) expect(pattern.test(all), name).toBe(true);
});
