import { describe, expect, it } from 'vitest';
import { answerOf, creationOptions, fromBase64url, requestOptions, toBase64url } from './webauthn';

describe('base64url', () => {
  it('has neither padding nor what an address would change, and comes back', () => {
    const bytes = Uint8Array.from([251, 255, 191, 0, 1]);
    expect(toBase64url(bytes)).toBe('-_-_AAE');
    expect([...fromBase64url('-_-_AAE')]).toEqual([...bytes]);
    expect(toBase64url(bytes.buffer)).toBe('-_-_AAE');
    for (let n = 0; n < 6; n++) expect(fromBase64url(toBase64url(new Uint8Array(n))).length).toBe(n);
  });
});

describe('passkeys', () => {
  it('are asked for with bytes where the station wrote text', () => {
    const asked = requestOptions({ challenge: 'AAEC', rpId: 'radio.example', allowCredentials: [{ id: '_w', type: 'public-key' }] });
    expect([...(asked.challenge as Uint8Array)]).toEqual([0, 1, 2]);
    expect([...(asked.allowCredentials?.[0]?.id as Uint8Array)]).toEqual([255]);
    expect(asked.rpId).toBe('radio.example');
    const made = creationOptions({ challenge: 'AA', rp: { name: 'Nile' }, user: { id: 'AQ', name: 'sara', displayName: 'سارة' }, pubKeyCredParams: [{ type: 'public-key', alg: -7 }] });
    expect([...(made.user.id as Uint8Array), made.user.displayName, made.excludeCredentials?.length]).toEqual([1, 'سارة', 0]);
  });

  it('answer in text', () => {
    const buffer = (...bytes: number[]) => Uint8Array.from(bytes).buffer;
    const credential = {
      id: '_w', rawId: buffer(255), type: 'public-key', authenticatorAttachment: null, getClientExtensionResults: () => ({}),
      response: { clientDataJSON: buffer(1), authenticatorData: buffer(2), signature: buffer(3), userHandle: null },
    };
    expect(JSON.parse(JSON.stringify(answerOf(credential as unknown as PublicKeyCredential)))).toEqual({
      id: '_w', rawId: '_w', type: 'public-key', clientExtensionResults: {}, response: { clientDataJSON: 'AQ', authenticatorData: 'Ag', signature: 'Aw' },
    });
  });
});
