import { expect, it } from 'vitest';
import { agentOf } from './agent';

it('a browser is known among those that it claims to be', () => {
  const said = (text: string) => Object.values(agentOf(text)).join(' ').trim();
  expect([
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
    'Mozilla/5.0 (Android 15; Mobile; rv:133.0) Gecko/133.0 Firefox/133.0',
    'curl/8.5.0',
    '',
  ].map(said)).toEqual(['Chrome Linux', 'Edge Windows', 'Safari iPhone', 'Firefox Android', 'curl', '']);
});
