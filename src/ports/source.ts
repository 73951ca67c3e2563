// The port to the document that the tasks come from, and the pure format behind it.
import type { TaskSpec } from '../core/task.ts';

/** One thing wrong with a document: what, where, and how to mend it. */
export interface Problem {
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
  readonly fix?: string;
}

export interface ParsedDocument {
  readonly project: string;
  readonly goal: string;
  readonly tasks: readonly TaskSpec[];
  /** Worth saying, not worth refusing. */
  readonly notices: readonly string[];
}

export type Parsed =
  | { readonly ok: true; readonly document: ParsedDocument }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export interface TaskMark {
  readonly id: string;
  readonly done: boolean;
  readonly skipped: boolean;
}

export interface FormatOptions {
  /** `--no-criteria`: stories without acceptance criteria are allowed. */
  readonly allowEmptyCriteria?: boolean;
}

/** Pure. `mark` changes only the bytes that must change: parse(mark(text, m)) = apply(parse(text), m); twice = once. */
export interface Format {
  readonly name: string;
  recognises(fileName: string, text: string): boolean;
  parse(text: string, options?: FormatOptions): Parsed;
  /** `text` must parse; marks for unknown ids are ignored. */
  mark(text: string, marks: readonly TaskMark[]): string;
}

export type Loaded =
  /** Same inode, size, mtime and ctime as at the last load or save: nothing was read. */
  | { readonly type: 'unchanged' }
  | { readonly type: 'loaded'; readonly document: ParsedDocument; readonly hash: string }
  | { readonly type: 'failed'; readonly problems: readonly Problem[] };

export type Saved =
  | {
      readonly type: 'saved';
      readonly hash: string /** The file was broken or gone and was put back. */;
      readonly restored?: string;
    }
  | { readonly type: 'failed'; readonly problems: readonly Problem[] };

/** Contract: `load` never writes. `save` is atomic (old or new bytes, never a mix) and keeps every byte it need not change. */
export interface TaskSource {
  load(): Promise<Loaded>;
  save(marks: readonly TaskMark[]): Promise<Saved>;
  /** The user's instructions beside the document (PROMPT.md), re-read when changed. */
  instructions(): Promise<string>;
}
