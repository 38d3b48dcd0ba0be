/** User names, passwords and tokens as they are written down, made into credentials. No message holds any of them. */
import { GateError } from '../../errors.ts';
import type { Credential } from '../credential.ts';

export interface Login {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** Base64 of `user:password`. */
  readonly auth?: string | undefined;
  /** A refresh token. */
  readonly identityToken?: string | undefined;
  /** Sent to the registry as it is. */
  readonly registryToken?: string | undefined;
}

/**
 * @param place where it is written, for messages: `the docker config`.
 * @returns undefined where nothing of it is filled in.
 * @throws GateError GATE_REGISTRY_AUTHENTICATION where a part is filled in and cannot be used.
 */
export function credentialOf(login: Login, place: string): Credential | undefined {
  const { username, password, auth, identityToken, registryToken } = login;
  if (isFilled(registryToken)) return { kind: 'bearer', token: checkedToken(registryToken, place) };
  if (isFilled(identityToken)) return { kind: 'identity', token: identityToken };
  if (isFilled(username) && isFilled(password)) return checkedBasic(username, password, place);
  if (!isFilled(auth)) return undefined;
  // Passwords may hold colons, user names may not. Old Docker versions padded with NULs.
  const text = Buffer.from(auth, 'base64').toString('utf8').replace(/\0+$/, '');
  const colon = text.indexOf(':');
  if (colon <= 0)
    throw unusable(place, 'its "auth" is not the Base64 of a user name, a colon and a password');
  return checkedBasic(text.slice(0, colon), text.slice(colon + 1), place);
}

function isFilled(text: string | undefined): text is string {
  return text !== undefined && text !== '';
}

/** RFC 7617 §2: control characters have no place in it, nor a colon in the name. */
function checkedBasic(username: string, password: string, place: string): Credential {
  if (username.includes(':')) throw unusable(place, 'its user name has a colon');
  if (/\p{Cc}/u.test(username) || /\p{Cc}/u.test(password))
    throw unusable(
      place,
      'its user name or password has a control character, such as a line break at the end',
    );
  return { kind: 'basic', username, password };
}

/** What the header `Authorization` can carry. */
function checkedToken(token: string, place: string): string {
  if (!/^[\u0021-\u007e]+$/.test(token))
    throw unusable(
      place,
      'its token has a character that no header can carry, such as a line break at the end',
    );
  return token;
}

function unusable(place: string, why: string): GateError {
  return new GateError(
    'GATE_REGISTRY_AUTHENTICATION',
    `the credentials of ${place} cannot be used: ${why}; write them anew`,
  );
}

/** One own text field of a foreign object. */
export function textField(value: unknown, name: string): string | undefined {
  const found = ownField(value, name);
  return typeof found === 'string' ? found : undefined;
}

export function ownField(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
