/** What the gate says to people: one line, the same for all objects of an application (delivery.md §2.7). */
import type { Denied } from '../verdict.ts';
import type { ReasonCode } from './decision.ts';

/** delivery.md §2.7: below 900 characters. */
const MOST = 880;

export interface Refusal {
  readonly code: ReasonCode;
  /** `payments/payments-prod`. */
  readonly stage: string;
  /** What is refused and why, without a full stop. */
  readonly message: string;
  /** What to do about it, without a full stop. */
  readonly next: string;
}

/**
 * A refusal as Kubernetes clients and Flux show it: code 403 and reason Forbidden, without causes, because Flux deletes and
 * creates anew on others (F7 of delivery.md §2.2, flux-facts.md FF-28).
 */
export function refuse(refusal: Refusal, auditAnnotations: Readonly<Record<string, string>>): Denied {
  return {
    allowed: false,
    code: 403,
    reason: 'Forbidden',
    message: textOf(refusal),
    causes: [],
    codes: [refusal.code],
    warnings: [],
    auditAnnotations,
  };
}

/** Begins with the marker that tells it from missing rights (flux-facts.md FF-27). */
export function textOf({ code, stage, message, next }: Refusal): string {
  return oneLine(`[${code}] ${stage}: ${message}. Next: ${next}.`, MOST);
}

/**
 * Texts of others, made harmless: one line, and without the word on which Flux deletes and creates anew (flux-facts.md
 * FF-28: it matches across line breaks too, in lower case; here in every case).
 *
 * @param most characters
 */
export function oneLine(text: string, most: number): string {
  const clean = text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll(/immutable/giu, 'unchangeable')
    .replaceAll(/ {2,}/g, ' ')
    .trim();
  const characters = Array.from(clean);
  return characters.length <= most ? clean : `${characters.slice(0, most - 1).join('')}…`;
}

/** `sha256:` and twelve digits; any other value is cut. */
export function shortDigest(digest: string): string {
  const [, hex] = /^sha256:([0-9a-f]{12})[0-9a-f]+$/.exec(digest) ?? [];
  if (hex !== undefined) return `sha256:${hex}…`;
  return digest === '' ? 'nothing' : oneLine(digest, 80);
}
