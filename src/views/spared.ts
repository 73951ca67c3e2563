// What a restore leaves alone: the document that Ralph keeps, and in a plan everything that is not an agent's work.
import type { State } from '../core/state.ts';
import { stepPath, vaultFolders } from '../text/step-path.ts';
import { allTasks } from '../core/task.ts';
import { keptDocuments } from '../core/work.ts';
import { vaultRootOf } from '../modes/plan/views/paths.ts';

/** Files, and folders with all that is in them. */
export function sparedIn({ settings, document, directory, tasks }: State): readonly string[] {
  const kept = keptDocuments(settings.mode, document);
  if (settings.mode !== 'plan') return kept;
  const root = vaultRootOf(document, directory);
  const made = [...allTasks(tasks)].flatMap(({ order, status }) =>
    order?.type === 'create_file' && status === 'done' ? [stepPath(order.path, root, directory)] : [],
  );
  return [...kept, ...vaultFolders.map(folder => `${root}/${folder}`), ...made];
}
