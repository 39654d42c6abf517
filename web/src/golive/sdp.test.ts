import { describe, expect, it } from 'vitest';
import { fragmentOf, relaysBy, restarted, serversIn, serversOf, withNack, withOpus } from './sdp';

const sdp = [
  'v=0',
  'o=- 1 2 IN IP4 127.0.0.1',
  's=-',
  't=0 0',
  'm=audio 9 UDP/TLS/RTP/SAVPF 111 63 0',
  'c=IN IP4 0.0.0.0',
  'a=candidate:1 1 udp 2122260223 192.0.2.1 61764 typ host',
  'a=ice-ufrag:EsAw',
  'a=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1',
  'a=mid:0',
  'a=rtpmap:111 opus/48000/2',
  'a=rtcp-fb:111 transport-cc',
  'a=fmtp:111 minptime=10;useinbandfec=1',
  'a=rtpmap:63 red/48000/2',
  'a=fmtp:63 111/111',
  'a=rtpmap:0 PCMU/8000',
  '',
].join('\r\n');
const linesOf = (text: string): string[] => text.split('\r\n');

describe('the offer', () => {
  it('asks for retransmission of Opus once, and of nothing else', () => {
    const changed = withNack(withNack(sdp));
    expect(linesOf(changed).filter((line) => line === 'a=rtcp-fb:111 nack')).toHaveLength(1);
    expect(linesOf(changed).filter((line) => !linesOf(sdp).includes(line))).toEqual(['a=rtcp-fb:111 nack']);
    const other = sdp.replaceAll('111', '96');
    expect(withNack(other)).toContain('a=rtcp-fb:96 nack\r\n');
  });

  it('sends voice in mono with redundancy under 48 kbit/s, music in stereo at 128', () => {
    const format = (text: string): string => linesOf(text).find((line) => line.startsWith('a=fmtp:111')) ?? '';
    expect(format(withOpus(sdp, 'voice'))).toBe('a=fmtp:111 minptime=10;useinbandfec=1;stereo=0;sprop-stereo=0;maxaveragebitrate=40000');
    expect(format(withOpus(sdp, 'music'))).toBe('a=fmtp:111 minptime=10;useinbandfec=0;stereo=1;sprop-stereo=1;maxaveragebitrate=128000');
    expect(withOpus(sdp, 'music')).toContain('a=fmtp:63 111/111\r\n');
    const bare = sdp.replace(/a=fmtp:111.*\r\n/, '');
    expect(format(withOpus(bare, 'voice'))).toContain('maxaveragebitrate=40000');
  });

  it('leaves a description without Opus alone', () => {
    const none = sdp.replace('opus', 'isac');
    expect(withNack(withOpus(none, 'voice'))).toBe(none);
  });
});

describe('fragments', () => {
  it('hold the credentials, the place and the candidates', () => {
    expect(linesOf(fragmentOf(sdp))).toEqual([
      'a=ice-ufrag:EsAw',
      'a=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1',
      'm=audio 9 UDP/TLS/RTP/SAVPF 111 63 0',
      'a=mid:0',
      'a=candidate:1 1 udp 2122260223 192.0.2.1 61764 typ host',
      'a=end-of-candidates',
      '',
    ]);
    expect(fragmentOf(sdp, ['candidate:9 1 udp 1 192.0.2.9 9 typ relay'], false)).not.toContain('end-of-candidates');
  });

  it('of a restart replace credentials and candidates, and only them', () => {
    const answer = restarted(sdp, 'a=ice-lite\r\na=ice-ufrag:new1\r\na=ice-pwd:secretsecretsecretsecret\r\na=candidate:7 1 udp 3 192.0.2.7 7 typ host\r\na=candidate:8 1 tcp 2 192.0.2.7 7 typ host tcptype passive\r\n') as string;
    const expected = linesOf(sdp).filter((line) => !/^a=(ice-|candidate)/.test(line));
    expect(linesOf(answer).filter((line) => !/^a=(ice-|candidate)/.test(line))).toEqual(expected);
    expect(linesOf(answer).filter((line) => /^a=(ice-|candidate)/.test(line))).toEqual([
      'a=ice-ufrag:new1',
      'a=ice-pwd:secretsecretsecretsecret',
      'a=candidate:7 1 udp 3 192.0.2.7 7 typ host',
      'a=candidate:8 1 tcp 2 192.0.2.7 7 typ host tcptype passive',
    ]);
    expect(restarted(sdp, 'a=ice-ufrag:x\r\na=ice-pwd:y\r\n')).toContain('a=candidate:1 1 udp');
    expect(restarted(sdp, '')).toBeNull();
  });
});

describe('ICE servers', () => {
  it('are read from Link headers, credentials with commas and quotes included', () => {
    const link =
      '<stun:s.example:3478>; rel="ice-server", </feed>; rel="alternate", <turn:t.example:3478?transport=udp>; rel="ice-server"; username="1735689600:phone"; credential="a,b;\\"c=="; credential-type="password", <turns:t.example:5349?transport=tcp>;rel=ice-server;username=u;credential=p';
    expect(serversOf(link)).toEqual([
      { urls: 'stun:s.example:3478' },
      { urls: 'turn:t.example:3478?transport=udp', username: '1735689600:phone', credential: 'a,b;"c==' },
      { urls: 'turns:t.example:5349?transport=tcp', username: 'u', credential: 'p' },
    ]);
    for (const nothing of ['', '<javascript:1>; rel="ice-server"', '<stun:s.example>; rel="next"']) expect(serversOf(nothing)).toEqual([]);
  });

  it('are read from /whip-info, whose lists may be anything', () => {
    expect(serversIn({ stun: ['stun:s:1'], turn: [{ urls: ['turn:t:1'], username: 'u', credential: 'c' }, 'turn:bare:1'], live: false })).toEqual([
      { urls: 'stun:s:1' },
      { urls: ['turn:t:1'], username: 'u', credential: 'c' },
    ]);
    for (const nothing of [null, {}, { stun: 'x', turn: null }, { stun: [null, 7, {}] }]) expect(serversIn(nothing)).toEqual([]);
  });

  it('lead to a relay by one way where one is asked for', () => {
    const server = { urls: ['turn:t:1?transport=udp', 'turn:t:1?transport=tcp', 'turns:t:2?transport=tcp', 'turn:plain:1'], username: 'u', credential: 'c' };
    const servers = [{ urls: 'stun:s:1' }, server];
    const by = (way?: string) => relaysBy(servers, way).map(({ urls }) => urls);
    expect(by()).toEqual(['stun:s:1', server.urls]);
    expect(by('udp')).toEqual([['turn:t:1?transport=udp', 'turn:plain:1']]);
    expect(by('tcp')).toEqual([['turn:t:1?transport=tcp']]);
    expect(relaysBy(servers, 'tls')).toEqual([{ ...server, urls: ['turns:t:2?transport=tcp'] }]);
  });
});
