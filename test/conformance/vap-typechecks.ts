/** Compares our warnings to the recorded type checking of policies. */
import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';

import type { Cel } from '../../src/policies/cel/cel.ts';
import { withCustomResources } from '../../src/policies/vap/custom-types.ts';
import type { OpenApiTypes } from '../../src/policies/vap/openapi-schema.ts';
import { KindTypes } from '../../src/policies/vap/openapi-types.ts';
import { readPolicy } from '../../src/policies/vap/read.ts';
import { typeCheck, type ExpressionWarning } from '../../src/policies/vap/typecheck.ts';
import { CUSTOM_RESOURCES } from './vap-custom.ts';
import type { CaseRunner, RecordedCase } from './vap-family.ts';
import { difference } from './vap-writes.ts';

/** Minor of the API server that answered. */
const RECORDED_MINOR = 36;

interface TypeCheckCase extends RecordedCase {
  readonly object: unknown;
  readonly answer: {
    readonly checked: boolean;
    readonly typeChecking: { readonly expressionWarnings?: readonly ExpressionWarning[] };
  };
}

export class TypeCheckRunner implements CaseRunner {
  #kinds: KindTypes | undefined;

  handles(one: RecordedCase): boolean {
    return (one as Partial<TypeCheckCase>).answer?.checked !== undefined;
  }

  reasonToLeave(): undefined {
    return undefined;
  }

  differences(one: RecordedCase, cel: Cel): readonly string[] {
    const { object, answer } = one as TypeCheckCase;
    this.#kinds ??= recordedKinds();
    const read = readPolicy(object);
    if (!read.ok) return [read.fault];
    const warnings = typeCheck(read.value, { cel, minor: RECORDED_MINOR, kinds: this.#kinds });
    return difference('warnings', answer.typeChecking.expressionWarnings ?? [], warnings);
  }
}

function recordedKinds(): KindTypes {
  const file = new URL('../../src/cli/openapi-1.36.json.br', import.meta.url);
  const types = JSON.parse(brotliDecompressSync(readFileSync(file)).toString()) as OpenApiTypes;
  return new KindTypes(withCustomResources(types, CUSTOM_RESOURCES));
}
