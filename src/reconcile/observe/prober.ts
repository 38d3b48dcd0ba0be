/**
 * Questions to a port of a watched Service. The address is made of the Service's name, its namespace and its port, never of
 * anything that a contract says; the contract gives the path alone (operator.md §0.3, INV-6).
 */
import type { WireProtocol } from '../../policies/observation.ts';

export interface ProbeTarget {
  readonly service: string;
  readonly namespace: string;
  /** Of the Service. */
  readonly port: number;
}

/** What is read of an answer's body, in bytes (operator.md §5.5). */
export const ANSWER_BYTES = 4_096;

export type HttpAnswer =
  | {
      readonly answered: true;
      readonly status: number;
      readonly contentType: string;
      /** At most ANSWER_BYTES of it. */
      readonly body: Uint8Array;
    }
  /** Refused, too slow, no such name, or no HTTP. */
  | { readonly answered: false; readonly reason: string };

export interface Prober {
  /** `GET` over plain HTTP, redirects not followed. @param path starts with a slash. Rejects with the signal's reason only. */
  get(target: ProbeTarget, path: string, signal: AbortSignal): Promise<HttpAnswer>;
  /** What the port speaks, for certain; empty where that is not known (TLS, silence, bytes of no known protocol). */
  protocols(target: ProbeTarget, signal: AbortSignal): Promise<readonly WireProtocol[]>;
}
