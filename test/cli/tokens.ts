/** 2026-01-01T00:00:00Z, where the fake clock stands. */
export const INSTANT_SECONDS = Date.UTC(2026, 0, 1) / 1000;

/** Claims as an API server of 1.30 or later writes them. */
export function tokenClaims(of: {
  readonly pod?: string;
  readonly node?: string;
  readonly secret?: string;
  readonly life?: number;
}): Record<string, unknown> & { 'kubernetes.io': Record<string, unknown> } {
  const named = (name: string): object => ({ name, uid: `uid-of-${name}` });
  return {
    aud: ['https://kubernetes.default.svc'],
    iss: 'https://kubernetes.default.svc',
    sub: 'system:serviceaccount:agents:agent',
    iat: INSTANT_SECONDS,
    nbf: INSTANT_SECONDS,
    exp: INSTANT_SECONDS + (of.life ?? 3607),
    jti: 'a1b2',
    'kubernetes.io': {
      namespace: 'agents',
      serviceaccount: named('agent'),
      ...(of.pod === undefined ? {} : { pod: named(of.pod) }),
      ...(of.node === undefined ? {} : { node: named(of.node) }),
      ...(of.secret === undefined ? {} : { secret: named(of.secret) }),
    },
  };
}

/** A token with these claims and a signature that nobody can check. */
export function fakeToken(claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256' })}.${part(claims)}.${Buffer.from('no signature').toString('base64url')}`;
}
