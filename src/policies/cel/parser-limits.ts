/** Limits that cel-go's parser has (parser/options.go). */

/** Code points. */
export const MAX_SOURCE_LENGTH = 100_000;

/** Of nested rules of one kind, and of nested operators, selections and calls in a tree. */
export const MAX_DEPTH = 250;
