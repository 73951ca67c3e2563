// Rules for secrets and what they find: rows of tables, tried where one of their literals stands.

export interface Found {
  readonly start: number;
  readonly end: number;
}

/**
 * A row is found by one of its `literals` (same case unless `anyCase`), then `pattern` must match from the literal on.
 * Patterns are sticky, bounded, and ask for nothing after an open-ended run, so a failed match costs a constant.
 */
export interface RedactRule {
  readonly name: string;
  readonly pattern: RegExp;
  readonly literals: readonly string[];
  readonly anyCase?: boolean;
  /** The capture group that is the secret; the whole match when absent. */
  readonly group?: number;
  /** Whether a letter or digit may stand directly before. */
  readonly inWord?: boolean;
  /** How many letters, digits and `_-` directly before the literal belong to the secret, at most. */
  readonly charsBeforeMax?: number;
  /** What these are, when not letters, digits and `_-`. */
  readonly before?: RegExp;
  readonly accepts?: (secret: string) => boolean;
}
