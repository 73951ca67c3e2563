// Keeps each prompt in the folder of work, where a mode's users look for it; a copy that fails is only told.
import { join } from 'node:path';
import type { Engine } from '../../engine/engine.ts';
import { putView } from '../../engine/put-view.ts';

export function archiveOf(
  folder: string | undefined,
  directory: string,
  warn: (sentence: string) => void,
): Pick<Engine, 'archive'> {
  if (folder === undefined) return {};
  return {
    archive: async (iteration, prompt) => {
      const file = { path: join(directory, folder, `prompt_${iteration}.md`), text: prompt };
      const problem = await putView([directory], file);
      if (problem !== undefined) warn(`The prompt was not archived: ${problem}.`);
    },
  };
}
