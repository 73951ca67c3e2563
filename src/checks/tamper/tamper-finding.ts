// What the tamper screen looks at and what it can find.

export interface ChangedFile {
  readonly path: string;
  /** Absent: the file was not there. */
  readonly before?: string;
  readonly after?: string;
  /** Too large or no text: nothing can be said about what it holds. */
  readonly isOpaque?: true;
}

export type FindingKind =
  | 'test-deleted'
  | 'test-skipped'
  | 'fewer-assertions'
  | 'fewer-tests'
  | 'check-neutered'
  | 'nothing-changed'
  | 'configuration-changed';

/** `refuse`: not done unless somebody accepts it. `report`: told, nothing more. */
export type Severity = 'refuse' | 'report';

export interface Finding {
  readonly kind: FindingKind;
  /** Empty when it is about the work as a whole. */
  readonly path: string;
  readonly detail: string;
  readonly severity: Severity;
}
