// What a format offers beyond `mark` when its documents are large: marks that cost the change, not another walk of the text.
import type { Format, TaskMark } from './document.ts';

/** An index belongs to exactly one text; marking gives the new text with its own index. */
export interface IndexedFormat<Index = unknown> extends Format {
  /** `text` must parse. */
  index(text: string): Index;
  markWithIndex(
    text: string,
    index: Index,
    marks: readonly TaskMark[],
  ): { readonly text: string; readonly index: Index };
}
