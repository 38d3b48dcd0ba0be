/** What an admission request changes, as the gate sees it (delivery.md §2.3, §2.4). */

/** The one value of a pointer that names a release. */
export interface Pin {
  /** `sha256:…`, a commit, a chart version, or what else stands there; empty where nothing does. */
  readonly value: string;
  /** Whether it names one release for ever. */
  readonly isPinned: boolean;
}

export interface ObjectRef {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * What can be told from the review alone, before any read. `Same`: nothing that a controller acts on differs (rows 10, 22, 23,
 * 33). `Suspend`: nothing but `spec.suspend` false → true (row 8). `Delete`: rows 19 and 30. `Other`: the Stage must be seen.
 */
export type PlainClass = 'Same' | 'Suspend' | 'Delete' | 'Other';

export interface PlainChange {
  readonly class: PlainClass;
  readonly object: ObjectRef;
  /** Stage that the object names now, and before; undefined where it names none. */
  readonly stage: StageName | undefined;
  readonly oldStage: StageName | undefined;
}

export interface StageName {
  readonly namespace: string;
  readonly name: string;
}

/** What a change does to the pointer of a Stage, row by row of delivery.md §2.3. */
export interface PointerChange {
  readonly from: Pin | undefined;
  /** Undefined for a DELETE. */
  readonly to: Pin | undefined;
  readonly isCreate: boolean;
  /** Whether the pin itself has another value (rows 1 to 4, 7, 14, 16, 18). */
  readonly moves: boolean;
  /** Row 9: `suspend` true → false. */
  readonly resumes: boolean;
  /** Row 6: fields that say what the pin is looked up in, or that drop verification; as paths. */
  readonly identity: readonly string[];
  /** Row 11: fields that make another release of the same source (`spec.path`, `spec.sourceRef`). */
  readonly release: readonly string[];
  /** Rows 12 and 15: configuration beside the pin. */
  readonly config: readonly string[];
  /** Row 13: health checks or dependencies of a gate taken away. */
  readonly weakened: readonly string[];
  /** Row 13: `spec.force` or its annotation turned on. */
  readonly forceOn: boolean;
  /** Row 17: the label or annotation that names the Stage is gone, or names another. */
  readonly leaves: boolean;
  /** Row 13's rest, and whatever else is of no weight. */
  readonly rest: readonly string[];
}
