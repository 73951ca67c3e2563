// Prompt input of the prompt mode: the scratchpad that agents keep.

import { readTextInside } from '../../documents/text-file.ts';
import type { ModeSession } from '../mode.ts';

export const promptSession: ModeSession = {
  async promptInputs({ directory }, { task }, workspace) {
    return { scratchpad: await readTextInside(workspace?.directory(task) ?? directory, '.agent', 'scratchpad.md') };
  },
};
