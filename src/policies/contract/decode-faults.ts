import { YamlProblem } from './yaml-nodes.ts';

/** Faults that one reason tells in words; the others are counted. */
const MAX_TOLD = 5;

interface Fault {
  readonly said: string;
  readonly line: number | undefined;
  /** Undefined for the contract itself. */
  readonly path: string | undefined;
}

/** What is wrong with the fields of one contract: told together, so that one correction is enough. */
export class Faults {
  readonly #told: Fault[] = [];
  #count = 0;

  /** @param tell is not asked for a fault that is only counted: there may be a hundred thousand */
  add(tell: () => Fault): void {
    this.#count += 1;
    if (this.#told.length < MAX_TOLD) this.#told.push(tell());
  }

  /** @throws YamlProblem with the place of the first, and with the others in its reason */
  throwAny(): void {
    const [first, ...others] = this.#told;
    if (first === undefined) return;
    const left = this.#count - this.#told.length;
    const more = left > 0 ? [`and ${String(left)} more`] : [];
    throw new YamlProblem([first.said, ...others.map(placed), ...more].join('; '), first);
  }
}

function placed({ said, line, path }: Fault): string {
  const at = line === undefined ? '' : `line ${String(line)}: `;
  return `${at}${path === undefined ? '' : `${path}: `}${said}`;
}
