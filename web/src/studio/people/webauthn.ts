/** Passkeys (WebAuthn) as JSON, by hand: not every browser that knows passkeys can read and write them so. */

export function toBase64url(bytes: ArrayBuffer | Uint8Array): string {
  const view = bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes);
  return btoa(Array.from(view, (byte) => String.fromCharCode(byte)).join('')).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}

export function fromBase64url(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
}

interface Named {
  id: string;
  type: PublicKeyCredentialType;
  transports?: AuthenticatorTransport[];
}

export interface RequestJSON extends Omit<PublicKeyCredentialRequestOptions, 'challenge' | 'allowCredentials' | 'extensions'> {
  challenge: string;
  allowCredentials?: Named[];
}

export interface CreationJSON extends Omit<PublicKeyCredentialCreationOptions, 'challenge' | 'user' | 'excludeCredentials' | 'extensions'> {
  challenge: string;
  user: { id: string; name: string; displayName: string };
  excludeCredentials?: Named[];
}

const named = (list: readonly Named[] = []) => list.map((one) => ({ ...one, id: fromBase64url(one.id) }));

export function requestOptions(json: RequestJSON): PublicKeyCredentialRequestOptions {
  return { ...json, challenge: fromBase64url(json.challenge), allowCredentials: named(json.allowCredentials) };
}

export function creationOptions(json: CreationJSON): PublicKeyCredentialCreationOptions {
  const { challenge, user, excludeCredentials } = json;
  return { ...json, challenge: fromBase64url(challenge), user: { ...user, id: fromBase64url(user.id) }, excludeCredentials: named(excludeCredentials) };
}

/** What an authenticator answered, as the station reads it (RegistrationResponseJSON, AuthenticationResponseJSON). */
export function answerOf(credential: PublicKeyCredential): Record<string, unknown> {
  const { response } = credential;
  const text = (bytes: ArrayBuffer | null | undefined) => (bytes ? toBase64url(bytes) : undefined);
  const said: Record<string, unknown> = { clientDataJSON: toBase64url(response.clientDataJSON) };
  if ('attestationObject' in response) {
    const made = response as AuthenticatorAttestationResponse;
    Object.assign(said, { attestationObject: toBase64url(made.attestationObject), transports: made.getTransports?.() ?? [] });
  } else {
    const given = response as AuthenticatorAssertionResponse;
    Object.assign(said, { authenticatorData: toBase64url(given.authenticatorData), signature: toBase64url(given.signature), userHandle: text(given.userHandle) });
  }
  return {
    id: credential.id, rawId: toBase64url(credential.rawId), type: credential.type, response: said,
    authenticatorAttachment: credential.authenticatorAttachment ?? undefined, clientExtensionResults: credential.getClientExtensionResults(),
  };
}

export const knowsPasskeys = (): boolean => typeof PublicKeyCredential !== 'undefined' && Boolean(navigator.credentials);
