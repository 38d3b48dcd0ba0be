/** A YAML document as yaml.v3 holds it: what both views of a contract are decoded from (contract.md §17). */

export type YamlNode = YamlScalar | YamlMapping | YamlSequence | YamlAlias;

interface Placed {
  /** From 1, for messages. */
  readonly line: number;
}

export interface YamlScalar extends Placed {
  readonly kind: 'scalar';
  /** Written out (`!!int`, `!local`) or as the plain text resolves; quoted texts have `!!str`. */
  readonly tag: string;
  readonly text: string;
  /** Written out and without quotes: read again under this tag, which may fail. */
  readonly tagged: boolean;
}

export interface YamlMapping extends Placed {
  readonly kind: 'mapping';
  readonly entries: readonly (readonly [key: YamlNode, value: YamlNode])[];
}

export interface YamlSequence extends Placed {
  readonly kind: 'sequence';
  readonly items: readonly YamlNode[];
}

export interface YamlAlias extends Placed {
  readonly kind: 'alias';
  readonly anchor: string;
  readonly target: YamlNode;
}

/** Where in a contract something is wrong, as far as it is known. */
export interface YamlPlace {
  /** From 1. */
  readonly line?: number | undefined;
  /** `interfaces[0].ref`; absent for the whole. */
  readonly path?: string | undefined;
}

/** Why a text is not the YAML of a contract; never leaves this room. Its message says the line, what was `said` does not. */
export class YamlProblem extends Error {
  override readonly name = 'YamlProblem';
  readonly said: string;
  readonly line: number | undefined;
  readonly path: string | undefined;

  constructor(said: string, { line, path }: YamlPlace = {}) {
    super(line === undefined ? said : `line ${String(line)}: ${said}`);
    this.said = said;
    this.line = line;
    this.path = path;
  }
}
