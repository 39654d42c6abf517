import { describe, expect, it } from 'vitest';
import { linkOf } from './link';

const at = (studio: string, more: { goLive?: string; secure?: boolean } = {}) => linkOf({ goLive: '', whip: 8089, secure: false, ...more }, new URL(studio), 'p1', 's.e');

describe('the link of a presenter', () => {
  it('leads where the settings say', () => {
    expect(at('http://127.0.0.1:5000', { goLive: 'https://live.example/go-live' })).toEqual({ link: 'https://live.example/go-live#k=p1.s.e', hitch: '' });
    expect(at('https://radio.example', { goLive: 'http://live.example/go-live' }).hitch).toBe('insecure');
    expect(at('https://radio.example', { goLive: 'http://localhost:8089/go-live' }).hitch).toBe('here');
  });

  it('speaks http to a port without certificates, and says that phones cannot use it', () => {
    expect(at('http://127.0.0.1:5000/studio')).toEqual({ link: 'http://127.0.0.1:8089/go-live#k=p1.s.e', hitch: 'here' });
    expect(at('http://localhost:5000')).toEqual({ link: 'http://localhost:8089/go-live#k=p1.s.e', hitch: 'here' });
    expect(at('http://[::1]:5000')).toEqual({ link: 'http://[::1]:8089/go-live#k=p1.s.e', hitch: 'here' });
    expect(at('http://192.168.1.5:5000')).toEqual({ link: 'http://192.168.1.5:8089/go-live#k=p1.s.e', hitch: 'insecure' });
  });

  it('speaks https to a port with certificates', () => {
    expect(at('http://radio.example:5000', { secure: true })).toEqual({ link: 'https://radio.example:8089/go-live#k=p1.s.e', hitch: '' });
    expect(at('http://127.0.0.1:5000', { secure: true })).toEqual({ link: 'https://127.0.0.1:8089/go-live#k=p1.s.e', hitch: 'here' });
  });

  it('supposes that the proxy of a studio with https has that port too', () => {
    expect(at('https://radio.example')).toEqual({ link: 'https://radio.example:8089/go-live#k=p1.s.e', hitch: 'guess' });
  });
});
