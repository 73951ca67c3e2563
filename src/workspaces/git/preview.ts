// What the files are now, as a commit that nothing points to: for questions that must leave no trace.
import type { Refusal, Saved } from '../../ports/workspace.ts';
import { type SavePlace, save } from './save.ts';

/** Git keeps such objects for two weeks, far longer than the question takes. */
export const preview = (place: SavePlace): Promise<Saved | Refusal> =>
  save({ ...place, isPreview: true }, { number: 0, iteration: 0, label: 'a preview', anchor: 'none' });
