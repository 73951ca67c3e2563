// Replaces pieces of a text and leaves every other byte where it is.

export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The edits must not overlap; their order does not matter. */
export function withEdits(text: string, edits: readonly Edit[]): string {
  if (edits.length === 0) return text;
  const pieces: string[] = [];
  let at = 0;
  for (const edit of [...edits].sort((one, other) => one.start - other.start)) {
    pieces.push(text.slice(at, edit.start), edit.text);
    at = edit.end;
  }
  pieces.push(text.slice(at));
  return pieces.join('');
}
