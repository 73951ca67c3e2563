// What the files are now, as a commit that nothing points to: for questions that must leave no trace.
import type { Refusal, Saved } from '../../ports/workspace.ts';
import { git } from './call.ts';
import { noteRefOf, refOf } from './refs.ts';
import { type SavePlace, save } from './save.ts';

/** Under a name of its own while it is made. Git keeps such objects for two weeks, far longer than the question takes. */
export async function preview(place: SavePlace): Promise<Saved | Refusal> {
  const loop = `${place.loop}-preview`;
  const saved = await save({ ...place, loop }, { number: 0, iteration: 0, label: 'a preview', anchor: 'none' });
  for (const ref of [refOf(loop, 0), noteRefOf(loop)]) await git(place.own.repository, ['update-ref', '-d', ref]);
  return saved;
}
