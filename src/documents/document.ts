// Task documents: the port to the file that the tasks come from, the pure formats behind it, and the status that they write.
import type { TaskMark, TaskSpec } from '../core/task.ts';
import type { Edit } from './edits.ts';

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
  /** The document's own name for itself (plan_id). */
  readonly id?: string;
  /** Settings that it brings; flags, variables and config files go before them. */
  readonly defaults?: DocumentDefaults;
  /** Present when a person must approve it before it may run: what is approved, without the marks that we make ourselves. */
  readonly approval?: { readonly required: boolean; readonly substance: string };
}

export interface DocumentDefaults {
  readonly promise?: string;
  /** null: unlimited, as the document says. */
  readonly iterationsMax?: number | null;
}

export interface Refusal {
  readonly ok: false;
  readonly problems: readonly Problem[];
}

export type Parsed = { readonly ok: true; readonly document: ParsedDocument } | Refusal;

export interface FormatOptions {
  /** `--no-criteria`: stories without acceptance criteria are allowed. */
  readonly allowEmptyCriteria?: boolean;
  /** Boxes that were ticked before there was a record count as done (B48). */
  readonly acceptTicked?: boolean;
  /** Rounds of an interview. */
  readonly rounds?: number;
}

/** Nothing that is there is judged, only read. */
export const lenient: FormatOptions = { allowEmptyCriteria: true, acceptTicked: true };

/** Pure. `mark` changes only the bytes that must change: parse(mark(text, m)) = apply(parse(text), m); twice = once. */
export interface Format {
  readonly name: string;
  /** A document of such a name is read as this whatever it holds: then its faults are those of this format. */
  readonly fileNames?: RegExp;
  recognises(fileName: string, text: string): boolean;
  parse(text: string, options?: FormatOptions): Parsed;
  /** `text` must parse; marks for unknown ids are ignored. */
  mark(text: string, marks: readonly TaskMark[]): string;
}

export type Loaded =
  /** Same inode, size, mtime and ctime as at the last load or save: nothing was read. */
  | { readonly type: 'unchanged' }
  | {
      readonly type: 'loaded';
      readonly document: ParsedDocument;
      readonly hash: string;
      /** What an iteration made of it may not stand: the next `save` puts the last good version back. */
      readonly isDamaged?: true;
    }
  | { readonly type: 'failed'; readonly problems: readonly Problem[] };

export type Saved =
  | {
      readonly type: 'saved';
      readonly hash: string;
      /** The file was broken or gone and was put back. */
      readonly restored?: string;
    }
  | { readonly type: 'failed'; readonly problems: readonly Problem[] };

/** Contract: `load` never writes. `save` is atomic (old or new bytes, never a mix) and keeps every byte it need not change. */
export interface TaskSource {
  /** `isDuring`: an iteration or its checks may have written it. */
  load(isDuring?: boolean): Promise<Loaded>;
  save(marks: readonly TaskMark[]): Promise<Saved>;
  /** Of its bytes as they are; undefined where they cannot be read. */
  hashNow?(): Promise<string | undefined>;
  /** The user's instructions beside the document (PROMPT.md), re-read when changed. */
  instructions(): Promise<string>;
  /** An iteration has ended: signal files that it left (done.md) are removed. */
  tidy?(): Promise<void>;
}

/** What a format remembers about exactly one text. */
export interface TextIndex {
  /** What the text says, where it was read. */
  readonly document?: ParsedDocument;
}

export interface Indexed<Index> {
  readonly text: string;
  readonly index: Index;
}

export type IndexedRead<Index> =
  | { readonly ok: true; readonly document: ParsedDocument; readonly index: Index }
  | Refusal;

/** For large documents: marks and further readings that cost the change, not another walk of the text. */
export interface IndexedFormat<Index extends TextIndex = TextIndex> extends Format {
  /** As `parse`; what is as it was `before` is not read again, and its tasks are the same objects. */
  read(text: string, options?: FormatOptions, before?: Indexed<Index>): IndexedRead<Index>;
  /** Gives the new text with its own index. Without an index one is made; `text` must parse. */
  markWithIndex(
    text: string,
    index: Index | undefined,
    marks: readonly TaskMark[],
    options?: FormatOptions,
  ): Indexed<Index>;
}

// The status of a task as documents write it, and what a mark makes of it.

export type WrittenStatus = 'open' | 'done' | 'skipped' | 'blocked';

type StatusFields = Pick<TaskSpec, 'done' | 'skipped' | 'blocked'>;

export const statusOf = ({ done, skipped, blocked }: StatusFields): WrittenStatus =>
  done ? 'done' : skipped ? 'skipped' : blocked ? 'blocked' : 'open';

export const statusFields = (status: WrittenStatus): StatusFields => ({
  done: status === 'done',
  skipped: status === 'skipped',
  blocked: status === 'blocked' || undefined,
});

/** A mark that says no more than "not done" leaves alone what already says so: a task in progress, or a blocked one. */
export function markedStatus({ done, skipped, status }: TaskMark, now: WrittenStatus): WrittenStatus {
  return statusOf({ done, skipped, blocked: status === 'blocked' || (status === undefined && now === 'blocked') });
}

/** The edits of the tasks that are marked; the last mark of an id counts. */
export function markEdits<Item extends { readonly id: string }>(
  items: readonly Item[],
  marks: readonly TaskMark[],
  editsOf: (item: Item, mark: TaskMark) => readonly Edit[],
): readonly Edit[] {
  const byId = new Map(marks.map(mark => [mark.id, mark]));
  return items.flatMap(item => {
    const mark = byId.get(item.id);
    return mark === undefined ? [] : editsOf(item, mark);
  });
}
